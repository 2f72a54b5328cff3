import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lastToolResults } from "../support/fake-model-server.ts";
import { findSlowParts } from "../support/find-slow-parts.ts";
import { recordStatements } from "../support/recorded-statements.ts";
import { openLocks } from "../support/row-lock.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, type PendingCall, resultFor, type Wire } from "../support/wire.ts";

const names = ["look", "find", "take"];
const tools = names.map((name) => ({ name, description: "Takes anything." }));

let stack: TestStack;
let wire: Wire;

beforeAll(async () => {
  stack = await startStack({
    script: (request) =>
      lastToolResults(request).length > 0
        ? { text: "Done." }
        : { toolCalls: names.map((name) => ({ name, arguments: { of: name } })) },
  });
  wire = createWire(stack.baseUrl, apiKey);
});
afterAll(() => stack.close());

const query = async (text: string, ...values: unknown[]) =>
  (await stack.engine.pool.query(text, values)).rows;

/** A session that waits for its three tools. */
async function start(): Promise<{ id: string; calls: [PendingCall, PendingCall, PendingCall] }> {
  const id = await wire.create({ agent: { name: "x", tools }, messages: "Hi" });
  await wire.until(id, "awaiting_tool_results");
  return { id, calls: (await wire.pending(id)) as [PendingCall, PendingCall, PendingCall] };
}

const claim = (id: string, callId: string, claimant: string, lease_s = 60) =>
  wire.post(`/sessions/${id}/tool_calls/${callId}/claim`, { claimant, lease_s });
const post = (id: string, call: PendingCall, result: unknown) =>
  wire.post(`/sessions/${id}/tool_results`, resultFor(call, result));
/** As if the claim had been made so long ago that it has lapsed. */
const lapse = (id: string) =>
  query("UPDATE tool_calls SET claimed_until = now() - interval '1 s' WHERE session_id = $1", id);

describe("a claim", () => {
  it("keeps others from the call until it lapses, and says by whom and how long it is held", async () => {
    const { id, calls } = await start();
    const first = await claim(id, calls[0].id, "one");
    expect(first.status).toBe(200);
    expect(Date.parse(first.body.claimed_until) - Date.now()).toBeCloseTo(60_000, -4);
    const refused = await claim(id, calls[0].id, "two");
    expect(refused).toMatchObject({
      status: 409,
      body: { code: "call_claimed", claimant: "one", claimed_until: first.body.claimed_until },
    });
    const seconds = Number(refused.headers.get("retry-after"));
    expect(seconds).toBeGreaterThan(50);
    expect(seconds).toBeLessThanOrEqual(60);
    expect((await claim(id, calls[1].id, "two")).status).toBe(200);
    await lapse(id);
    expect((await claim(id, calls[0].id, "two")).status).toBe(200);
    expect((await claim(id, calls[0].id, "one")).body).toMatchObject({ claimant: "two" });
  });

  it("is prolonged or shortened by its claimant, and given back with a lease of 0", async () => {
    const { id, calls } = await start();
    const [{ id: callId }] = calls;
    const untils: number[] = [];
    for (const lease of [10, 3_600, 0.5])
      untils.push(Date.parse((await claim(id, callId, "one", lease)).body.claimed_until));
    const [first = 0, longer = 0, shorter = 0] = untils;
    expect(longer).toBeGreaterThan(first);
    expect(shorter).toBeLessThan(first);
    await claim(id, callId, "one", 60);
    expect(await claim(id, callId, "two", 0)).toMatchObject({ status: 409, body: { claimant: "one" } });
    for (const _ of [1, 2])
      expect(await claim(id, callId, "one", 0)).toMatchObject({
        status: 200,
        body: { claimed_until: null, previous_claimant: "one" },
      });
    expect((await claim(id, callId, "two")).status).toBe(200);
  });

  it("is won by exactly one of many at once", async () => {
    const { id, calls } = await start();
    for (const { id: callId } of calls) {
      const replies = await Promise.all(
        Array.from({ length: 12 }, (_, number) => claim(id, callId, `claimant ${number}`)),
      );
      const winners = replies.flatMap(({ status }, number) => (status === 200 ? [`claimant ${number}`] : []));
      expect(winners).toHaveLength(1);
      for (const { status, body } of replies.filter((reply) => reply.status !== 200))
        expect([status, body.code, body.claimant]).toEqual([409, "call_claimed", winners[0]]);
    }
  });

  it("that waited for another one is decided by what that one wrote", async () => {
    const { id, calls } = await start();
    const locks = await openLocks(stack.databaseUrl);
    try {
      const held = await locks.hold("SELECT 1 FROM tool_calls WHERE session_id = $1 FOR UPDATE", [id]);
      const both = [claim(id, calls[0].id, "one"), claim(id, calls[0].id, "two")];
      await waitFor(async () => (await held.countWaiters()) === 2, { what: "both claims to wait" });
      await held.release();
      expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 409]);
    } finally {
      await locks.close();
    }
  });

  it("that meets a result is refused, or is followed by it", async () => {
    const { id, calls } = await start();
    const [settled, claimed] = await Promise.all([post(id, calls[0], 1), claim(id, calls[0].id, "one")]);
    expect(settled.status).toBe(202);
    expect(["call_not_pending", undefined]).toContain(claimed.body.code);
  });

  it("changes nothing of the session, and results are taken from anybody", async () => {
    const { id, calls } = await start();
    const read = () => query("SELECT xmin::text, sessions.* FROM sessions WHERE id = $1", id);
    const before = await read();
    const events = (await wire.get(`/sessions/${id}/events`)).text;
    await claim(id, calls[0].id, "one");
    expect(await read()).toEqual(before);
    expect((await wire.get(`/sessions/${id}/events`)).text).toBe(events);
    for (const call of calls) expect((await post(id, call, 1)).status).toBe(202);
    await wire.until(id, "completed");
  });

  it("is refused for what waits for no result, with the reason", async () => {
    const { id, calls } = await start();
    await post(id, calls[0], 1);
    expect(await claim(id, calls[0].id, "one")).toMatchObject({
      status: 409,
      body: { code: "call_not_pending", state: "answered" },
    });
    await query("UPDATE tool_calls SET state = 'awaiting_approval' WHERE id = $1", calls[1].id);
    expect(await claim(id, calls[1].id, "one")).toMatchObject({
      status: 409,
      body: { code: "approval_required" },
    });
    for (const unknown of ["call_x", "%00", "x".repeat(512), encodeURIComponent("a/b")])
      expect(await claim(id, unknown, "one")).toMatchObject({
        status: 404,
        body: { code: "call_not_found" },
      });
    await wire.send("DELETE", `/sessions/${id}`);
    for (const callId of [calls[2].id, "call_x"])
      expect(await claim(id, callId, "one")).toMatchObject({
        status: 409,
        body: { code: "session_finished" },
      });
    expect(
      await query("SELECT 1 FROM tool_calls WHERE session_id = $1 AND claimant IS NOT NULL", id),
    ).toEqual([]);
  });

  it.each([
    ["{}", "claimant"],
    ['{"claimant":"","lease_s":1}', "claimant"],
    [`{"claimant":"${"x".repeat(201)}","lease_s":1}`, "claimant"],
    ['{"claimant":"a\\u0000","lease_s":1}', "claimant"],
    ['{"claimant":"a\\ud800","lease_s":1}', "claimant"],
    ['{"claimant":"a"}', "lease_s"],
    ['{"claimant":"a","lease_s":-1}', "lease_s"],
    ['{"claimant":"a","lease_s":3600.1}', "lease_s"],
    ['{"claimant":"a","lease_s":"1"}', "lease_s"],
    ['{"claimant":"a","lease_s":1.00000000000000000001}', "lease_s"],
  ])("is not made from %s", async (text, field) => {
    const { id, calls } = await start();
    const reply = await wire.send("POST", `/sessions/${id}/tool_calls/${calls[0].id}/claim`, { text });
    expect([reply.status, reply.body.detail[0].loc]).toEqual([422, ["body", field]]);
  });
});

describe("the list of a session's calls", () => {
  const list = async (id: string, query = "") => (await wire.get(`/sessions/${id}/tool_calls${query}`)).body;

  it("has every call in the order of the model, with its state, through a restart", async () => {
    const { id, calls } = await start();
    await claim(id, calls[1].id, "one");
    await post(id, calls[0], 1);
    const { items, total, page } = await list(id);
    expect({ total, page }).toEqual({ total: 3, page: 1 });
    expect(items[0]).toEqual({
      id: calls[0].id,
      tool_name: "look",
      args: { of: "look" },
      step: 0,
      state: "answered",
      capability: "read",
      created_at: expect.any(String),
      settled_at: expect.any(String),
      settled_by: items[0].settled_by,
      reason: null,
      deadline: null,
      claimant: null,
      claimed_until: null,
      approval: null,
    });
    expect(items.slice(1)).toMatchObject([
      {
        id: calls[1].id,
        state: "pending",
        settled_at: null,
        claimant: "one",
        claimed_until: expect.any(String),
      },
      { id: calls[2].id, state: "pending", claimant: null },
    ]);
    await wire.send("DELETE", `/sessions/${id}`);
    await wire.post(`/sessions/${id}/messages`, { message: "Again" });
    await wire.until(id, "awaiting_tool_results");
    const states = (await list(id)).items.map((call: { state: string }) => call.state);
    expect(states).toEqual(["answered", "withdrawn", "withdrawn", "pending", "pending", "pending"]);
  });

  it("is in pages, and narrowed by state", async () => {
    const { id, calls } = await start();
    await post(id, calls[1], 1);
    const idsOf = async (query: string) => {
      const { items, total } = await list(id, query);
      return [items.map((call: { id: string }) => call.id), total];
    };
    const [first, second, third] = calls.map((call) => call.id);
    expect(await idsOf("?size=2")).toEqual([[first, second], 3]);
    expect(await idsOf("?size=2&page=2")).toEqual([[third], 3]);
    expect(await idsOf("?size=2&page=9")).toEqual([[], 3]);
    expect(await idsOf("?state=pending")).toEqual([[first, third], 2]);
    expect(await idsOf("?state=pending&size=1&page=2")).toEqual([[third], 2]);
    expect(await idsOf("?state=denied")).toEqual([[], 0]);
    for (const query of ["?size=201", "?page=0", "?state=asleep"])
      expect((await wire.get(`/sessions/${id}/tool_calls${query}`)).status).toBe(422);
  });

  it("shows what an approval was asked for and what it decided", async () => {
    const { id, calls } = await start();
    await query(
      `UPDATE tool_calls SET state = 'denied', approval_reason = 'It acts.', decision = 'deny',
              decision_message = 'No.', decided_by = 'ann', decided_at = now(), asked_args = '{"of":"\\u0000"}',
              settled_at = now(), settled_by = 'ann', reason = 'denied', deadline_at = now(), capability = 'actuator'
        WHERE id = $1`,
      calls[0].id,
    );
    const { items } = await list(id, "?state=denied");
    expect(items).toMatchObject([
      {
        capability: "actuator",
        settled_by: "ann",
        reason: "denied",
        deadline: expect.any(String),
        approval: {
          reason: "It acts.",
          decision: "deny",
          message: "No.",
          decided_by: "ann",
          decided_at: expect.any(String),
          asked_args: { of: "\u0000" },
        },
      },
    ]);
  });

  it("is refused when a page is more than one reply holds", async () => {
    const { id } = await start();
    await query(
      `UPDATE tool_calls SET args = json_build_object('x', repeat('x', 40000000)) WHERE session_id = $1`,
      id,
    );
    const reply = await wire.get(`/sessions/${id}/tool_calls`);
    expect([reply.status, reply.body.detail[0].type]).toEqual([422, "page_too_large"]);
    expect((await list(id, "?size=1&page=2")).total).toBe(3);
    await query("DELETE FROM sessions WHERE id = $1", id);
  });

  it("passes over calls by its index, in whatever session", async () => {
    const { id } = await start();
    const calls = `(session_id, id, step, position, tool_name, args, state)
      SELECT session_id, 'many_' || n, 2 + n / 3, n % 3, 'look', '{}', CASE WHEN n % 100 = 0 THEN 'denied' ELSE 'answered' END`;
    await query(
      `INSERT INTO tool_calls ${calls} FROM (SELECT $1::uuid AS session_id) AS one, generate_series(0, 399) AS n`,
      id,
    );
    await query(
      `WITH others AS (
         INSERT INTO sessions (id, organization_id, user_name, status, agent_name, request, agent, tools)
         SELECT gen_random_uuid(), organization_id, user_name, 'completed', 'x', '{}', '{}', '[]'
           FROM sessions, generate_series(1, 400) WHERE id = $1 RETURNING id AS session_id
       ) INSERT INTO tool_calls ${calls} FROM others, generate_series(0, 49) AS n`,
      id,
    );
    const client = new pg.Client({ connectionString: stack.databaseUrl });
    await client.connect();
    try {
      await client.query("VACUUM ANALYZE tool_calls");
      const recording = recordStatements();
      for (const query of ["", "?page=30&size=10", "?state=denied&size=2&page=2", "?state=pending"])
        expect((await wire.get(`/sessions/${id}/tool_calls${query}`)).status).toBe(200);
      recording.stop();
      const statements = recording.statements.filter(({ text }) => text.includes("FROM tool_calls"));
      expect(statements).toHaveLength(4);
      for (const [place, statement] of statements.entries()) {
        expect(await findSlowParts(client, statement)).toEqual([]);
        if (place > 1) continue;
        const { rows } = await client.query(`EXPLAIN ${statement.text}`, statement.values);
        const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
        expect(plan).toContain("Index Only Scan using tool_calls_session_id_step_position_id_idx");
      }
    } finally {
      await client.end();
    }
  });
});
