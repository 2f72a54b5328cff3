import type { NewEvent } from "../domain/events.ts";
import { type SessionMove, toSessionMove } from "../domain/session-move.ts";
import { isTerminal } from "../domain/session-state.ts";
import { type CallChange, type HashedCall, type NewCall, toOfferedTools } from "./call-changes.ts";
import type { Queryable } from "./pool.ts";
import { prepared } from "./prepared.ts";
import type { ClaimTerms } from "./session-assignments.ts";
import type { SessionPatch, SessionRow } from "./session-row.ts";
import { toUpdateStatement, type UpdatedRow } from "./update-statement.ts";

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
  claimed: ClaimedRow | null;
}

/** A row whose step was claimed. */
export interface ClaimedRow {
  worker: string;
  nextIndex: number;
  /** All of it, as JSON text; `toSessionRow` of its value is the row. */
  json: string;
}

/** The row whose step an update has claimed. */
export function toClaimed({ claimed }: WrittenChange): ClaimedRow {
  if (!claimed) throw new Error("A step was claimed for nobody.");
  return claimed;
}

/** What a session was like before a change. */
export type SessionBefore = Pick<
  SessionRow,
  "id" | "organizationId" | "status" | "stateMs" | "steps" | "runSteps" | "timerAt"
>;

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
 * @returns null when the row has changed, is gone, or is locked, or when a message waits that must not; nothing was
 *   written
 */
export async function updateUnchanged(
  db: Queryable,
  session: SessionRow,
  update: SessionUpdate,
): Promise<WrittenChange | null> {
  const values: unknown[] = [session.id, session.version];
  const { parts, text } = toUpdateStatement(update, session.steps, (value) => `$${values.push(value)}`);
  const { rows } = await db.query<UpdatedRow>(
    prepared(`WITH ${[toTarget(update), ...parts].join(",\n")}\n${text}`, values),
  );
  return rows[0] ? toWritten(session, update, rows[0]) : null;
}

/** Only a row of this version counts. */
const toTarget = ({ ifNoMessageWaits }: SessionUpdate) => `target AS MATERIALIZED (
  SELECT id AS target_id, organization_id AS target_organization_id, next_index AS start FROM sessions
   WHERE id = $1 AND xmin = $2::text::xid
     ${ifNoMessageWaits ? "AND NOT EXISTS (SELECT FROM waiting_messages WHERE session_id = $1)" : ""}
     FOR NO KEY UPDATE SKIP LOCKED)`;

/** What an update has made of a session. */
export function toWritten(session: SessionBefore, update: SessionUpdate, row: UpdatedRow): WrittenChange {
  const { at, delayMs, fence, version, claimed: json, worker, nextIndex } = row;
  const isTimerNew = at !== null && at.getTime() !== session.timerAt?.getTime();
  const toolNames = toOfferedTools(update);
  return {
    version,
    claimed: json === null || worker === null ? null : { worker, nextIndex, json },
    change: {
      sessionId: session.id,
      organizationId: session.organizationId,
      fence,
      // What is claimed already waits for no worker.
      due: update.claim ? null : toDueJob(update.due, row.dueInMs),
      timer: isTimerNew ? { at, delayMs } : null,
      isEnded: isTerminal(update.patch.status ?? session.status),
      move: toSessionMove(session, update.patch),
      ...(toolNames.length > 0 ? { offered: { toolNames, agentName: row.agentName } } : {}),
    },
  };
}

/** What is queued after a change: a step at once, or after a wait. */
function toDueJob(due: Due, dueInMs: number | null): SessionChange["due"] {
  if (due === "now") return "now";
  if (due === "resume") return dueInMs !== null && dueInMs > 0 ? { inMs: dueInMs } : "now";
  return typeof due === "object" && "inMs" in due ? due : null;
}
