import { sendMessages } from "@tandem/engine/commands/send-messages";
import { sweepExpired } from "@tandem/engine/commands/sweep";
import { removeContent } from "@tandem/engine/postgres/remove-content";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { userMessage } from "../support/bare-engine.ts";
import { lastToolResults } from "../support/fake-model-server.ts";
import { openLocks } from "../support/row-lock.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, type PendingCall, resultFor, type Wire } from "../support/wire.ts";

/** In everything that a session holds. */
const secret = "s3cret-of-the-session";
const tool = {
  name: `look_${secret.replaceAll("-", "_")}`,
  description: secret,
  title: secret,
  input_schema: { type: "object", properties: { of: { type: "string", description: secret } } },
  examples: [{ of: secret }],
};
const agent = {
  name: "keeper",
  description: secret,
  instructions: secret,
  tools: [tool],
  skills: [{ name: "s", description: secret, body: secret }],
};
const request = {
  agent,
  messages: [`First, with \u0000: ${secret}`, `Second: ${secret}`].map((message) => ({ message })),
  overrides: { "agent.instructions": `Mine: ${secret}` },
  system_prompt: secret,
  ephemeral: true,
  max_steps: 20,
  max_time_s: 3_600,
  tool_timeout_s: 600,
  group_id: "group",
};

let stack: TestStack;
let wire: Wire;

beforeAll(async () => {
  // No sweep but the test's own.
  stack = await startStack({
    script: (asked) =>
      lastToolResults(asked).length > 0
        ? { text: `Done: ${secret}` }
        : { toolCalls: [{ name: tool.name, arguments: { of: secret } }] },
    env: { TANDEM_SWEEP_MS: "3600000" },
  });
  wire = createWire(stack.baseUrl, apiKey);
});
afterAll(() => stack.close());

const query = async (text: string, ...values: unknown[]) =>
  (await stack.engine.pool.query(text, values)).rows;
const sweep = () => sweepExpired(stack.engine);
/** As if the session had ended so many seconds ago. */
const age = (id: string, seconds: number) =>
  query(`UPDATE sessions SET finished_at = now() - $2 * interval '1 s' WHERE id = $1`, id, seconds);
const isPurged = async (id: string) =>
  (await query("SELECT purged_at FROM sessions WHERE id = $1", id))[0].purged_at !== null;

/** Runs a session to its end, with something in every place that can hold content. */
async function run(more: object = {}, headers: Record<string, string> = {}): Promise<string> {
  const { body } = await wire.send("POST", "/sessions", { body: { ...request, ...more }, headers });
  const { id } = body;
  await wire.until(id, "awaiting_tool_results");
  const [call] = (await wire.pending(id)) as [PendingCall];
  await wire.post(`/sessions/${id}/tool_results`, resultFor(call, { said: secret }));
  await wire.until(id, "completed");
  return id;
}

/** All tables that hold a text somewhere. */
async function findText(text: string): Promise<string[]> {
  const columns = await query(
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
      WHERE table_schema = 'public' AND data_type IN ('text', 'json', 'jsonb', 'ARRAY', 'character varying')`,
  );
  expect(columns.length).toBeGreaterThan(40);
  const found: string[] = [];
  for (const { table, column } of columns) {
    const sql = `SELECT count(*)::int AS n FROM "${table}" WHERE strpos("${column}"::text, $1) > 0`;
    const [row] = await query(sql, text);
    if (row.n > 0) found.push(`${table}.${column}`);
  }
  return found;
}

describe("an ephemeral session", () => {
  it("leaves nothing of its content in the database, and what it leaves is its status", async () => {
    const key = { "idempotency-key": "once" };
    const id = await run({}, key);
    const { token } = (await wire.post(`/sessions/${id}/tokens`, { tools: [tool.name], expires_in_s: 600 }))
      .body;
    const { share_url: link } = (await wire.post(`/sessions/${id}/share`, undefined)).body;
    await wire.post(`/sessions/${id}/feedback`, { success: true, message: secret });
    await query(
      "INSERT INTO waiting_messages (session_id, message) VALUES ($1, $2)",
      id,
      JSON.stringify({ secret }),
    );
    await query(
      `UPDATE sessions SET error = $2, previous_answer = to_json($2::text),
              remembered_decisions = json_build_object($2::text, 1)
        WHERE id = $1`,
      id,
      secret,
    );
    await query(
      `UPDATE tool_calls SET claimant = $2, decision_message = $2, reason = $2, asked_args = to_json($2::text)
        WHERE session_id = $1`,
      id,
      secret,
    );
    await query("UPDATE events SET internal = to_json($2::text) WHERE session_id = $1", id, secret);
    const inPlaces = await findText(secret);
    for (const place of [
      "request",
      "agent",
      "tools",
      "first_message",
      "first_text",
      "answer",
      "answer_text",
      "error",
    ])
      expect(inPlaces).toContain(`sessions.${place}`);
    expect(inPlaces).toEqual(expect.arrayContaining(["events.data", "tool_calls.args", "feedback.message"]));
    const before = (await wire.get(`/sessions/${id}`)).body;
    const { next_index: nextIndex } = (await wire.get(`/sessions/${id}/changes`)).body;

    await age(id, 61);
    await sweep();
    expect(await findText(secret)).toEqual([]);
    expect(await findText(tool.name)).toEqual([]);
    for (const table of ["events", "tool_calls", "waiting_messages", "feedback"])
      expect(await query(`SELECT 1 FROM ${table} WHERE session_id = $1`, id)).toEqual([]);

    const after = (await wire.get(`/sessions/${id}`)).body;
    const limits = { ...before.request, agent: "keeper", messages: null, overrides: {} };
    delete limits.system_prompt;
    expect(after).toEqual({
      ...before,
      finished_at: after.finished_at,
      request: limits,
      latest_answer: null,
      status: { ...before.status, error: null },
    });
    expect(after.request).toMatchObject({
      max_steps: 20,
      max_time_s: 3_600,
      group_id: "group",
      ephemeral: true,
    });
    expect((await wire.get(`/sessions/${id}/status`)).body).toEqual(after.status);
    expect(await wire.get(`/sessions/${id}/changes`)).toMatchObject({
      status: 200,
      body: {
        status: "completed",
        new_events: [],
        answer: null,
        error: null,
        reason: "answered",
        has_more: false,
      },
    });
    expect(
      (await wire.get(`/sessions/${id}/changes?from_index=${nextIndex}&wait_for_seconds=20`)).status,
    ).toBe(204);
    expect((await wire.get(`/sessions/${id}/stream`)).status).toBe(204);
    for (const path of ["events", "events?sort=-timestamp&page=2", "events?type=AgentEvent", "tool_calls"])
      expect((await wire.get(`/sessions/${id}/${path}`)).body).toMatchObject({ items: [], total: 0 });
    expect((await wire.get(`/sessions/${id}/feedback`)).body.items).toEqual([]);
    expect((await wire.get(new URL(link).pathname)).status).toBe(404);
    const { items } = (await wire.get("/sessions")).body;
    expect(items.find((item: { id: string }) => item.id === id)).toMatchObject({
      agent: "keeper",
      first_message: null,
      anonymized_at: expect.stringMatching(/Z$/),
    });
    expect((await wire.get(`/sessions?search=${secret}`)).body.items).toEqual([]);
    // What was made for it still says how it ended, and no more.
    const browser = createWire(stack.baseUrl, token);
    expect((await browser.get(`/sessions/${id}/status`)).body.status).toBe("completed");
    const again = await wire.send("POST", "/sessions", { body: request, headers: key });
    expect([again.status, again.body]).toEqual([201, after]);
  });

  it("takes nothing that needs its content any more", async () => {
    const id = await run();
    await age(id, 61);
    await sweep();
    const replies = [
      await wire.post(`/sessions/${id}/messages`, { message: "Again?" }),
      await wire.post(`/sessions/${id}/feedback`, { success: true }),
      await wire.send("PUT", `/sessions/${id}/events/0/feedback`, { body: { success: true } }),
      await wire.post(`/sessions/${id}/share`, undefined),
      await wire.post(`/sessions/${id}/tokens`, { expires_in_s: 60 }),
    ];
    for (const { status, body } of replies) expect([status, body.code]).toEqual([409, "content_removed"]);
    for (const path of ["pause", "resume", "force_answer"])
      expect((await wire.post(`/sessions/${id}/${path}`, undefined)).body.code).toBe("session_finished");
    for (const path of ["", "/share"])
      expect((await wire.send("DELETE", `/sessions/${id}${path}`)).status).toBe(204);
    expect((await wire.get(`/sessions/${id}/status`)).body.status).toBe("completed");
  });

  it("keeps all for a minute after its end, and whatever it is while it lives", async () => {
    const ended = await run();
    const live = await wire.create(request);
    await wire.until(live, "awaiting_tool_results");
    await age(ended, 55);
    await sweep();
    for (const id of [ended, live]) {
      expect(await isPurged(id)).toBe(false);
      expect((await wire.get(`/sessions/${id}/events`)).body.total).toBeGreaterThan(0);
    }
  });

  it("is one where its agent says so, unless its request says otherwise", async () => {
    await wire.post("/agents", { name: "forgetful", description: "d", tools: [tool], ephemeral: true });
    const forgotten = await run({ agent: "forgetful", ephemeral: undefined });
    const kept = await run({ agent: "forgetful", ephemeral: false });
    const plain = await run({ ephemeral: undefined });
    for (const id of [forgotten, kept, plain]) await age(id, 1_000);
    await sweep();
    expect(await Promise.all([forgotten, kept, plain].map(isPurged))).toEqual([true, false, false]);
    expect((await wire.get(`/sessions/${forgotten}`)).body.request).toMatchObject({
      agent: "forgetful",
      ephemeral: true,
    });
  });

  it("that was cancelled before it began is emptied as well", async () => {
    const quiet = await startStack({ worker: false });
    try {
      const there = createWire(quiet.baseUrl, apiKey);
      const id = await there.create(request);
      await there.send("DELETE", `/sessions/${id}`);
      await quiet.engine.pool.query("UPDATE sessions SET finished_at = now() - interval '1 hour'");
      await sweepExpired(quiet.engine);
      expect((await there.get(`/sessions/${id}`)).body).toMatchObject({
        status: { status: "interrupted" },
        request: { messages: null },
      });
    } finally {
      await quiet.close();
    }
  });

  it("wakes whoever waits for it", async () => {
    const id = await run();
    await age(id, 61);
    const woken: string[] = [];
    const stop = stack.engine.wake.subscribe((sessionId) => void woken.push(sessionId));
    await sweep();
    await waitFor(() => woken.includes(id), { what: "the wake-up" });
    stop();
  });

  it("with a long history is emptied by itself, and the next one after it", async () => {
    const ids = [await run(), await run()];
    for (const [place, id] of ids.entries()) {
      await age(id, 100 - place);
      await query("UPDATE sessions SET next_index = 60000 WHERE id = $1", id);
    }
    for (const id of ids) expect(await removeContent(stack.engine.pool, { limit: 50 })).toEqual([id]);
    expect(await removeContent(stack.engine.pool, { limit: 50 })).toEqual([]);
  });

  it("is deleted in its time like any other", async () => {
    const id = await run({ delete_after_min: 1 });
    await age(id, 61);
    await removeContent(stack.engine.pool, { limit: 50 });
    expect(await isPurged(id)).toBe(true);
    await sweep();
    expect((await wire.get(`/sessions/${id}`)).status).toBe(404);
  });
});

describe("a message to an ephemeral session at the moment of its removal", () => {
  const message = { message: `Again: ${secret}` };

  it("that comes first restarts it with all its history", async () => {
    const id = await run();
    await age(id, 61);
    expect((await wire.post(`/sessions/${id}/messages`, message)).status).toBe(202);
    await sweep();
    expect(await isPurged(id)).toBe(false);
    await wire.until(id, "awaiting_tool_results");
    expect((await wire.get(`/sessions/${id}/events`)).text).toContain("Second:");
    await wire.send("DELETE", `/sessions/${id}`);
    await sweep();
    expect(await isPurged(id)).toBe(false);
    await age(id, 61);
    await sweep();
    expect(await isPurged(id)).toBe(true);
  });

  it("that holds its row is not waited for, and the next sweep decides anew", async () => {
    const id = await run();
    await age(id, 61);
    const locks = await openLocks(stack.databaseUrl);
    try {
      const held = await locks.holdSession(id);
      await sweep();
      await held.release();
      expect(await isPurged(id)).toBe(false);
      await sweep();
      expect(await isPurged(id)).toBe(true);
    } finally {
      await locks.close();
    }
  });

  it("is either refused or keeps everything, whoever is first", async () => {
    for (let round = 0; round < 10; round++) {
      const id = await run();
      await age(id, 61);
      const { organizationId } = await stack.engine.catalogue.session.findUniqueOrThrow({ where: { id } });
      const key = { organizationId, sessionId: id };
      const [sent] = await Promise.allSettled([
        sendMessages(stack.engine, { ...key, messages: [userMessage(secret)] }),
        sweep(),
        wire.post(`/sessions/${id}/feedback`, { success: true, message: secret }),
        wire.post(`/sessions/${id}/share`, undefined),
        wire.post(`/sessions/${id}/tokens`, { tools: [tool.name], expires_in_s: 60 }),
      ]);
      await sweep();
      const wasSent = sent?.status === "fulfilled";
      expect(await isPurged(id)).toBe(!wasSent);
      const { total } = (await wire.get(`/sessions/${id}/events`)).body;
      if (wasSent) expect(total).toBeGreaterThan(8);
      else {
        expect((sent as PromiseRejectedResult).reason).toMatchObject({ code: "content_removed" });
        expect(total).toBe(0);
        const [left] = await query(
          `SELECT share_token AS link, (SELECT count(*)::int FROM feedback WHERE session_id = $1) AS feedback,
                  (SELECT count(*)::int FROM waiting_messages WHERE session_id = $1) AS messages,
                  (SELECT count(*)::int FROM session_tokens WHERE session_id = $1 AND tools::text <> '[]') AS tokens
             FROM sessions WHERE id = $1`,
          id,
        );
        expect(left).toEqual({ link: null, feedback: 0, messages: 0, tokens: 0 });
      }
      await wire.send("DELETE", `/sessions/${id}`);
      await query("DELETE FROM sessions WHERE id = $1", id);
    }
  });

  it("finds whatever waits for the removal refused after it, and nothing of it is left", async () => {
    const id = await run();
    const locks = await openLocks(stack.databaseUrl);
    try {
      // As a removal does it: the row is locked, and then marked.
      const held = await locks.hold(
        `WITH locked AS (SELECT id FROM sessions WHERE id = $1 FOR UPDATE)
         UPDATE sessions SET purged_at = now() FROM locked WHERE sessions.id = locked.id`,
        [id],
      );
      const late = [
        wire.post(`/sessions/${id}/feedback`, { success: true, message: secret }),
        wire.post(`/sessions/${id}/share`, undefined),
        wire.post(`/sessions/${id}/tokens`, { tools: [tool.name], expires_in_s: 60 }),
        wire.post(`/sessions/${id}/messages`, message),
      ];
      await waitFor(async () => (await held.countWaiters()) === 4, { what: "all of them to wait" });
      await held.release();
      for (const { status, body } of await Promise.all(late))
        expect([status, body.code]).toEqual([409, "content_removed"]);
      for (const table of ["feedback", "session_tokens", "waiting_messages"])
        expect(await query(`SELECT 1 FROM ${table} WHERE session_id = $1`, id)).toEqual([]);
    } finally {
      await locks.close();
    }
  });
});
