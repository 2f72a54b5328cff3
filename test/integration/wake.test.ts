// Wake-ups carry ids only, few enough of them for one notification, and reach every process.
import { expect, it } from "vitest";
import { backends, startStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";

it.each(backends)(
  "wake-ups of thousands of sessions at once reach another process on %s",
  async (backend) => {
    const stack = await startStack({ backend });
    const { engine: other } = await stack.addWorker();
    await waitFor(
      () =>
        other.wake.ready().then(
          () => true,
          () => false,
        ),
      { what: "the other process to listen" },
    );
    const heard = new Set<string>();
    const stop = other.wake.subscribe((id) => heard.add(id));
    // 3,000 ids are 111,000 characters; Postgres takes fewer than 8,000 at once.
    const ids = Array.from({ length: 3_000 }, () => crypto.randomUUID());
    for (const id of ids) stack.engine.wake.publish(id);
    await waitFor(() => ids.every((id) => heard.has(id)), { what: "all of them to be heard" });
    expect(heard.size).toBe(ids.length);
    stop();
    await stack.close();
  },
);

it("a listener of one session hears of it alone, until it stops, and those of others hear as before", async () => {
  const stack = await startStack({ worker: false });
  const [mine, other] = [crypto.randomUUID(), crypto.randomUUID()];
  const heard: string[] = [];
  const hear = (name: string) => (id: string) => void heard.push(`${name} ${id === mine ? "mine" : "other"}`);
  const { wake } = stack.engine;
  const stops = [wake.subscribe(hear("first"), mine), wake.subscribe(hear("second"), mine)];
  const stopAll = wake.subscribe(hear("all"));
  wake.publish(mine);
  wake.publish(other);
  expect(heard.splice(0).sort()).toEqual(["all mine", "all other", "first mine", "second mine"]);
  stops[0]?.();
  wake.publish(mine);
  expect(heard.splice(0).sort()).toEqual(["all mine", "second mine"]);
  stops[1]?.();
  wake.subscribe(hear("third"), mine);
  stops[1]?.();
  stopAll();
  wake.publish(mine);
  expect(heard).toEqual(["third mine"]);
  await stack.close();
});
