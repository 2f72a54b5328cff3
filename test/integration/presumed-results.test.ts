// Results that are settled on a presumption, by one statement: that their calls are all that the session waits for.
// Where it does not hold, the same statement has read the session, and what comes of it is what comes of it anyway.
import { pauseSession } from "@tandem/engine/commands/pause-session";
import { sendMessages } from "@tandem/engine/commands/send-messages";
import type { JsonObject } from "@tandem/engine/domain/json";
import { expect, it } from "vitest";
import { type AskedSession, type PostOptions, postAll, useAskedSessions } from "../support/asked-session.ts";
import { userMessage } from "../support/bare-engine.ts";

const sessions = useAskedSessions();
const { ask } = sessions;

/** Posts, and leaves no place reserved. */
async function post(asked: Pick<AskedSession, "key" | "calls">, options: PostOptions = {}) {
  const { placesLeft, ...posted } = await postAll(sessions.bare, asked, options);
  expect(placesLeft).toBe(0);
  return posted;
}

const query = (text: string, values: unknown[]) => sessions.bare.engine.pool.query(text, values);

const eventsOf = async ({ sessionId }: AskedSession) => {
  const { rows } = await query("SELECT index, data FROM events WHERE session_id = $1 ORDER BY index", [
    sessionId,
  ]);
  return rows as { index: number; data: { kind?: string; state?: string; tool_req?: object } }[];
};

it.each([1, 3])(
  "%i calls that are all that is waited for are settled and the step is claimed by one",
  async (n) => {
    const asked = await ask(n);
    const before = (await eventsOf(asked)).length;
    const { result, count, given } = await post(asked);
    const receipts = asked.calls.map(({ id }) => ({ id, status: "accepted" }));
    expect(result).toEqual({ receipts, pending: [], resumed: true });
    expect(count).toBe(1);
    expect(given).toMatchObject([
      { worker: "in-turn", assignment: { sessionId: asked.sessionId, fence: 3 } },
    ]);
    const { rows } = await query(
      "SELECT status, fence, worker, lease_until > now() AS held, next_index FROM sessions WHERE id = $1",
      [asked.sessionId],
    );
    expect(rows).toEqual([
      { status: "running", fence: 3, worker: "in-turn", held: true, next_index: before + n + 1 },
    ]);
    const events = await eventsOf(asked);
    expect(events.map(({ index }) => index)).toEqual(events.map((_, index) => index));
    expect(events.slice(before).map(({ data }) => data.tool_req ?? data.state)).toEqual([
      ...asked.calls,
      "running",
    ]);
  },
);

it("a session stays with the worker of its last step while that is among the preferred", async () => {
  const stays = await post(await ask(), { preferred: ["other", "asked-before"] });
  const moves = await post(await ask(), { preferred: ["other"] });
  expect([stays.given[0]?.worker, moves.given[0]?.worker]).toEqual(["asked-before", "in-turn"]);
});

/** What lets the presumption fail, and what the post then comes to: as without it. */
const surprises: {
  when: string;
  arrange: (asked: AskedSession) => Promise<unknown>;
  calls?: number;
  posts?: (asked: AskedSession) => AskedSession["calls"];
  args?: JsonObject;
  expected: object;
  isGiven?: boolean;
  statements?: number;
}[] = [
  {
    when: "another call is open",
    arrange: async () => undefined,
    ...{ calls: 2, posts: ({ calls }) => calls.slice(0, 1) },
    expected: { receipts: [{ status: "accepted" }], resumed: false },
  },
  {
    when: "a call waits for an approval",
    arrange: ({ calls }) =>
      query("UPDATE tool_calls SET state = 'awaiting_approval' WHERE id = $1", [calls[1]?.id]),
    ...{ calls: 2, posts: ({ calls }) => calls.slice(0, 1) },
    expected: { receipts: [{ status: "accepted" }], pending: [], resumed: false },
  },
  {
    when: "a message waits",
    arrange: ({ key }) =>
      sendMessages(sessions.bare.engine, { ...key, messages: [userMessage("And Rome?")] }),
    expected: { receipts: [{ status: "accepted" }], resumed: true },
  },
  {
    when: "the session is paused",
    arrange: ({ key }) => pauseSession(sessions.bare.engine, key),
    expected: { receipts: [{ status: "accepted" }], resumed: false },
  },
  {
    when: "a pause was asked for",
    arrange: ({ sessionId }) =>
      query("UPDATE sessions SET pause_requested = true WHERE id = $1", [sessionId]),
    expected: { receipts: [{ status: "accepted" }], resumed: true },
  },
  {
    when: "its time is over",
    arrange: ({ sessionId }) =>
      query("UPDATE sessions SET time_limit_at = now() - interval '1 s' WHERE id = $1", [sessionId]),
    expected: { receipts: [{ status: "accepted" }], resumed: true },
  },
  {
    when: "other arguments are told than the call has",
    arrange: async () => undefined,
    args: { city: "Rome" },
    expected: { receipts: [{ status: "accepted" }], resumed: true },
    isGiven: true,
  },
  {
    when: "the call's arguments were edited",
    arrange: ({ calls }) => query("UPDATE tool_calls SET asked_args = args WHERE id = $1", [calls[0]?.id]),
    expected: { receipts: [{ status: "accepted" }], resumed: true },
    isGiven: true,
  },
  {
    when: "its result may have to be cut",
    arrange: ({ calls }) =>
      query("UPDATE tool_calls SET max_result_tokens = 1 WHERE id = $1", [calls[0]?.id]),
    expected: { receipts: [{ status: "accepted" }], resumed: true },
    isGiven: true,
  },
  {
    when: "the result has been posted before",
    arrange: (asked) => post(asked),
    expected: { receipts: [{ status: "duplicate" }], resumed: false },
    statements: 1,
  },
  {
    when: "the call is of another tool",
    arrange: async () => undefined,
    posts: ({ calls }) => calls.map((call) => ({ ...call, tool_name: "find" })),
    expected: { code: "invalid_request" },
    statements: 1,
  },
  {
    when: "there is no such call",
    arrange: async () => undefined,
    posts: () => [{ id: "call_none", tool_name: "look", args: {} }],
    expected: { code: "calls_unknown" },
    statements: 1,
  },
  {
    when: "the session has ended",
    arrange: ({ sessionId }) =>
      query("UPDATE sessions SET status = 'interrupted' WHERE id = $1", [sessionId]),
    expected: { code: "session_finished" },
    statements: 1,
  },
  {
    when: "the session is another organization's",
    arrange: async ({ sessionId }) => {
      const { organizationId } = await sessions.bare.addOrganization("foreign");
      return query("UPDATE sessions SET organization_id = $2 WHERE id = $1", [sessionId, organizationId]);
    },
    expected: { code: "session_not_found" },
    statements: 1,
  },
];

it.each(surprises)("when $when, nothing is presumed", async (surprise) => {
  const { arrange, calls, posts, args, expected, isGiven = false, statements = 2 } = surprise;
  const asked = await ask(calls);
  await arrange(asked);
  const { result, count, given } = await post(
    { ...asked, ...(posts ? { calls: posts(asked) } : {}) },
    { args },
  );
  expect(result).toMatchObject(expected);
  expect(given).toHaveLength(isGiven ? 1 : 0);
  expect(count).toBe(statements);
  // The call's own arguments enter the history, whatever was told.
  const results = (await eventsOf(asked)).filter(({ data }) => data.kind === "tool_result");
  for (const { data } of results) expect(data.tool_req).toEqual(asked.calls[0]);
});

it("of many who post the same at once one settles it, and the step is given once", async () => {
  for (let round = 0; round < 10; round++) {
    const asked = await ask(2);
    const posted = await Promise.all(Array.from({ length: 8 }, () => post(asked)));
    expect(posted.flatMap(({ given }) => given)).toHaveLength(1);
    const statuses = posted.map(
      ({ result }) => (result as { receipts: { status: string }[] }).receipts[0]?.status,
    );
    expect(statuses.sort()).toEqual(["accepted", ...Array.from({ length: 7 }, () => "duplicate")]);
    const results = (await eventsOf(asked)).filter(({ data }) => data.kind === "tool_result");
    expect(results).toHaveLength(2);
  }
});

it("of a long body nothing is presumed, so that it goes to the database once", async () => {
  const { result, count, given } = await post(await ask(), { text: "x".repeat(70_000) });
  expect(result).toMatchObject({ receipts: [{ status: "accepted" }], resumed: true });
  expect([count, given.length]).toEqual([2, 1]);
});

it("of a body with a call that waits for an approval, that call is not settled", async () => {
  const asked = await ask(2);
  await query("UPDATE tool_calls SET state = 'awaiting_approval' WHERE id = $1", [asked.calls[1]?.id]);
  const { result } = await post(asked);
  const receipts = [{ status: "accepted" }, { status: "approval_required" }];
  expect(result).toMatchObject({ receipts, pending_approvals: [asked.calls[1]?.id], resumed: false });
  expect((await eventsOf(asked)).filter(({ data }) => data.kind === "tool_result")).toHaveLength(1);
});

it("of a body with a call that is not known, the known one is settled", async () => {
  const asked = await ask();
  const calls = [...asked.calls, { id: "call_none", tool_name: "look", args: {} }];
  const { result, given } = await post({ ...asked, calls });
  expect(result).toMatchObject({ receipts: [{ status: "accepted" }, { status: "unknown" }], resumed: true });
  expect(given).toHaveLength(1);
});

it("when the connection breaks after the commit, the step is abandoned under the token that it has then", async () => {
  const asked = await ask();
  const { pool } = sessions.bare.engine;
  const breaks = async (...args: unknown[]) => {
    const result = await (pool.query as (...args: unknown[]) => Promise<{ rows: { claimed?: string }[] }>)(
      ...args,
    );
    if (result.rows[0]?.claimed) throw new Error("Connection terminated unexpectedly");
    return result;
  };
  const breaking = new Proxy(pool, {
    get: (target, name) => (name === "query" ? breaks.bind(target) : Reflect.get(target, name)),
  });
  const { given, abandoned } = await post(asked, { pool: breaking });
  expect([given, abandoned]).toEqual([[], [{ sessionId: asked.sessionId, fence: 3 }]]);
  expect((await post(asked)).result).toMatchObject({ receipts: [{ status: "duplicate" }] });
});
