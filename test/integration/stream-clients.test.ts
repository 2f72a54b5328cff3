// The clients of streams: those that may read, those that go, and those that take nothing.
import { connect, type Socket } from "node:net";
import { buildApp } from "@tandem/api/app";
import { createWaiters } from "@tandem/api/waiting/waiters";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ModelScript, oneToolThenAnswer } from "../support/fake-model-server.ts";
import { createGate } from "../support/gate.ts";
import { startProcess } from "../support/processes.ts";
import { scrape, seriesOf } from "../support/scrape.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { eventsOf, type Frame, readStream, textOf } from "../support/stream-reader.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

const times = { heartbeatMs: 100, slowMs: 1_000 };
const isState = (frame: Frame) => frame.event === "state";

describe("a stream", () => {
  let stack: TestStack;
  let wire: Wire;
  let baseUrl: string;
  let app: Awaited<ReturnType<typeof buildApp>>;

  beforeAll(async () => {
    stack = await startStack({ script: oneToolThenAnswer("get_weather", { city: "Paris" }) });
    const waiters = createWaiters(stack.engine, { sweepMs: 200 });
    const { models } = stack.config.api;
    app = await buildApp({ engine: stack.engine, models, waiters, streamTimes: times });
    baseUrl = await app.listen({ host: "127.0.0.1", port: 0 });
    wire = createWire(baseUrl, apiKey);
  });
  afterAll(async () => {
    await app.close();
    await stack.close();
  });

  const waiting = async (owner = wire) => {
    const id = await owner.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Weather?" });
    const seen = await owner.until(id, "awaiting_tool_results");
    return { id, cursor: seen.next_index as number, call: (await owner.pending(id))[0] as PendingCall };
  };
  const open = async (id: string, key = apiKey) => {
    const stream = await readStream({ baseUrl, apiKey: key }, id);
    await stream.until("the state", isState);
    return stream;
  };
  const ends = async () => seriesOf(await scrape(baseUrl), "tandem_stream_ends_total");
  const openStreams = async () => (await scrape(baseUrl)).get("tandem_streams");

  it("has a heartbeat while it waits, holds no database connection, and is counted while it is open", async () => {
    const { id } = await waiting();
    const streams = await Promise.all(Array.from({ length: 30 }, () => open(id)));
    expect(await openStreams()).toBe(30);
    for (const stream of streams) await stream.until("a heartbeat", ({ isComment }) => isComment);
    const { pool } = stack.engine;
    await waitFor(() => pool.idleCount === pool.totalCount, { what: "an idle pool" });
    expect(pool.waitingCount).toBe(0);
    for (const stream of streams) stream.close();
    await waitFor(async () => (await openStreams()) === 0, { what: "the streams to be let go" });
    const text = await (await fetch(`${baseUrl}/metrics`)).text();
    expect(text).not.toMatch(/http_request_duration.*route="\/api\/v2\/sessions\/:id\/stream"/);
    expect(await ends()).toMatchObject({ '{reason="gone"}': 30 });
  });

  it("is for session tokens too, those that only read among them, and ends with its token", async () => {
    const { id } = await waiting();
    const token = async (more: object) => (await wire.post(`/sessions/${id}/tokens`, more)).body.token;
    const reading = await open(id, await token({ tools: [], expires_in_s: 60 }));
    const short = await open(id, await token({ expires_in_s: 1 }));
    await short.ended();
    expect(reading.isOver).toBe(false);
    reading.close();
    expect(await ends()).toMatchObject({ '{reason="credential"}': 1 });
  });

  it("ends when its key is revoked", async () => {
    const { id } = await waiting();
    const key = await stack.addKey({ name: "short-lived" });
    const stream = await open(id, key);
    const admin = createWire(baseUrl, await stack.addKey({ isAdmin: true }));
    const { items } = (await admin.get("/keys?organization=default")).body;
    const { id: keyId } = items.find(({ name }: { name: string }) => name === "short-lived");
    expect((await admin.send("DELETE", `/keys/${keyId}`)).status).toBe(204);
    await stream.ended();
    expect((await readStream({ baseUrl, apiKey: key }, id)).status).toBe(401);
  });

  it("has only its head for HEAD, and the usual errors before it begins", async () => {
    const { id } = await waiting();
    const head = await wire.send("HEAD", `/sessions/${id}/stream`);
    expect([head.status, head.headers.get("content-type"), head.text]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
      "",
    ]);
    expect(await openStreams()).toBe(0);
    const other = createWire(baseUrl, await stack.addOrganization("other"));
    expect(await other.get(`/sessions/${id}/stream`)).toMatchObject({
      status: 404,
      body: { code: "session_not_found" },
    });
    for (const last of ["x", "-1", "1.5", "2147483647"]) {
      const reply = await wire.send("GET", `/sessions/${id}/stream`, { headers: { "last-event-id": last } });
      expect([last, reply.status, reply.body.detail[0].loc]).toEqual([
        last,
        422,
        ["header", "last-event-id"],
      ]);
    }
  });

  it("is open to pages of other origins, and tells them its type", async () => {
    const { id } = await waiting();
    const stream = await readStream({ baseUrl, apiKey }, id, { headers: { origin: "https://shop.example" } });
    expect(stream.headers.get("access-control-allow-origin")).toBe("https://shop.example");
    stream.close();
  });

  it("stays open while a session idles, and goes on with its next turn", async () => {
    const id = await wire.create({
      ...{ agent: { name: "x", tools: [weatherTool] }, messages: "Weather?", idle_timeout_s: 60 },
    });
    const stream = await open(id);
    const [call] = await waitFor(
      async () => {
        const calls = await wire.pending(id);
        return calls.length > 0 && calls;
      },
      { what: "the call" },
    );
    await wire.post(`/sessions/${id}/tool_results`, resultFor(call as PendingCall, 18));
    await stream.until("the idle state", (frame) => isState(frame) && frame.data.status === "idle");
    await wire.post(`/sessions/${id}/messages`, { message: "Again?" });
    await stream.until("a new turn", ({ data }) => data?.data?.content?.[0] === "Again?");
    expect(stream.isOver).toBe(false);
    await wire.send("DELETE", `/sessions/${id}`);
    await stream.ended();
    expect(stream.frames.at(-1)).toMatchObject({ event: "state", data: { status: "interrupted" } });
    const { new_events: events } = (await wire.get(`/sessions/${id}/changes`)).body;
    expect(eventsOf(stream.frames)).toEqual([...events.entries()]);
  });

  it("is cut when its client takes nothing, and is never read further ahead than a little", async () => {
    const { id, cursor } = await waiting();
    const count = 80;
    await stack.engine.pool.query(
      `WITH appended AS (
         INSERT INTO events (session_id, index, type, data)
         SELECT $1, $2::int + n, 'AgentEvent', json_build_object('kind', 'x', 'text', repeat('x', 1000000))
           FROM generate_series(0, $3::int - 1) AS n)
       UPDATE sessions SET next_index = $2::int + $3::int WHERE id = $1 /* the test's */`,
      [id, cursor, count],
    );
    const reads: string[] = [];
    const { pool } = stack.engine;
    const query = pool.query.bind(pool);
    pool.query = ((config: { name?: string }, ...rest: unknown[]) => {
      if (config.name === "read-changes") reads.push(config.name);
      return (query as (...args: unknown[]) => unknown)(config, ...rest);
    }) as typeof pool.query;
    const { hostname, port } = new URL(baseUrl);
    const socket: Socket = connect(Number(port), hostname);
    socket.pause();
    socket.write(
      `GET /api/v2/sessions/${id}/stream HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`,
    );
    await waitFor(async () => (await ends())['{reason="slow"}'] === 1, { what: "the cut" });
    expect(await openStreams()).toBe(0);
    expect(reads.length).toBeGreaterThan(0);
    expect(reads.length).toBeLessThan(count / 2);
    socket.destroy();
    pool.query = query;
    const patient = await readStream({ baseUrl, apiKey }, id);
    await patient.until("the state", isState);
    expect(eventsOf(patient.frames).map(([index]) => index)).toEqual([...Array(cursor + count).keys()]);
    patient.close();
  });
});

it("a stream ends at once when its API does, and its client goes on at another one", async () => {
  const stack = await startStack({ script: oneToolThenAnswer("get_weather", { city: "Paris" }) });
  const wire = createWire(stack.baseUrl, apiKey);
  const id = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Weather?" });
  await wire.until(id, "awaiting_tool_results");
  const leaving = await stack.addApi();
  const stream = await readStream({ baseUrl: leaving.baseUrl, apiKey }, id);
  await stream.until("the state", isState);
  const startedAt = performance.now();
  await leaving.close();
  await stream.ended();
  expect(performance.now() - startedAt).toBeLessThan(4_000);
  const [last] = eventsOf(stream.frames).at(-1) as [number, unknown];
  const headers = { "last-event-id": `${last}` };
  const next = await readStream({ baseUrl: stack.baseUrl, apiKey }, id, { headers });
  const [call] = await wire.pending(id);
  await wire.post(`/sessions/${id}/tool_results`, resultFor(call as PendingCall, 18));
  await next.ended();
  const { new_events: events } = (await wire.get(`/sessions/${id}/changes`)).body;
  expect(eventsOf([...stream.frames, ...next.frames])).toEqual([...events.entries()]);
  await stack.close();
});

it("a stream goes on when the database was away, and the text of a request with it", async () => {
  const gate = createGate();
  const script: ModelScript = () => ({ text: "One two three four", midway: gate.opened });
  const stack = await startStack({ script, databaseProxy: true });
  const wire = createWire(stack.baseUrl, apiKey);
  const id = await wire.create({ agent: { name: "x" }, messages: "Say it.", stream: true });
  const stream = await readStream({ baseUrl: stack.baseUrl, apiKey }, id);
  await waitFor(() => textOf(stream.frames) === "One two ", { what: "half of it" });
  await stack.databaseProxy?.cut();
  gate.open();
  await waitFor(() => stack.model.requests[0]?.aborted === false, { what: "the reply" });
  await stack.databaseProxy?.mend();
  await stream.ended();
  expect(stream.frames.at(-1)?.data).toMatchObject({ status: "completed", answer: "One two three four" });
  await stack.close();
});

it("when a worker is killed in the middle of a text, the text begins anew with the next worker", async () => {
  const [never, gate] = [createGate(), createGate()];
  const script: ModelScript = (_request, index) =>
    index === 0
      ? { text: "Never said to its end", midway: never.opened }
      : { text: "Said to its end.", midway: gate.opened };
  const stack = await startStack({ script, worker: false });
  const killed = startProcess({
    entry: "apps/worker/src/main.ts",
    env: { ...stack.env, TANDEM_LEASE_MS: "1000" },
  });
  const wire = createWire(stack.baseUrl, apiKey);
  const id = await wire.create({ agent: { name: "x" }, messages: "Say it.", stream: true });
  const stream = await readStream({ baseUrl: stack.baseUrl, apiKey }, id);
  await waitFor(() => textOf(stream.frames).startsWith("Never said "), { what: "half of it" });
  killed.kill("SIGKILL");
  await stack.addWorker();
  await waitFor(() => textOf(stream.frames) === "Said to ", { what: "the new text" });
  gate.open();
  await stream.ended();
  expect(textOf(stream.frames)).toBe("Said to its end.");
  expect(stream.frames.at(-1)?.data).toMatchObject({ status: "completed", answer: "Said to its end." });
  never.open();
  await killed.close();
  await stack.close();
});
