import type pg from "pg";
import type { NewEvent } from "../domain/events.ts";
import { stringifyJson } from "../domain/json.ts";
import { type SessionMove, toSessionMove } from "../domain/session-move.ts";
import { isTerminal } from "../domain/session-state.ts";
import { toText } from "../domain/text.ts";
import { toClockAssignments } from "./session-clocks.ts";
import { type SessionPatch, type SessionRow, TIMER_AT } from "./session-row.ts";

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
}

/** How each field of a patch is stored. */
const COLUMNS: Record<keyof SessionPatch | "previousAnswer", { column: string; isJson: boolean }> = {
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
  previousAnswer: { column: "previous_answer", isJson: true },
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
  const { rows } = await tx.query<{ at: Date | null; delayMs: number; dueInMs: number | null }>(
    `WITH appended AS (
       INSERT INTO events (session_id, index, type, data, internal)
       SELECT $1, $2 + event.position - 1, event.type, event.data::json, event.internal::json
         FROM unnest($3::text[], $4::text[], $5::text[]) WITH ORDINALITY AS event (type, data, internal, position)
     )
     UPDATE sessions SET ${assignments.join(", ")} WHERE id = $1
     RETURNING ${TIMER_AT} AS at, (extract(epoch FROM ${TIMER_AT} - clock_timestamp()) * 1000)::float8 AS "delayMs",
               (extract(epoch FROM due_at - clock_timestamp()) * 1000)::float8 AS "dueInMs"`,
    values,
  );
  const { at = null, delayMs = 0, dueInMs = null } = rows[0] ?? {};
  const isTimerNew = at !== null && at.getTime() !== session.timerAt?.getTime();
  return {
    sessionId: session.id,
    organizationId: session.organizationId,
    fence: update.releaseLease ? session.fence + 1 : session.fence,
    due: toDueJob(update.due, dueInMs),
    timer: isTimerNew ? { at, delayMs } : null,
    isEnded: isTerminal(update.patch.status ?? session.status),
    move: toSessionMove(session, update.patch),
  };
}

function toAssignments(update: SessionUpdate, values: unknown[]): string[] {
  const { patch, due, finished } = update;
  const assignments = (Object.keys(patch) as (keyof SessionPatch)[]).map((field) => {
    // An answer that is old when it is written is the previous one at once.
    const { column, isJson } = COLUMNS[field === "answer" && update.answerIsOld ? "previousAnswer" : field];
    const value = patch[field] ?? null;
    values.push(
      isJson && value !== null ? toJsonText(value) : typeof value === "string" ? toText(value) : value,
    );
    return `${column} = $${values.length}`;
  });
  assignments.push(...toClockAssignments(update));
  assignments.push(...toDueAssignments(due));
  if (update.releaseLease)
    assignments.push("fence = fence + 1", "claims = 0", "lease_until = NULL", "worker = NULL");
  if (update.startedNow) assignments.push("started_at = coalesce(started_at, clock_timestamp())");
  if (finished === "now") assignments.push("finished_at = clock_timestamp()");
  if (finished === "restarted") assignments.push("finished_at = NULL");
  if (update.answerIsOld) {
    assignments.push("answer = NULL");
    if (patch.answer === undefined) assignments.push("previous_answer = coalesce(answer, previous_answer)");
  }
  return assignments;
}

function toDueAssignments(due: Due): string[] {
  const inMs = (ms: number) => `clock_timestamp() + ${ms} * interval '1 millisecond'`;
  if (due === "unchanged") return [];
  if (due === "now") return ["due_at = clock_timestamp()"];
  if (due === "not") return ["due_at = NULL", "held_due_at = NULL"];
  if (due === "hold") return ["held_due_at = due_at", "due_at = NULL"];
  if (due === "resume") return [`due_at = greatest(held_due_at, clock_timestamp())`, "held_due_at = NULL"];
  if ("holdInMs" in due) return [`held_due_at = ${inMs(due.holdInMs)}`, "due_at = NULL"];
  return [`due_at = ${inMs(due.inMs)}`];
}

/** What is queued after a change: a step at once, or after a wait. */
function toDueJob(due: Due, dueInMs: number | null): SessionChange["due"] {
  if (due === "now") return "now";
  if (due === "resume") return dueInMs !== null && dueInMs > 0 ? { inMs: dueInMs } : "now";
  return typeof due === "object" && "inMs" in due ? due : null;
}

/** JSON text for a `json` column. */
export function toJsonText(value: unknown): string {
  return stringifyJson(value);
}
