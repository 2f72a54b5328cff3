import { readdir, readFile } from "node:fs/promises";
import { createWaiters } from "@tandem/api/waiting/waiters";
import { sweepExpired } from "@tandem/engine/commands/sweep";
import { deleteExpiredSessions } from "@tandem/engine/postgres/delete-sessions";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase } from "../support/database.ts";
import { oneToolThenAnswer } from "../support/fake-model-server.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

const agent = { name: "x", tools: [weatherTool] };

describe.each(backends)("a session that has ended, with %s,", (backend) => {
  let stack: TestStack;
  let wire: Wire;

  beforeAll(async () => {
    const script = oneToolThenAnswer("get_weather", { city: "Paris" });
    stack = await startStack({ backend, script, env: { TANDEM_SWEEP_MS: "100" } });
    wire = createWire(stack.baseUrl, apiKey);
  });
  afterAll(() => stack.close());

  const query = async (text: string, ...values: unknown[]) =>
    (await stack.engine.pool.query(text, values)).rows;
  /** As if the session had ended so many minutes earlier than it did. */
  const age = (id: string, minutes: number) =>
    query(
      "UPDATE sessions SET finished_at = finished_at - $2 * interval '1 minute' WHERE id = $1",
      id,
      minutes,
    );
  const isGone = async (id: string) => (await wire.get(`/sessions/${id}/status`)).status === 404;
  const untilGone = (id: string) => waitFor(() => isGone(id), { what: "the session to be removed" });
  const end = async (request: object = {}) => {
    const id = await wire.create({ agent, messages: "Weather?", ...request });
    await wire.until(id, "awaiting_tool_results");
    const [call] = await wire.pending(id);
    await wire.post(`/sessions/${id}/tool_results`, resultFor(call as PendingCall, 18));
    await wire.until(id, "completed");
    return id;
  };
  /** Waits for a sweep that takes what is due at this moment: this session is the one that it begins with. */
  const sweepAll = async () => {
    const id = await end({ delete_after_min: 1 });
    await age(id, 1_000_000);
    await untilGone(id);
  };

  it("is removed with all that belongs to it after delete_after_min, and every route is 404", async () => {
    const id = await end({ delete_after_min: 5 });
    await wire.post(`/sessions/${id}/feedback`, { success: true });
    const { share_url: link } = (await wire.post(`/sessions/${id}/share`, undefined)).body;
    await query("INSERT INTO waiting_messages (session_id, message) VALUES ($1, '{}')", id);
    await age(id, 6);
    await untilGone(id);

    const tables = ["events", "tool_calls", "waiting_messages", "feedback"];
    for (const table of tables) {
      expect([table, await query(`SELECT 1 FROM ${table} WHERE session_id = $1`, id)]).toEqual([table, []]);
    }
    const message = { message: "Still there?" };
    const replies = [
      await wire.get(`/sessions/${id}`),
      await wire.send("DELETE", `/sessions/${id}`),
      await wire.get(`/sessions/${id}/changes?wait_for_seconds=20`),
      await wire.get(`/sessions/${id}/events`),
      await wire.post(`/sessions/${id}/messages`, message),
      await wire.post(`/sessions/${id}/tool_results`, { tool_req: { tool_name: "x", id: "x" }, result: 1 }),
      await wire.post(`/sessions/${id}/share`, undefined),
      await wire.send("DELETE", `/sessions/${id}/share`),
      await wire.post(`/sessions/${id}/feedback`, { success: true }),
      await wire.get(`/sessions/${id}/feedback`),
      await wire.send("PUT", `/sessions/${id}/events/0/feedback`, { body: { success: true } }),
      await wire.get(new URL(link).pathname),
    ];
    for (const reply of replies) expect([reply.status, reply.body.code]).toEqual([404, "session_not_found"]);
    expect(
      (await wire.get("/sessions?size=100")).body.items.map((item: { id: string }) => item.id),
    ).not.toContain(id);
  });

  it("is kept until its time is up, 30 days unless it says otherwise, and for good with null", async () => {
    const [short, usual, kept] = await Promise.all([
      end({ delete_after_min: 60 }),
      end(),
      end({ delete_after_min: null }),
    ]);
    await age(short, 59);
    await age(usual, 30 * 24 * 60 - 1);
    await age(kept, 1_000_000);
    await sweepAll();
    expect(await Promise.all([short, usual, kept].map(isGone))).toEqual([false, false, false]);
    await age(short, 2);
    await age(usual, 2);
    await Promise.all([untilGone(short), untilGone(usual)]);
    expect(await isGone(kept)).toBe(false);
  });

  it("is live again when a message restarts it, and its time counts from its next end", async () => {
    const id = await end({ delete_after_min: 5 });
    await age(id, 4);
    await wire.post(`/sessions/${id}/messages`, { message: "More." });
    await wire.until(id, "awaiting_tool_results", "completed");
    await wire.send("DELETE", `/sessions/${id}`);
    const [row] = await query(
      "SELECT delete_at - finished_at = interval '5 minutes' AND finished_at > now() - interval '1 minute' AS anew FROM sessions WHERE id = $1",
      id,
    );
    expect(row).toEqual({ anew: true });
    await sweepAll();
    expect(await isGone(id)).toBe(false);
  });

  it("gives a repeated create with its key a clear error, and no second run", async () => {
    const sent = {
      body: { agent, messages: "Weather?", delete_after_min: 1 },
      headers: { "idempotency-key": "k" },
    };
    const first = await wire.send("POST", "/sessions", sent);
    await wire.until(first.body.id, "awaiting_tool_results");
    await wire.send("DELETE", `/sessions/${first.body.id}`);
    expect((await wire.send("POST", "/sessions", sent)).body.id).toBe(first.body.id);
    await age(first.body.id, 2);
    await untilGone(first.body.id);
    const before = (await wire.get("/sessions")).body.total;
    const repeats = await Promise.all([1, 2, 3].map(() => wire.send("POST", "/sessions", sent)));
    for (const { status, body } of repeats) {
      expect([status, body.code]).toEqual([409, "session_deleted"]);
      expect(body.detail).toContain("use a new key");
    }
    const other = { ...sent, body: { ...sent.body, messages: "Else." } };
    expect((await wire.send("POST", "/sessions", other)).status).toBe(422);
    expect((await wire.get("/sessions")).body.total).toBe(before);
  });

  it.each([0, 2_147_483_648, 1.5, "5"])("cannot ask to be kept for %j minutes", async (minutes) => {
    const reply = await wire.post("/sessions", { agent, messages: "Hi", delete_after_min: minutes });
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0].loc).toEqual(["body", "delete_after_min"]);
  });

  it("can ask to be kept for 2,147,483,647 minutes", async () => {
    const id = await end({ delete_after_min: 2_147_483_647 });
    expect((await wire.get(`/sessions/${id}`)).body.request.delete_after_min).toBe(2_147_483_647);
  });
});

describe("the removal of sessions", () => {
  let stack: TestStack;
  let wire: Wire;

  beforeAll(async () => {
    // Nothing sweeps and nothing looks again by itself here.
    stack = await startStack({ worker: false, env: { TANDEM_SWEEP_MS: "3600000" } });
    wire = createWire(stack.baseUrl, apiKey);
  });
  afterAll(() => stack.close());

  const make = async () => {
    const id = await wire.create({ agent, messages: "Hi", delete_after_min: 1 });
    return { id, cursor: (await wire.get(`/sessions/${id}/changes`)).body.next_index as number };
  };
  const letExpire = (ids: string[]) =>
    stack.engine.pool.query(
      "UPDATE sessions SET finished_at = now() - interval '1 hour' WHERE id = ANY($1)",
      [ids],
    );
  const statusOf = async (id: string) => (await wire.get(`/sessions/${id}/status`)).status;

  it("passes over a session that somebody restarts at that moment, and takes the others", async () => {
    const [restarted, other] = [await make(), await make()];
    await letExpire([restarted.id, other.id]);
    const tx = await stack.engine.pool.connect();
    await tx.query("BEGIN");
    await tx.query("SELECT FROM sessions WHERE id = $1 FOR UPDATE", [restarted.id]);
    await sweepExpired(stack.engine);
    expect([await statusOf(restarted.id), await statusOf(other.id)]).toEqual([200, 404]);
    await tx.query("UPDATE sessions SET finished_at = NULL WHERE id = $1", [restarted.id]);
    await tx.query("COMMIT");
    tx.release();
    await sweepExpired(stack.engine);
    expect(await statusOf(restarted.id)).toBe(200);
  });

  it("takes 500 a sweep, the oldest first, and several sweeps at once take each session once", async () => {
    const { id } = await make();
    await stack.engine.pool.query(
      `INSERT INTO sessions (id, organization_id, user_name, status, agent_name, request, agent, tools,
                             delete_after_min, finished_at)
       SELECT gen_random_uuid(), organization_id, user_name, 'completed', 'many', request, agent, tools, 1,
              now() - interval '1 day' - n * interval '1 second'
         FROM sessions, generate_series(1, 1100) AS n WHERE id = $1`,
      [id],
    );
    const count = async () => {
      const { rows } = await stack.engine.pool.query(
        `SELECT count(*)::int AS count,
                bool_and(finished_at > now() - interval '1 day 15 minutes') AS "isYoung"
           FROM sessions WHERE agent_name = 'many'`,
      );
      return rows[0];
    };
    await sweepExpired(stack.engine);
    expect(await count()).toMatchObject({ count: 600, isYoung: true });
    await Promise.all([sweepExpired(stack.engine), sweepExpired(stack.engine)]);
    expect(await count()).toMatchObject({ count: 0 });
  });

  it("finds what is due by a range of an index, not by a look at every session that has ended", async () => {
    const client = await stack.engine.pool.connect();
    await client.query("SET enable_seqscan = off");
    let plan = "";
    const explain = async (text: string, values: unknown[]) => {
      const { rows } = await client.query(`EXPLAIN (FORMAT JSON) ${text}`, values);
      plan = JSON.stringify(rows);
      return { rows: [] };
    };
    await deleteExpiredSessions({ query: explain as never }, { limit: 50 });
    client.release(true);
    expect(plan).toMatch(/"Index Name":"sessions_delete_idx"[^{}]*"Index Cond":"\(delete_at < now\(\)\)"/);
  });

  it("wakes whoever waits for the session, and its poll ends with 404", async () => {
    const { id, cursor } = await make();
    const waiters = createWaiters(stack.engine, { sweepMs: 3_600_000 });
    const waiter = waiters.wait(id, cursor, 25_000);
    const poll = wire.get(`/sessions/${id}/changes?from_index=${cursor}&wait_for_seconds=25`);
    await letExpire([id]);
    await sweepExpired(stack.engine);
    expect(await waiter.ended).toBe("woken");
    waiters.shutdown();
    expect((await poll).status).toBe(404);
  });

  it("is found by whoever waits at the next look when the wake-up was lost", async () => {
    const { id, cursor } = await make();
    const waiters = createWaiters(stack.engine, { sweepMs: 50 });
    const waiter = waiters.wait(id.toUpperCase(), cursor, 25_000);
    await stack.engine.pool.query("DELETE FROM sessions WHERE id = $1", [id]);
    expect(await waiter.ended).toBe("woken");
    waiters.shutdown();
  });
});

describe("the migration", () => {
  it("gives earlier sessions the time that their request asked for, whatever else it holds", async () => {
    const database = await createTestDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      const [mine = "", ...earlier] = (await readMigrations()).reverse();
      await client.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
      for (const sql of earlier.reverse()) await client.query(sql);
      await client.query("INSERT INTO organizations (name) VALUES ('x')");
      const hostile = { note: '\u0000 \ud800 "delete_after_min":7 \\', "\\": "\\u0000\\" };
      const asked = [60, null, 43_200, 1e21];
      for (const [place, minutes] of asked.entries()) {
        const request = { ...hostile, delete_after_min: minutes, overrides: { delete_after_min: 3 } };
        await client.query(
          `INSERT INTO sessions (id, organization_id, user_name, status, agent_name, request, agent, tools, finished_at)
           SELECT gen_random_uuid(), id, 'u', 'completed', $1, $2, '{}', '[]', $3 FROM organizations`,
          [String(place), JSON.stringify(request), "2026-01-01T00:00:00Z"],
        );
      }
      await client.query(mine);
      const { rows } = await client.query(
        "SELECT delete_after_min AS minutes, delete_at AS at FROM sessions ORDER BY agent_name",
      );
      expect(rows.map(({ minutes }) => minutes)).toEqual([60, null, 43_200, 2_147_483_647]);
      expect(rows.map(({ at }) => at?.toISOString().slice(0, 16)).slice(0, 3)).toEqual([
        "2026-01-01T01:00",
        undefined,
        "2026-01-31T00:00",
      ]);
    } finally {
      await client.end();
      await database.drop();
    }
  });
});

/** The migrations' SQL up to and with the one of retention. */
async function readMigrations(): Promise<string[]> {
  const folder = new URL("../../prisma/migrations/", import.meta.url);
  const names = (await readdir(folder)).filter((name) => /^\d/.test(name)).sort();
  const last = names.findIndex((name) => name.endsWith("_sharing_feedback_retention"));
  const files = names.slice(0, last + 1).map((name) => new URL(`${name}/migration.sql`, folder));
  return Promise.all(files.map((file) => readFile(file, "utf8")));
}
