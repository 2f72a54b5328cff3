// Whoever steers a session and the worker that commits its step meet at the session's row, in either order, on either
// backend. Whatever comes of it, the session goes on to a good end.
import { expireSession } from "@tandem/engine/commands/expire-session";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lastToolResults, type ModelScript, type Reply } from "../support/fake-model-server.ts";
import { createGate } from "../support/gate.ts";
import { type Locks, openLocks } from "../support/row-lock.ts";
import { findSessionFaults } from "../support/session-invariants.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, kindsOf, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

const ask: Reply = { toolCalls: [{ name: "get_weather", arguments: { city: "Rome" } }] };
const answer: Reply = { text: "Answered." };
const NEWS = "And one more thing";

/** Who meets the worker, with what its model said, and what has become of the session when both are through. */
interface Race {
  who: "cancel" | "message" | "pause" | "force_answer" | "expire";
  reply: Reply;
  /** The states when the other one is first, and when the worker is. */
  legal: [string[], string[]];
}

const races: Race[] = [
  { who: "cancel", reply: answer, legal: [["interrupted"], ["completed"]] },
  { who: "cancel", reply: ask, legal: [["interrupted"], ["interrupted"]] },
  {
    who: "message",
    reply: answer,
    legal: [
      ["running", "completed"],
      ["pending", "running", "completed"],
    ],
  },
  { who: "message", reply: ask, legal: [["awaiting_tool_results"], ["awaiting_tool_results"]] },
  { who: "pause", reply: answer, legal: [["completed"], ["completed"]] },
  { who: "pause", reply: ask, legal: [["paused"], ["paused"]] },
  { who: "force_answer", reply: answer, legal: [["completed"], ["completed"]] },
  {
    who: "force_answer",
    reply: ask,
    legal: [
      ["running", "completed"],
      ["running", "completed"],
    ],
  },
  { who: "expire", reply: answer, legal: [["running", "timed_out"], ["completed"]] },
  {
    who: "expire",
    reply: ask,
    legal: [
      ["running", "timed_out"],
      ["running", "timed_out"],
    ],
  },
];

describe.each(backends)("a worker's commit on %s", (backend) => {
  let stack: TestStack;
  let wire: Wire;
  let locks: Locks;
  let reply: Reply = answer;
  let held = createGate();
  const script: ModelScript = async (request) => {
    const isFirst = request.body.messages.length === 2;
    if (isFirst) await held.opened;
    return isFirst ? reply : { text: `Seen ${lastToolResults(request).length} results.` };
  };
  beforeAll(async () => {
    // No sweep: it would meet them too.
    stack = await startStack({ backend, script, env: { TANDEM_SWEEP_MS: "60000" } });
    wire = createWire(stack.baseUrl, apiKey);
    locks = await openLocks(stack.databaseUrl);
  });
  afterAll(async () => {
    held.open();
    await locks.close();
    await stack.close();
  });

  const actAs = (who: Race["who"], id: string): Promise<unknown> => {
    if (who === "cancel") return wire.send("DELETE", `/sessions/${id}`);
    if (who === "message") return wire.post(`/sessions/${id}/messages`, { message: NEWS });
    if (who === "expire") return expireSession(stack.engine, id);
    return wire.send("POST", `/sessions/${id}/${who}`);
  };
  const statusOf = async (id: string): Promise<string> =>
    (await wire.get(`/sessions/${id}/status`)).body.status;

  /** Both wait at the row, in this order, and are let go. */
  const meet = async (id: string, race: Race, isWorkerFirst: boolean) => {
    const lock = await locks.holdSession(id);
    const commit = async () => held.open();
    const others = [() => actAs(race.who, id), commit];
    const outcomes: Promise<unknown>[] = [];
    try {
      for (const act of isWorkerFirst ? others.reverse() : others) {
        const before = await lock.countWaiters();
        outcomes.push(act());
        await waitFor(async () => (await lock.countWaiters()) > before, {
          what: "one more to wait at the row",
        });
      }
    } finally {
      await lock.release();
    }
    await Promise.all(outcomes);
  };

  /** Does what a caller would do until the session has ended. */
  const finish = async (id: string) => {
    await waitFor(
      async () => {
        const status = await statusOf(id);
        if (status === "paused") await wire.send("POST", `/sessions/${id}/resume`);
        if (status === "awaiting_tool_results") {
          const results = (await wire.pending(id)).map((call: PendingCall) => resultFor(call, "sunny"));
          await wire.post(`/sessions/${id}/tool_results`, { type: "batch", results });
        }
        return ["completed", "interrupted", "timed_out"].includes(status);
      },
      { what: "the session to end", timeoutMs: 20_000 },
    );
    return (await wire.get(`/sessions/${id}/changes`)).body;
  };

  const checkRace = async (race: Race, isWorkerFirst: boolean) => {
    held = createGate();
    reply = race.reply;
    const asked = stack.model.requests.length;
    const isTimed = race.who === "expire";
    const id = await wire.create({
      agent: { name: "x", tools: [weatherTool] },
      messages: "Hi",
      ...(isTimed ? { max_time_s: 600 } : {}),
    });
    await waitFor(() => stack.model.requests.length > asked, { what: "the model request" });
    if (isTimed) {
      await stack.engine.pool.query("UPDATE sessions SET time_limit_at = now() WHERE id = $1", [id]);
    }
    await meet(id, race, isWorkerFirst);
    const legal = race.legal[isWorkerFirst ? 1 : 0];
    await waitFor(async () => legal.includes(await statusOf(id)), { what: `${legal} after ${race.who}` });
    expect(await findSessionFaults(stack.engine.pool, id)).toEqual([]);
    const done = await finish(id);
    expect(await findSessionFaults(stack.engine.pool, id)).toEqual([]);
    return { id, done, lastRequest: JSON.stringify(stack.model.requests.at(-1)?.body.messages) };
  };

  it.each(races)("meets $who: $reply", async (race) => {
    for (const isWorkerFirst of [false, true]) {
      const { id, done, lastRequest } = await checkRace(race, isWorkerFirst);
      const steps = kindsOf(done.new_events).filter((kind) => kind === "policy_event").length;
      if (race.who === "cancel") expect(steps).toBe(isWorkerFirst ? 1 : 0);
      else expect(steps).toBeGreaterThanOrEqual(1);
      if (race.who === "message") expect(lastRequest).toContain(NEWS);
      // Whatever it was, a message is accepted right after, and answered.
      expect((await wire.post(`/sessions/${id}/messages`, { message: "Still there?" })).status).toBe(202);
      await waitFor(async () => (await statusOf(id)) === "completed", {
        what: "the answer to a new message",
      });
      expect(JSON.stringify(stack.model.requests.at(-1)?.body.messages)).toContain("Still there?");
      expect(await findSessionFaults(stack.engine.pool, id)).toEqual([]);
    }
  });
});
