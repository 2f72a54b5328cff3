import type pg from "pg";
import type { NewEvent } from "../domain/events.ts";
import { isTerminal } from "../domain/session-state.ts";
import { toText } from "../domain/text.ts";
import { toClockAssignments } from "./session-clocks.ts";
import { type SessionPatch, type SessionRow, TIMER_AT } from "./session-row.ts";

/** When the next step should run: at once, after a wait, not until something happens, or as it was. */
export type Due = "now" | { inMs: number } | "not" | "unchanged";

/** A change of a session that is written as one statement. */
export interface SessionUpdate {
  patch: SessionPatch;
  events: NewEvent[];
  due: Due;
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
  due: Due;
  /** When something happens by itself, in milliseconds from now, if this change has set that; null when not. */
  timerInMs: number | null;
  /** True when the session has ended, and its slot is free. */
  isEnded: boolean;
}

/** How each field of a patch is stored. */
const COLUMNS: Record<keyof SessionPatch, { column: string; isJson: boolean }> = {
  status: { column: "status", isJson: false },
  pausedFrom: { column: "paused_from", isJson: false },
  pauseRequested: { column: "pause_requested", isJson: false },
  lastStep: { column: "last_step", isJson: false },
  steps: { column: "steps", isJson: false },
  runSteps: { column: "run_steps", isJson: false },
  runTokens: { column: "run_tokens", isJson: false },
  corrections: { column: "corrections", isJson: false },
  nudges: { column: "nudges", isJson: false },
  uselessSteps: { column: "useless_steps", isJson: false },
  modelFailures: { column: "model_failures", isJson: false },
  usage: { column: "usage", isJson: true },
  answer: { column: "answer", isJson: true },
  answerText: { column: "answer_text", isJson: false },
  outcome: { column: "outcome", isJson: false },
  error: { column: "error", isJson: false },
  errorCode: { column: "error_code", isJson: false },
  reason: { column: "reason", isJson: false },
};

/**
 * Appends events and changes the row in one statement, so that neither is ever seen without the other.
 * The caller holds the row's lock; the events' indexes come from the locked row.
 *
 * @returns what to announce after the commit
 */
export async function updateSession(
  tx: pg.ClientBase,
  session: SessionRow,
  update: SessionUpdate,
): Promise<SessionChange> {
  const values: unknown[] = [
    session.id,
    session.nextIndex,
    update.events.map((event) => event.type),
    update.events.map((event) => toJsonText(event.data)),
    update.events.map((event) => (event.internal ? toJsonText(event.internal) : null)),
  ];
  const assignments = [
    `next_index = next_index + ${update.events.length}`,
    "last_activity_at = clock_timestamp()",
    ...toAssignments(update, values),
  ];
  const { rows } = await tx.query<{ timerAt: Date | null; timerInMs: number }>(
    `WITH appended AS (
       INSERT INTO events (session_id, index, type, data, internal)
       SELECT $1, $2 + event.position - 1, event.type, event.data::json, event.internal::json
         FROM unnest($3::text[], $4::text[], $5::text[]) WITH ORDINALITY AS event (type, data, internal, position)
     )
     UPDATE sessions SET ${assignments.join(", ")} WHERE id = $1
     RETURNING ${TIMER_AT} AS "timerAt",
               (extract(epoch FROM ${TIMER_AT} - clock_timestamp()) * 1000)::float8 AS "timerInMs"`,
    values,
  );
  const [timer] = rows;
  const isTimerNew = timer?.timerAt && timer.timerAt.getTime() !== session.timerAt?.getTime();
  return {
    sessionId: session.id,
    organizationId: session.organizationId,
    fence: update.releaseLease ? session.fence + 1 : session.fence,
    due: update.due,
    timerInMs: isTimerNew ? timer.timerInMs : null,
    isEnded: isTerminal(update.patch.status ?? session.status),
  };
}

function toAssignments(update: SessionUpdate, values: unknown[]): string[] {
  const { patch, due, finished } = update;
  const assignments = (Object.keys(patch) as (keyof SessionPatch)[]).map((field) => {
    const { column, isJson } = COLUMNS[field];
    const value = patch[field] ?? null;
    values.push(
      isJson && value !== null ? toJsonText(value) : typeof value === "string" ? toText(value) : value,
    );
    return `${column} = $${values.length}`;
  });
  assignments.push(...toClockAssignments(update));
  if (due === "now") assignments.push("due_at = clock_timestamp()");
  else if (due === "not") assignments.push("due_at = NULL");
  else if (due !== "unchanged") {
    values.push(due.inMs);
    assignments.push(`due_at = clock_timestamp() + $${values.length} * interval '1 millisecond'`);
  }
  if (update.releaseLease)
    assignments.push("fence = fence + 1", "claims = 0", "lease_until = NULL", "worker = NULL");
  if (update.startedNow) assignments.push("started_at = coalesce(started_at, clock_timestamp())");
  if (finished === "now") assignments.push("finished_at = clock_timestamp()");
  if (finished === "restarted") assignments.push("finished_at = NULL");
  if (update.answerIsOld) {
    assignments.push("previous_answer = coalesce(answer, previous_answer)", "answer = NULL");
  }
  return assignments;
}

/** JSON text for a `json` column. */
export function toJsonText(value: unknown): string {
  return JSON.stringify(value);
}
