// Many polls at the same moment: few statements read for all of them, and none costs another anything.
import { setTimeout as delay } from "node:timers/promises";
import { buildApp } from "@tandem/api/app";
import { createWaiters, type Waiters } from "@tandem/api/waiting/waiters";
import { createEngine, type Engine } from "@tandem/engine/engine";
import { createChangesReader } from "@tandem/engine/queries/changes-reader";
import { findAdvanced } from "@tandem/engine/queries/find-advanced";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createGate } from "../support/gate.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { appendEvent, copySession, EVENTS } from "../support/waiting-sessions.ts";
import { createWire, type Wire, type WireReply } from "../support/wire.ts";

/** Connections of the process whose polls are looked at. */
const POOL_MAX = 2;

let stack: TestStack;
let engine: Engine;
let waiters: Waiters;
let app: Awaited<ReturnType<typeof buildApp>>;
let wire: Wire;
/** The session that others are copies of. */
let original: string;
let organizationId: string;

beforeAll(async () => {
  stack = await startStack({ worker: false });
  engine = createEngine({
    ...{ databaseUrl: stack.databaseUrl, poolMax: POOL_MAX, maxActiveSessions: 0 },
    ...{ name: "tandem-polls", log: stack.engine.log },
  });
  // A sweep that never comes: what wakes a poll here is a wake-up.
  waiters = createWaiters(engine, { sweepMs: 3_600_000 });
  app = await buildApp({ engine, models: stack.config.api.models, waiters });
  wire = createWire(await app.listen({ host: "127.0.0.1", port: 0 }), apiKey);
  original = await wire.create({ agent: { name: "x" }, messages: "Hi" });
  const { rows } = await engine.pool.query("SELECT organization_id FROM sessions WHERE id = $1", [original]);
  organizationId = rows[0].organization_id;
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  waiters.shutdown();
  await app.close();
  await engine.close();
  await stack.close();
});

const copies = (count: number) => copySession(stack.engine.pool, original, count);
const append = (ids: string[], text: string) => appendEvent(stack.engine.pool, ids, text);
const poll = (id: string, cursor = EVENTS) =>
  wire.get(`/sessions/${id}/changes?from_index=${cursor}&wait_for_seconds=25`);
const keyOf = (sessionId: string, fromIndex = EVENTS) => ({
  ...{ organizationId, sessionId, fromIndex, limit: null },
});

/** Starts a waiting poll for each, and waits until all hang and nothing is read. */
async function hang(ids: string[]): Promise<Promise<WireReply>[]> {
  const polls = ids.map((id) => poll(id));
  await waitFor(() => waiters.size === ids.length && engine.pool.idleCount === engine.pool.totalCount, {
    ...{ what: `${ids.length} waiters and an idle pool`, timeoutMs: 30_000 },
  });
  return polls;
}

/** Counts the statements of the process from now on, by the names they are prepared by. */
function countStatements(): (name: string) => number {
  const spy = vi.spyOn(engine.pool, "query");
  return (name) =>
    spy.mock.calls.filter(([statement]) => (statement as unknown as { name?: string }).name === name).length;
}

describe("polls that are woken at the same moment", () => {
  it("are read by few statements, and each gets the events of its own session", async () => {
    const ids = await copies(200);
    const polls = await hang(ids);
    await append(ids, "news");
    const count = countStatements();
    for (const id of ids) engine.wake.publish(id);
    const replies = await Promise.all(polls);
    replies.forEach(({ status, body }, index) => {
      expect([status, body.next_index, body.status]).toEqual([200, EVENTS + 1, "awaiting_tool_results"]);
      expect(body.new_events.map((event: { data: object }) => event.data)).toEqual([
        { kind: "note", session: ids[index], text: "news" },
      ]);
    });
    expect(count("read-many-changes")).toBeLessThanOrEqual(20);
    expect(count("read-changes")).toBe(0);
  });

  it("share one read and the same bytes when they wait for one session from one index", async () => {
    const [id] = (await copies(1)) as [string];
    const polls = await hang(Array.from({ length: 300 }, () => id));
    await append([id], "näws € 😀");
    const count = countStatements();
    engine.wake.publish(id);
    const replies = await Promise.all(polls);
    expect(count("read-many-changes")).toBe(1);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(replies[0]?.body.new_events[0].data.text).toBe("näws € 😀");
    expect(replies[0]?.text).toBe((await wire.get(`/sessions/${id}/changes?from_index=${EVENTS}`)).text);
  });

  it("leave the pool to others: with two connections, requests pass while a thousand polls come and wake", async () => {
    const ids = await copies(1_000);
    let isOver = false;
    const others = (async () => {
      const statuses = new Set<number>();
      let [count, longest] = [0, 0];
      for (; !isOver; count++) {
        longest = Math.max(longest, engine.pool.waitingCount);
        statuses.add((await wire.get(`/sessions/${original}/status`)).status);
      }
      return { statuses: [...statuses], count, longest };
    })();
    const polls = ids.map((id) => poll(id));
    await waitFor(() => waiters.size === ids.length, { what: "all to wait", timeoutMs: 30_000 });
    await append(ids, "news");
    for (const id of ids) engine.wake.publish(id);
    const replies = await Promise.all(polls);
    isOver = true;
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(replies.map(({ body }) => body.new_events[0].data.session)).toEqual(ids);
    const { statuses, count, longest } = await others;
    expect(statuses).toEqual([200]);
    expect(count).toBeGreaterThan(10);
    // A handful of statements may wait for a connection, not one for each poll.
    expect(longest).toBeLessThan(10);
  });
});

describe("polls that are read together", () => {
  it("are not held up or failed by one whose session is huge, foreign, gone, or not even an id", async () => {
    const ids = await copies(4);
    const [huge, manyEvents, answered, gone] = ids as [string, string, string, string];
    const { pool } = stack.engine;
    await pool.query(
      `INSERT INTO events (session_id, index, type, data)
       SELECT $1, n, 'AgentEvent', json_build_object('result', repeat('x', 9000000)) FROM generate_series($2::int, $2 + 12) AS n`,
      [huge, EVENTS],
    );
    await pool.query(
      `INSERT INTO events (session_id, index, type, data)
       SELECT $1, n, 'AgentEvent', json_build_object('n', n) FROM generate_series($2::int, 999) AS n`,
      [manyEvents, EVENTS],
    );
    await pool.query(
      "UPDATE sessions SET next_index = CASE id WHEN $1 THEN $3::int + 13 ELSE 1000 END WHERE id IN ($1, $2)",
      [huge, manyEvents, EVENTS],
    );
    await pool.query("UPDATE sessions SET answer = to_json(repeat('y', 5000000)) WHERE id = $1", [answered]);
    await append([answered], "news");
    await pool.query("DELETE FROM sessions WHERE id = $1", [gone]);
    const plain = await copies(20);
    await append(plain, "news");
    const foreign = { ...keyOf(plain[0] as string), organizationId: crypto.randomUUID() };
    const reader = createChangesReader(engine);
    const count = countStatements();
    const read = (keys: ReturnType<typeof keyOf>[]) =>
      Promise.allSettled(keys.map((key) => reader.read(key)));
    const keys = [huge, manyEvents, answered, gone, ...plain].map((id) => keyOf(id));
    const [large, events, long, missing, ...rest] = await read([...keys, foreign]);
    const other = rest.pop();
    expect(rest).toHaveLength(plain.length);
    for (const one of rest) expect(one).toMatchObject({ value: { eventCount: 1, nextIndex: EVENTS + 1 } });
    // As much as one reply holds, by its own statement.
    expect(large).toMatchObject({ value: { eventCount: 12, nextIndex: EVENTS + 13 } });
    expect(events).toMatchObject({ value: { eventCount: 1_000 - EVENTS } });
    expect(long).toMatchObject({ value: { eventCount: 1, answer: `"${"y".repeat(5_000_000)}"` } });
    for (const one of [missing, other]) expect(one).toMatchObject({ reason: { code: "session_not_found" } });
    expect([count("read-many-changes"), count("read-changes")]).toEqual([1, 3]);

    const outcomes = await read([keyOf("not an id"), ...plain.map((id) => keyOf(id))]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", ...plain.map(() => "fulfilled")]);
  });

  it("get what each asks for: its index, its limit, or the state alone", async () => {
    const [id] = (await copies(1)) as [string];
    const reader = createChangesReader(engine);
    const asked = [
      [0, null],
      [0, 2],
      [0, 0],
      [2, 5],
      [EVENTS, null],
      [EVENTS + 7, null],
      [2_147_483_647, 2_147_483_647],
    ] as const;
    const rows = await Promise.all(
      asked.map(([fromIndex, limit]) => reader.read({ ...keyOf(id), fromIndex, limit })),
    );
    expect(rows.map((row) => row.eventCount)).toEqual([3, 2, 0, 1, 0, 0, 0]);
    expect(new Set(rows.map((row) => row.nextIndex))).toEqual(new Set([EVENTS]));
  });

  it("never share a read that was under way before they came", async () => {
    const [id, ...others] = (await copies(3)) as [string, string, string];
    const reader = createChangesReader(engine);
    const gate = createGate();
    const query = engine.pool.query.bind(engine.pool) as (...args: unknown[]) => Promise<unknown>;
    let answered = 0;
    vi.spyOn(engine.pool, "query").mockImplementation((async (...args: unknown[]) => {
      const result = await query(...args);
      answered++;
      await gate.opened;
      return result;
    }) as never);
    const early = [reader.read(keyOf(id))];
    await waitFor(() => answered === 1, { what: "the database to have answered the first read" });
    early.push(...[...others, id].map((other) => reader.read(keyOf(other))));
    await waitFor(() => answered === 2, { what: "the database to have answered the second read" });
    await append([id, ...others], "news");
    const late = [id, ...others].map((other) => reader.read(keyOf(other)));
    gate.open();
    for (const row of await Promise.all(early)) expect(row.eventCount).toBe(0);
    for (const row of await Promise.all(late)) expect(row.eventCount).toBe(1);
  });

  it("are each answered 503 while the database is away, and served when it is back", async () => {
    const other = await startStack({ worker: false, databaseProxy: true });
    const there = createWire(other.baseUrl, apiKey);
    const id = await there.create({ agent: { name: "x" }, messages: "Hi" });
    const ids = await copySession(other.engine.pool, id, 60);
    const path = (one: string) => `/sessions/${one}/changes?from_index=${EVENTS}&wait_for_seconds=1`;
    await other.databaseProxy?.cut();
    const refused = await Promise.all(ids.map((one) => there.get(path(one))));
    for (const { status, body, headers } of refused) {
      expect([status, body.code, headers.get("retry-after")]).toEqual([503, "unavailable", "1"]);
    }
    expect(new Set(refused.map(({ body }) => body.request_id)).size).toBe(ids.length);
    await other.databaseProxy?.mend();
    await waitFor(async () => (await there.send("GET", "//readyz")).status === 200, { what: "/readyz" });
    const served = await Promise.all(ids.map((one) => there.get(path(one))));
    expect(new Set(served.map(({ status }) => status))).toEqual(new Set([204]));
    await other.close();
  });
});

it("a poll whose session is deleted while it waits among others is answered 404, and it alone", async () => {
  const ids = await copies(20);
  const polls = await hang(ids);
  const [gone] = ids as [string];
  await stack.engine.pool.query("DELETE FROM sessions WHERE id = $1", [gone]);
  await append(ids, "news");
  for (const id of ids) engine.wake.publish(id);
  const statuses = (await Promise.all(polls)).map(({ status }) => status);
  expect(statuses).toEqual([404, ...ids.slice(1).map(() => 200)]);
});

it("a sweep looks at thousands of waiters in several statements, and finds each that was missed", async () => {
  const ids = await copies(2_500);
  const missed = ids.filter((_, index) => index % 500 === 7);
  await append(missed, "news");
  const [gone] = ids as [string];
  await stack.engine.pool.query("DELETE FROM sessions WHERE id = $1", [gone]);
  const waiting = ids.map((sessionId) => ({ sessionId, cursor: EVENTS }));
  const count = countStatements();
  expect((await findAdvanced(engine, waiting)).sort()).toEqual([gone, ...missed].sort());
  expect(count("find-advanced")).toBe(3);
});

it("sweeps do not pile up while the database is slow", async () => {
  let looks = 0;
  vi.spyOn(engine.pool, "query").mockImplementation((async () => {
    looks++;
    await new Promise(() => undefined);
  }) as never);
  const slow = createWaiters(engine, { sweepMs: 5 });
  const waiter = slow.wait(original, 1_000, 60_000);
  await waitFor(() => looks === 1, { what: "the first look" });
  await delay(100);
  expect(looks).toBe(1);
  slow.shutdown();
  expect(await waiter.ended).toBe("shutdown");
});
