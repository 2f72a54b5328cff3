// Wake-ups carry ids only, few enough of them for one notification, and reach every process.
import { createRedisWake } from "@tandem/engine/wake/redis-wake";
import pg from "pg";
import pino from "pino";
import { expect, it } from "vitest";
import { hasRedis, startRedis } from "../support/redis.ts";
import { apiKey, backends, startStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire } from "../support/wire.ts";

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

it.runIf(hasRedis)("what is sent in one logical database of a Redis is not heard in another", async () => {
  const redis = await startRedis();
  const open = async (database: number) => {
    const wake = createRedisWake({ url: `${redis.url}/${database}`, log: pino({ level: "silent" }) });
    const isReady = () =>
      wake.ready().then(
        () => true,
        () => false,
      );
    await waitFor(isReady, { what: `database ${database}` });
    return wake;
  };
  for (const database of [0, 1]) {
    const [listener, foreign, own] = [await open(database), await open(1 - database), await open(database)];
    const heard: string[] = [];
    listener.receive((note) => void heard.push(note));
    foreign.send("free.foreign");
    await foreign.close();
    own.send("free.own");
    await waitFor(() => heard.includes("free.own"), { what: "the note of its own" });
    expect(heard).toEqual(["free.own"]);
    for (const wake of [listener, own]) await wake.close();
  }
  await redis.close();
});

it("a poll whose wake-up was missed looks when the channel is open again", async () => {
  const stack = await startStack({ worker: false, databaseProxy: true, env: { TANDEM_SWEEP_MS: "3600000" } });
  const wire = createWire(stack.baseUrl, apiKey);
  const { body } = await wire.post("/sessions", { agent: "tandem/assistant", messages: "Hi" });
  const poll = wire.get(`/sessions/${body.id}/changes?from_index=1&wait_for_seconds=25`);
  const database = new pg.Client({ connectionString: stack.databaseUrl });
  await database.connect();
  await waitFor(async () => (await countWaiting(stack.baseUrl)) === 1, { what: "the poll to wait" });
  await stack.databaseProxy?.cut();
  // What another process has done meanwhile; its wake-up reaches nobody here.
  await database.query(
    `WITH appended AS (INSERT INTO events (session_id, index, type, data) VALUES ($1, 1, 'AgentStartedEvent', '{}'))
     UPDATE sessions SET next_index = 2 WHERE id = $1`,
    [body.id],
  );
  await stack.databaseProxy?.mend();
  const { status, body: changes } = await poll;
  expect(status).toBe(200);
  expect(changes.next_index).toBe(2);
  await database.end();
  await stack.close();
});

async function countWaiting(baseUrl: string): Promise<number> {
  const text = await (await fetch(new URL("/metrics", baseUrl))).text();
  return Number(/^tandem_waiters (\d+)$/m.exec(text)?.[1] ?? 0);
}
