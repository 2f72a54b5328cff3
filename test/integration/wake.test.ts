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
