// The queue only delivers: however often it does, and whatever it loses, a step has its effect once.
import { setTimeout as delay } from "node:timers/promises";
import { createStepQueue } from "@tandem/engine/queue/step-queue";
import { warnOfEviction } from "@tandem/engine/queue/warn-of-eviction";
import pino from "pino";
import { describe, expect, it } from "vitest";
import { lastToolResults } from "../support/fake-model-server.ts";
import { createGate } from "../support/gate.ts";
import { hasRedis, startRedis } from "../support/redis.ts";
import { findSessionFaults } from "../support/session-invariants.ts";
import { apiKey, backends, startStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, kindsOf, type PendingCall, resultFor, weatherTool } from "../support/wire.ts";

const MANY = 1_000;

describe.each(backends)("a thousand wake-ups of one session on %s", (backend) => {
  it("run its step once, and the next ones too", async () => {
    const held = createGate();
    const stack = await startStack({
      backend,
      script: async (request) => {
        await held.opened;
        if (lastToolResults(request).length > 0) return { text: "Done." };
        return { toolCalls: [{ name: "get_weather", arguments: { city: "Rome" } }] };
      },
    });
    const wire = createWire(stack.baseUrl, apiKey);
    const sessionId = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Hi" });
    const readFence = async () => {
      const { rows } = await stack.engine.pool.query("SELECT fence FROM sessions WHERE id = $1", [sessionId]);
      return rows[0].fence as number;
    };
    const wake = async () => {
      const fence = await readFence();
      // The same job over and over is one; jobs of their own are as many as there are.
      const jobs = Array.from({ length: MANY }, (_, i) =>
        stack.engine.queue.add({ sessionId, fence, ...(i % 2 === 0 ? {} : { putBack: i }) }),
      );
      for (let i = 0; i < MANY; i++) stack.engine.wake.publish(sessionId);
      await Promise.allSettled(jobs);
    };

    await waitFor(() => stack.model.requests.length === 1, { what: "the model request" });
    await wake();
    held.open();
    await wire.until(sessionId, "awaiting_tool_results");
    await wake();
    const [call] = await wire.pending(sessionId);
    await wire.post(`/sessions/${sessionId}/tool_results`, resultFor(call as PendingCall, "sunny"));
    await wake();
    const done = await wire.until(sessionId, "completed");
    expect(kindsOf(done.new_events).filter((kind) => kind === "policy_event")).toHaveLength(2);
    expect(stack.model.requests).toHaveLength(2);
    expect(await findSessionFaults(stack.engine.pool, sessionId)).toEqual([]);
    await stack.close();
  });
});

it.each(backends)("a queue closes at once while its worker still closes, on %s", async (backend) => {
  const stack = await startStack({ backend, worker: false });
  for (const waitMs of [0, 50, 200]) {
    const { DATABASE_URL: databaseUrl = "", REDIS_URL: redisUrl } = stack.env;
    const redis = redisUrl === undefined ? {} : { redisUrl };
    const queue = createStepQueue({ databaseUrl, ...redis, log: pino({ level: "silent" }) });
    const consumer = queue.consume(async () => undefined, { id: "w", concurrency: 1, leaseMs: 30_000 });
    // It begins, waits for jobs, or does so for a while.
    await delay(waitMs);
    const closing = consumer.close();
    const closedAt = performance.now();
    await queue.close();
    // What a worker of BullMQ waits for then is over after five seconds.
    expect(performance.now() - closedAt).toBeLessThan(4_000);
    await closing;
  }
  await stack.close();
});

describe.runIf(hasRedis)("a Redis that may evict jobs", () => {
  const start = async (policy: string) => {
    const redis = await startRedis();
    await redis.command(`CONFIG SET maxmemory-policy ${policy}`);
    const lines: { level: number; msg: string; policy?: string }[] = [];
    const log = pino({ level: "info" }, { write: (line) => void lines.push(JSON.parse(line)) });
    return { redis, lines, log };
  };

  it("is warned of when the queue is opened, with what to set", async () => {
    const { redis, lines, log } = await start("allkeys-lru");
    const databaseUrl = "postgresql://nobody@127.0.0.1:1/none";
    const queue = createStepQueue({ databaseUrl, redisUrl: redis.url, log });
    await waitFor(() => lines.length > 0, { what: "the warning" });
    const warning = { level: 40, policy: "allkeys-lru", msg: expect.stringContaining("noeviction") };
    expect(lines).toMatchObject([warning]);
    await queue.close();
    await redis.close();
  });

  it("is not warned of when it keeps everything, and the look leaves no connection behind", async () => {
    const { redis, lines, log } = await start("noeviction");
    await warnOfEviction({ url: redis.url, log }).over;
    expect(lines).toEqual([]);
    expect(await redis.command("CLIENT LIST")).not.toContain("tandem-eviction");
    await redis.close();
  });

  it("that is away is looked at when it comes, unless the queue is closed before", async () => {
    const { redis, lines, log } = await start("noeviction");
    await redis.kill();
    const look = warnOfEviction({ url: redis.url, log });
    look.close();
    await look.over;
    const another = warnOfEviction({ url: redis.url, log });
    await redis.start();
    await another.over;
    expect(lines).toEqual([]);
    await redis.close();
  });
});
