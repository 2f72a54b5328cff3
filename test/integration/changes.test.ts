import { connect } from "node:net";
import { buildApp } from "@tandem/api/app";
import { createWaiters, type Waiters } from "@tandem/api/waiting/waiters";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { oneToolThenAnswer } from "../support/fake-model-server.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, kindsOf, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

describe.each(backends)("a poll of changes on %s", (backend) => {
  let stack: TestStack;
  let wire: Wire;

  beforeAll(async () => {
    // A sweep that never comes: what wakes a poll here is a wake-up.
    const env = { TANDEM_SWEEP_MS: "3600000" };
    stack = await startStack({ backend, script: oneToolThenAnswer("get_weather", { city: "Paris" }), env });
    wire = createWire(stack.baseUrl, apiKey);
  });
  afterAll(() => stack.close());

  const waiting = async () => {
    const id = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Weather?" });
    const seen = await wire.until(id, "awaiting_tool_results");
    return { id, cursor: seen.next_index as number, call: (await wire.pending(id))[0] as PendingCall };
  };

  it("waits, and is woken by a change that another process makes", async () => {
    const { id, cursor, call } = await waiting();
    const other = createWire((await stack.addApi()).baseUrl, apiKey);
    const startedAt = performance.now();
    const poll = other.get(`/sessions/${id}/changes?from_index=${cursor}&wait_for_seconds=20`);
    await wire.post(`/sessions/${id}/tool_results`, resultFor(call, 18));
    const { status, body } = await poll;
    expect(status).toBe(200);
    expect(kindsOf(body.new_events)[0]).toBe("tool_result");
    expect(body.next_index).toBe(cursor + body.new_events.length);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it("answers 204 with the cursor as its ETag when nothing is new", async () => {
    const { id, cursor } = await waiting();
    for (const wait of [0, 1]) {
      const reply = await wire.get(`/sessions/${id}/changes?from_index=${cursor}&wait_for_seconds=${wait}`);
      expect(reply.status).toBe(204);
      expect(reply.body).toBe("");
      expect(reply.headers.get("etag")).toBe(`"${cursor}"`);
    }
  });

  it("answers at once when the session has ended, however long it may wait", async () => {
    const { id, call } = await waiting();
    await wire.post(`/sessions/${id}/tool_results`, resultFor(call, 18));
    const { next_index: end } = await wire.until(id, "completed");
    const startedAt = performance.now();
    const reply = await wire.get(`/sessions/${id}/changes?from_index=${end}&wait_for_seconds=25`);
    expect(reply.status).toBe(204);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it("gives the state alone without events, and pages by limit", async () => {
    const { id, cursor } = await waiting();
    const state = await wire.get(`/sessions/${id}/changes?from_index=0&include_events=false`);
    expect(state.body).toMatchObject({ status: "awaiting_tool_results", new_events: [], next_index: 0 });
    expect(state.body.has_more).toBe(false);
    const collected: string[] = [];
    for (let index = 0; index < cursor; ) {
      const { body } = await wire.get(`/sessions/${id}/changes?from_index=${index}&limit=3`);
      expect(body.new_events.length).toBeLessThanOrEqual(3);
      collected.push(...kindsOf(body.new_events));
      index = body.next_index;
      expect(body.has_more).toBe(index < cursor);
    }
    const all = await wire.get(`/sessions/${id}/changes`);
    expect(collected).toEqual(kindsOf(all.body.new_events));
    expect(all.body.has_more).toBe(false);
  });

  it("shows an event as soon as the state it explains, and never later", async () => {
    const id = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Weather?" });
    const states: string[] = [];
    let status = "";
    for (let index = 0; status !== "awaiting_tool_results"; ) {
      const { body } = await wire.get(`/sessions/${id}/changes?from_index=${index}&wait_for_seconds=20`);
      states.push(
        ...body.new_events.flatMap((event: { data: { state?: string } }) => event.data.state ?? []),
      );
      status = body.status;
      index = body.next_index;
      if (status === "awaiting_tool_results") expect(states.at(-1)).toBe("awaiting_tool_results");
      if (status === "running") expect(states.at(-1)).toBe("running");
    }
  });

  it("wakes every one of many waiters", async () => {
    const { id, cursor, call } = await waiting();
    const polls = Array.from({ length: 200 }, () =>
      wire.get(`/sessions/${id}/changes?from_index=${cursor}&wait_for_seconds=20`),
    );
    await wire.post(`/sessions/${id}/tool_results`, resultFor(call, 18));
    const replies = await Promise.all(polls);
    expect(replies.every((reply) => reply.status === 200)).toBe(true);
  });
});

describe("waiting polls", () => {
  let stack: TestStack;
  let waiters: Waiters;
  let wire: Wire;
  let app: Awaited<ReturnType<typeof buildApp>>;

  beforeAll(async () => {
    stack = await startStack({ script: oneToolThenAnswer("get_weather", { city: "Paris" }) });
    waiters = createWaiters(stack.engine, { sweepMs: 100 });
    app = await buildApp({ engine: stack.engine, models: stack.config.api.models, waiters });
    wire = createWire(await app.listen({ host: "127.0.0.1", port: 0 }), apiKey);
  });
  afterAll(async () => {
    waiters.shutdown();
    await app.close();
    await stack.close();
  });

  const waiting = async () => {
    const id = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Weather?" });
    const seen = await wire.until(id, "awaiting_tool_results");
    return { id, cursor: seen.next_index as number, call: (await wire.pending(id))[0] as PendingCall };
  };

  it("hold no database connection", async () => {
    const { id, cursor, call } = await waiting();
    const before = waiters.size;
    const polls = Array.from({ length: 50 }, () =>
      wire.get(`/sessions/${id}/changes?from_index=${cursor}&wait_for_seconds=20`),
    );
    await waitFor(
      () => waiters.size === before + 50 && stack.engine.pool.idleCount === stack.engine.pool.totalCount,
      {
        what: "50 waiters and an idle pool",
      },
    );
    expect(stack.engine.pool.waitingCount).toBe(0);
    await wire.post(`/sessions/${id}/tool_results`, resultFor(call, 18));
    await Promise.all(polls);
  });

  it("are let go within a second when their client goes away", async () => {
    const { id, cursor } = await waiting();
    const { hostname, port } = new URL(wire.baseUrl);
    const socket = connect(Number(port), hostname);
    socket.write(
      `GET /api/v2/sessions/${id}/changes?from_index=${cursor}&wait_for_seconds=25 HTTP/1.1\r\n` +
        `Host: ${hostname}\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`,
    );
    await waitFor(() => waiters.size === 1, { what: "the waiter" });
    const goneAt = performance.now();
    socket.destroy();
    await waitFor(() => waiters.size === 0, { what: "the waiter to be let go" });
    expect(performance.now() - goneAt).toBeLessThan(1_000);
  });

  it("find a change whose wake-up was lost at the next sweep", async () => {
    const { id, cursor, call } = await waiting();
    const deaf = createWaiters(
      { ...stack.engine, wake: { ...stack.engine.wake, subscribe: () => () => undefined } },
      { sweepMs: 100 },
    );
    const waiter = deaf.wait(id, cursor, 20_000);
    await wire.post(`/sessions/${id}/tool_results`, resultFor(call, 18));
    expect(await waiter.ended).toBe("woken");
    deaf.shutdown();
  });

  it("and sockets that ask nothing do not hold up an end", async () => {
    const api = await stack.addApi();
    const { hostname, port } = new URL(api.baseUrl);
    const idle = connect(Number(port), hostname);
    const halfSent = connect(Number(port), hostname);
    halfSent.write("POST /api/v2/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
    await Promise.all(
      [idle, halfSent].map((socket) => new Promise((resolve) => socket.once("connect", resolve))),
    );
    for (const socket of [idle, halfSent]) socket.on("error", () => undefined);
    const startedAt = performance.now();
    await api.close();
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    idle.destroy();
    halfSent.destroy();
  });

  it("answer 204 when the process shuts down", async () => {
    const { id, cursor } = await waiting();
    const poll = wire.get(`/sessions/${id}/changes?from_index=${cursor}&wait_for_seconds=25`);
    await waitFor(() => waiters.size === 1, { what: "the waiter" });
    waiters.shutdown();
    expect((await poll).status).toBe(204);
    const next = await wire.get(`/sessions/${id}/changes?from_index=${cursor}&wait_for_seconds=25`);
    expect(next.status).toBe(204);
  });
});
