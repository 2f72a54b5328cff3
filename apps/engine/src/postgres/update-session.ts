import type { NewEvent } from "../domain/events.ts";
import { stringifyJson } from "../domain/json.ts";
import { type SessionMove, toSessionMove } from "../domain/session-move.ts";
import { isTerminal } from "../domain/session-state.ts";
import {
  type CallChange,
  type HashedCall,
  type NewCall,
  toCallParts,
  toOfferedTools,
} from "./call-changes.ts";
import type { Queryable } from "./pool.ts";
import { type AddValue, prepared } from "./prepared.ts";
import { type ClaimTerms, toAssignments } from "./session-assignments.ts";
import { SESSION_COLUMNS, type SessionPatch, type SessionRow, TIMER_AT } from "./session-row.ts";

/**
 * When the next step should run: at once, after a wait, not until something happens, or as it was. `hold` keeps the
 * moment for a `resume`: a wait that a model provider asked for is not cut short by a pause.
 */
export type Due = "now" | { inMs: number } | "not" | "unchanged" | "hold" | { holdInMs: number } | "resume";

/** A change of a session that is written as one statement. */
export interface SessionUpdate {
  patch: SessionPatch;
  events: NewEvent[];
  due: Due;
  /** Calls that the step asked for. */
  calls?: readonly NewCall[];
  /** Pending calls that are answered, with the hashes of their answers. */
  answered?: readonly HashedCall[];
  /** Whose key the answers came with. */
  answeredBy?: string;
  /** Calls that the server had settled, of which a first result came. */
  late?: readonly HashedCall[];
  /** What else becomes of calls. */
  changedCalls?: readonly CallChange[];
  /** Waiting messages that leave their place, as the events say. */
  takenMessages?: readonly string[];
  /** Holds only while no message waits: a process of the version before stores one without a change of the row. */
  ifNoMessageWaits?: boolean;
  /** Gives the step to a worker. */
  claim?: ClaimTerms;
  /** Ends the current worker's claim: its token fits no more. */
  releaseLease?: boolean;
  startedNow?: boolean;
  /** `now` ends the session; `restarted` reopens it, with all its time. */
  finished?: "now" | "restarted";
  /** The answer stays the latest one, and is no more the answer of the current run. */
  answerIsOld?: boolean;
  /** Sets what is left of the run's time, in milliseconds. */
  timeLeftMs?: number;
}

/** What others must hear of a change once it is committed. */
export interface SessionChange {
  sessionId: string;
  organizationId: string;
  /** The token that the next claim will supersede. */
  fence: number;
  /** When the next step should run, if this change has set that. */
  due: "now" | { inMs: number } | null;
  /** When something happens by itself, if this change has set that: the moment, and how far away it is. */
  timer: { at: Date; delayMs: number } | null;
  /** True when the session has ended, and its slot is free. */
  isEnded: boolean;
  /** How its state changed; null or absent when it did not. */
  move?: SessionMove | null;
  /** Tools whose calls wait for a result from now on, and the agent that asked; absent when there are none. */
  offered?: { toolNames: string[]; agentName: string };
}

/** A change that was written, and what it made of the row. */
export interface WrittenChange {
  change: SessionChange;
  version: string;
  /** The row as it is now, when the change has given the step to a worker; else null. */
  claimed: SessionRow | null;
}

/**
 * Changes a session whose row the caller has locked.
 *
 * @returns what to announce after the commit
 */
export async function updateSession(
  tx: Queryable,
  session: SessionRow,
  update: SessionUpdate,
): Promise<SessionChange> {
  const written = await updateUnchanged(tx, session, update);
  if (!written) throw new Error(`Session ${session.id} has changed under its lock.`);
  return written.change;
}

/**
 * Changes a session if it is as it was when it was read: its row, the calls, the messages and the events that belong to
 * it go into the database in one statement, so that none is ever seen without the others. The statement waits for no
 * lock, and outside of a transaction it is one of its own, committed when this resolves.
 *
 * @returns null when the row has changed, is gone, or is locked, or when a message waits that must not; nothing was written
 */
export async function updateUnchanged(
  db: Queryable,
  session: SessionRow,
  update: SessionUpdate,
): Promise<WrittenChange | null> {
  const { text, values } = toStatement(session, update);
  const { rows } = await db.query<UpdatedRow>(prepared(text, values));
  const [row] = rows;
  if (!row) return null;
  const isTimerNew = row.at !== null && row.at.getTime() !== session.timerAt?.getTime();
  const toolNames = toOfferedTools(update);
  const change: SessionChange = {
    sessionId: session.id,
    organizationId: session.organizationId,
    fence: session.fence + (update.releaseLease ? 1 : 0) + (update.claim ? 1 : 0),
    // What is claimed already waits for no worker.
    due: update.claim ? null : toDueJob(update.due, row.dueInMs),
    timer: isTimerNew && row.at !== null ? { at: row.at, delayMs: row.delayMs } : null,
    isEnded: isTerminal(update.patch.status ?? session.status),
    move: toSessionMove(session, update.patch),
    ...(toolNames.length > 0 ? { offered: { toolNames, agentName: row.agentName } } : {}),
  };
  const { at: _at, delayMs: _delayMs, dueInMs: _dueInMs, agentName: _agentName, ...claimed } = row;
  return { change, version: row.version, claimed: update.claim ? (claimed as SessionRow) : null };
}

/** What an update tells of the row: all of it to those that claim it. */
type UpdatedRow = Partial<SessionRow> & {
  version: string;
  at: Date | null;
  delayMs: number;
  dueInMs: number | null;
  agentName: string;
};

/** Only a row of this version counts, and the events' indexes come from it. */
const toTarget = ({ ifNoMessageWaits }: SessionUpdate) => `target AS MATERIALIZED (
  SELECT id AS target_id, organization_id AS target_organization_id, next_index AS start FROM sessions
   WHERE id = $1 AND xmin = $2::text::xid
     ${ifNoMessageWaits ? "AND NOT EXISTS (SELECT FROM waiting_messages WHERE session_id = $1)" : ""}
     FOR NO KEY UPDATE SKIP LOCKED)`;

function toStatement(session: SessionRow, update: SessionUpdate): { text: string; values: unknown[] } {
  const values: unknown[] = [session.id, session.version];
  const add = (value: unknown) => `$${values.push(value)}`;
  const assignments = toAssignments(update, add);
  const parts = [toTarget(update)];
  if (update.events.length > 0) {
    assignments.push(`next_index = next_index + ${add(update.events.length)}::int`);
    parts.push(`appended AS (${toEventsInsert(update.events, add)})`);
  }
  parts.push(...toCallParts(update, session.steps, add));
  if (update.takenMessages?.length) parts.push(`taken AS (${toTaken(update.takenMessages, add)})`);
  const text = `WITH ${parts.join(",\n")}
    UPDATE sessions SET ${["last_activity_at = clock_timestamp()", ...assignments].join(", ")}
      FROM target WHERE id = target_id
    RETURNING ${update.claim ? SESSION_COLUMNS : "xmin::text AS version"}, agent_name AS "agentName", ${TIMER_AT} AS at,
              (extract(epoch FROM ${TIMER_AT} - clock_timestamp()) * 1000)::float8 AS "delayMs",
              (extract(epoch FROM due_at - clock_timestamp()) * 1000)::float8 AS "dueInMs"`;
  return { text, values };
}

function toEventsInsert(events: readonly NewEvent[], add: AddValue): string {
  const types = add(events.map((event) => event.type));
  const data = add(events.map((event) => stringifyJson(event.data)));
  const internal = add(events.map((event) => (event.internal ? stringifyJson(event.internal) : null)));
  return `INSERT INTO events (session_id, index, type, data, internal)
    SELECT target_id, start + event.position - 1, event.type, event.data::json, event.internal::json
      FROM target, unnest(${types}::text[], ${data}::text[], ${internal}::text[])
           WITH ORDINALITY AS event (type, data, internal, position)`;
}

function toTaken(ids: readonly string[], add: AddValue): string {
  return `DELETE FROM waiting_messages USING target
    WHERE session_id = target_id AND waiting_messages.id = ANY(${add(ids)}::bigint[])`;
}

/** What is queued after a change: a step at once, or after a wait. */
function toDueJob(due: Due, dueInMs: number | null): SessionChange["due"] {
  if (due === "now") return "now";
  if (due === "resume") return dueInMs !== null && dueInMs > 0 ? { inMs: dueInMs } : "now";
  return typeof due === "object" && "inMs" in due ? due : null;
}
