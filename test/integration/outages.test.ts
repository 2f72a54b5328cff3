// What a stack does while something that it needs is away, slow or full, and when it is back. Nothing is restarted.
import { inTransaction } from "@tandem/engine/postgres/transaction";
import { describe, expect, it } from "vitest";
import type { ModelScript } from "../support/fake-model-server.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import {
  createWire,
  type PendingCall,
  resultFor,
  type Wire,
  type WireReply,
  weatherTool,
} from "../support/wire.ts";

/** Asks for the weather, then answers. */
const weather: ModelScript = (request) =>
  request.body.messages.some(({ role }) => role === "tool")
    ? { text: "Sunny." }
    : { toolCalls: [{ name: "get_weather", arguments: { city: "Paris" } }] };

const asking = { agent: { name: "x", tools: [weatherTool] }, messages: "Weather?" };

async function open(options: Parameters<typeof startStack>[0]): Promise<{ stack: TestStack; wire: Wire }> {
  const stack = await startStack({ script: weather, ...options });
  return { stack, wire: createWire(stack.baseUrl, apiKey) };
}

/** A session that waits for a result, with a poll that waits for what comes then. */
async function createWaiting(wire: Wire) {
  const id = await wire.create(asking);
  const { next_index: cursor } = await wire.until(id, "awaiting_tool_results");
  const [call] = (await wire.pending(id)) as [PendingCall];
  const poll = wire.get(`/sessions/${id}/changes?from_index=${cursor}&wait_for_seconds=25`);
  // While these are answered one after the other, the poll has read what there is, and waits.
  for (let i = 0; i < 5; i++) await wire.get(`/sessions/${id}/status`);
  return {
    id,
    poll,
    post: () => wire.post(`/sessions/${id}/tool_results`, resultFor(call, "sun")),
  };
}

const untilReady = (wire: Wire) =>
  waitFor(async () => (await wire.send("GET", "//readyz")).status === 200, { what: "/readyz to be 200" });

/** Refused for now, in the form that clients know what to do about. */
function expectPassing(reply: WireReply): void {
  expect(reply.body).toMatchObject({ code: "unavailable" });
  expect(reply.status).toBe(503);
  expect(reply.headers.get("retry-after")).toBe("1");
}

const askAll = (wire: Wire) =>
  Promise.all([wire.get("/sessions"), wire.get("/agents"), wire.post("/sessions", asking)]);

describe.runIf(backends.includes("redis")).concurrent("a Redis", () => {
  it("that goes away costs time, and nothing else", async () => {
    const { stack, wire } = await open({ backend: "redis" });
    const waiting = await createWaiting(wire);
    await stack.redis?.kill();
    expect((await wire.send("GET", "//readyz")).status).toBe(503);
    const created = await wire.create(asking);
    expect(await waiting.post()).toMatchObject({ status: 202, body: { resumed: true } });
    expect((await waiting.poll).status).toBe(200);
    await stack.redis?.start();
    await untilReady(wire);
    await wire.until(waiting.id, "completed");
    await wire.until(created, "awaiting_tool_results");
    await stack.close();
  });

  it("that forgets a delayed step has it run in time all the same", async () => {
    const script: ModelScript = (_request, index) =>
      index === 0 ? { status: 429, body: {}, headers: { "retry-after": "2" } } : { text: "Hello." };
    const { stack, wire } = await open({ backend: "redis", script });
    const id = await wire.create(asking);
    const hasFailed = async () =>
      JSON.stringify((await wire.get(`/sessions/${id}/changes`)).body).includes("error_event");
    await waitFor(hasFailed, { what: "the failed request" });
    await stack.redis?.flush();
    await wire.until(id, "completed");
    const [first, second, ...more] = stack.model.requests.map(({ receivedAt }) => receivedAt);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(2_000);
    expect(more).toEqual([]);
    await stack.close();
  });
});

describe.concurrent("a pool of connections", () => {
  it("that is exhausted is told with 503, costs a waiting poll nothing, and recovers", async () => {
    const { stack, wire } = await open({});
    const { pool } = stack.engine;
    const waiting = await createWaiting(wire);
    const slow = Promise.all(
      Array.from({ length: pool.options.max }, () => pool.query("SELECT pg_sleep(8)")),
    );
    for (const reply of await askAll(wire)) expectPassing(reply);
    expect((await wire.send("GET", "//healthz")).status).toBe(200);
    await slow;
    await untilReady(wire);
    expect((await waiting.post()).status).toBe(202);
    expect((await waiting.poll).status).toBe(200);
    await wire.until(waiting.id, "completed");
    await stack.close();
  });

  it("gets a session back from a transaction that its process never goes on with", async () => {
    const { stack, wire } = await open({});
    const { id } = await createWaiting(wire);
    let goOn: () => void = () => undefined;
    let hasLock = false;
    const suspended = inTransaction(stack.engine.pool, async (tx) => {
      await tx.query("SELECT FROM sessions WHERE id = $1 FOR UPDATE", [id]);
      hasLock = true;
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      await tx.query("SELECT 1");
    }).catch((error: Error) => error);
    await waitFor(() => hasLock, { what: "the lock" });
    const cancel = () => wire.send("DELETE", `/sessions/${id}`);
    const refused = await cancel();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    await waitFor(async () => (await cancel()).status === 204, { what: "the session to be free again" });
    goOn();
    expect(await suspended).toBeInstanceOf(Error);
    await stack.close();
  });
});

describe.concurrent.each(backends)("a database on %s", (backend) => {
  it("that does not answer is told with 503, and used again when it does", async () => {
    const { stack, wire } = await open({ backend, databaseProxy: true });
    const waiting = await createWaiting(wire);
    stack.databaseProxy?.stall();
    for (const reply of await askAll(wire)) expectPassing(reply);
    stack.databaseProxy?.resume();
    await untilReady(wire);
    expect((await waiting.post()).status).toBe(202);
    expect((await waiting.poll).status).toBe(200);
    await wire.until(waiting.id, "completed");
    await wire.until(await wire.create(asking), "awaiting_tool_results");
    await stack.close();
  });
});
