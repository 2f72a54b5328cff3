// One walk through the state machine on a real database, and how each of its steps is compared with the model.
import type { ClaimedStep } from "@tandem/engine/commands/claim-step";
import type { Principal } from "@tandem/engine/domain/api-keys";
import { TandemError } from "@tandem/engine/domain/errors";
import { toWaitingOn } from "@tandem/engine/domain/waiting-on";
import type { Engine } from "@tandem/engine/engine";
import { readStatus } from "@tandem/engine/postgres/read-sessions";
import type fc from "fast-check";
import { expect } from "vitest";
import { type BareEngine, createBareSession } from "./bare-engine.ts";
import type { Expected, ModelCall, ModelSession, SessionOptions } from "./modelled-session.ts";
import type { Action } from "./session-actions.ts";
import { findSessionFaults, findSlotFaults } from "./session-invariants.ts";
import type { SessionModel } from "./session-model.ts";
import { TOOLSETS } from "./walk-tools.ts";

/** The engine's side of a walk. */
export interface Walk {
  bare: BareEngine;
  engine: Engine;
  principal: Principal;
  stranger: Principal;
  sessions: WalkSession[];
}

/** A session and its claims so far. */
export interface WalkSession {
  id: string;
  steps: ClaimedStep[];
}

/** A step of a walk. */
export type Command = fc.AsyncCommand<SessionModel, Walk>;

/** Creates a session as the model's does, with all that its calls need. */
export async function createReal(walk: Walk, options: SessionOptions): Promise<void> {
  const { idle, maxTime, maxSteps, queue } = options;
  const more = { idle_timeout_s: idle, max_time_s: maxTime, max_steps: maxSteps, queue };
  const id = await createBareSession(walk.engine, walk.principal, more, TOOLSETS.first);
  walk.sessions.push({ id, steps: [] });
}

/** Does something to one session, and compares. */
export async function run(
  model: SessionModel,
  walk: Walk,
  { place, action }: { place: number; action: Action },
): Promise<void> {
  const session = model.sessions[place] as ModelSession;
  const at = structuredClone(session);
  const expected = action.expected(model, session, at);
  const real = walk.sessions[place] as WalkSession;
  await compare({ model, walk, expected, place }, () => action.act(walk, real, at));
}

/** Lets time pass, for the model and for every session of the walk: their clocks are set back. */
export async function jumpClocks(model: SessionModel, walk: Walk, seconds: number): Promise<void> {
  model.now += seconds;
  const clocks = ["due_at", "held_due_at", "lease_until", "idle_until", "time_limit_at", "call_deadline_at"];
  const values = [walk.principal.organizationId, seconds];
  // Both at once: nobody may find a call's time over before its session's.
  await walk.engine.pool.query(
    `WITH earlier AS (
       UPDATE sessions SET ${clocks.map(toEarlier).join(", ")} WHERE organization_id = $1 RETURNING id
     )
     UPDATE tool_calls SET ${["deadline_at", "claimed_until"].map(toEarlier).join(", ")} FROM earlier
      WHERE session_id = earlier.id`,
    values,
  );
  await compareRows(model, walk);
}

const toEarlier = (column: string) => `${column} = ${column} - $2 * interval '1 second'`;

export interface Comparison {
  model: SessionModel;
  walk: Walk;
  expected: Expected;
  /** The session that the command is for; null for all of them. */
  place: number | null;
}

/** Does it, and compares the answer, all that is stored, and what always holds. */
export async function compare(
  { model, walk, expected, place }: Comparison,
  act: () => Promise<unknown>,
): Promise<void> {
  model.admit();
  walk.bare.woken.clear();
  const before = await readEverything(walk);
  const { error, result } = await settle(act());
  expect(error).toBe(expected.error);
  if (expected.result !== undefined) expect(result).toEqual(expected.result);
  const after = await readEverything(walk);
  if (expected.isSilent) expect(after.all).toBe(before.all);
  const changed = walk.sessions.filter(({ id }) => after.nextIndex.get(id) !== before.nextIndex.get(id));
  expect([...walk.bare.woken]).toEqual(expect.arrayContaining(changed.map(({ id }) => id)));
  await compareRows(model, walk);
  const looked = new Set([...changed, ...walk.sessions.filter((_, i) => i === place)]);
  for (const { id } of looked) expect(await findSessionFaults(walk.engine.pool, id)).toEqual([]);
  const { organizationId } = walk.principal;
  expect(await findSlotFaults(walk.engine.pool, organizationId, walk.engine.maxActiveSessions)).toEqual([]);
}

/** What became of a command: its result, or the code of its refusal. Any other error is thrown on. */
export async function settle(act: Promise<unknown>): Promise<{ error?: string; result?: unknown }> {
  try {
    return { result: await act };
  } catch (error) {
    if (error instanceof TandemError) return { error: error.code };
    throw error;
  }
}

/** A fingerprint of all that is stored for the organization, and the events that each session has. */
async function readEverything({ engine, principal }: Walk) {
  const { rows } = await engine.pool.query<{ id: string; nextIndex: number; text: string }>(
    `SELECT id, next_index AS "nextIndex", md5(concat(sessions.*::text,
            (SELECT string_agg(concat(index, type, data::text), ' ' ORDER BY index) FROM events WHERE session_id = sessions.id),
            (SELECT string_agg(tool_calls.*::text, ' ' ORDER BY id) FROM tool_calls WHERE session_id = sessions.id),
            (SELECT string_agg(waiting_messages.*::text, ' ' ORDER BY id) FROM waiting_messages
              WHERE session_id = sessions.id))) AS text
       FROM sessions WHERE organization_id = $1 ORDER BY id`,
    [principal.organizationId],
  );
  return {
    all: rows.map(({ text }) => text).join(),
    nextIndex: new Map(rows.map((row) => [row.id, row.nextIndex])),
  };
}

/** Compares every session's row and pending calls with the model, and the queue with what is due. */
export async function compareRows(model: SessionModel, walk: Walk): Promise<void> {
  const seen = await readRows(walk);
  expect(seen.map(({ row }) => row)).toEqual(model.sessions.map((session) => toRow(model, session)));
  const unqueued = seen.filter(
    ({ row, id, fence }) => row.isDue && !row.isHeld && !walk.bare.queued.has(`${id}.${fence}`),
  );
  expect(unqueued).toEqual([]);
}

/** What is stored of each session of a walk, in the model's terms. */
export async function readRows({ engine, principal: { organizationId }, sessions }: Walk) {
  const { rows } = await engine.pool.query(
    `SELECT id, fence, status, paused_from AS under, pause_requested AS "pauseRequested", last_step AS "lastStep",
            reason, due_at IS NOT NULL AS "isDue", lease_until IS NOT NULL AS "isHeld",
            queued_at IS NOT NULL AS "isQueued", idle_until IS NOT NULL AS "isIdling",
            time_limit_at IS NOT NULL AS "isTimed",
            ARRAY(SELECT concat_ws(' ', state, tool_name, args, decision, ${hundreds("deadline_at")},
                                   claimant, ${hundreds("claimed_until")})
                    FROM tool_calls WHERE session_id = sessions.id AND state <> 'refused'
                   ORDER BY step, position) AS calls,
            (SELECT array_agg(tool.value->>'description') FROM json_array_elements(tools) AS tool) AS tools,
            remembered_decisions AS remembered,
            (SELECT count(*)::int FROM waiting_messages WHERE session_id = sessions.id) AS waiting
       FROM sessions WHERE organization_id = $1`,
    [organizationId],
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return Promise.all(
    sessions.map(async (session) => {
      const { id, fence, ...row } = byId.get(session.id);
      const status = await readStatus(engine.pool, organizationId, id);
      const waiting = status && toWaitingOn(status);
      return { id, fence, row: { ...row, waitsOn: waiting?.what ?? null } };
    }),
  );
}

/** Seconds from now, in hundreds: whatever time a test takes, it is less. */
const hundreds = (column: string) => `ceil(extract(epoch FROM ${column} - clock_timestamp()) / 100)::int`;

/** A session of the model, as {@link readRows} gives it. */
export const toRow = (model: SessionModel, session: ModelSession) => ({
  status: session.status,
  under: session.under,
  pauseRequested: session.pauseRequested,
  lastStep: session.lastStep,
  reason: session.reason,
  isDue: session.dueAt !== null,
  isHeld: session.holder !== null,
  isQueued: session.queuedAt !== null,
  isIdling: session.idleUntil !== null,
  isTimed: session.limitAt !== null,
  calls: session.calls.map((call) => toCallText(call, model.now)),
  tools: TOOLSETS[session.tools].map(({ description }) => description),
  remembered: session.remembered,
  waiting: session.waiting,
  waitsOn: model.waitsOn(session),
});

function toCallText(call: ModelCall, now: number): string {
  const left = (until: number | null) => (until === null ? null : Math.ceil((until - now) / 100));
  const decision = toDecision(call);
  const { state, tool, args, deadline, claimant, claimedUntil } = call;
  const parts = [state, tool, args, decision, left(deadline), claimant, left(claimedUntil)];
  return parts.filter((part) => part !== null).join(" ");
}

function toDecision({ decided, onNobody }: ModelCall): string | null {
  if (decided === null) return null;
  return decided === "nobody" ? onNobody : JSON.parse(decided)[0];
}

export const keyOf = (walk: Walk, { id }: { id: string }) => ({
  organizationId: walk.principal.organizationId,
  sessionId: id,
});
