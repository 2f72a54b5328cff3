import type pg from "pg";
import type { NewEvent } from "../domain/events.ts";
import { stringifyJson } from "../domain/json.ts";
import { toText } from "../domain/text.ts";
import type { SessionPatch, SessionRow } from "./session-row.ts";

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
  /** `now` ends the session. `restarted` reopens it: its answer stays the latest one until there is a new one. */
  finished?: "now" | "restarted";
}

/** How each field of a patch is stored. */
const COLUMNS: Record<keyof SessionPatch, { column: string; isJson: boolean }> = {
  status: { column: "status", isJson: false },
  steps: { column: "steps", isJson: false },
  runSteps: { column: "run_steps", isJson: false },
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
 */
export async function updateSession(
  tx: pg.ClientBase,
  session: SessionRow,
  update: SessionUpdate,
): Promise<void> {
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
  await tx.query(
    `WITH appended AS (
       INSERT INTO events (session_id, index, type, data, internal)
       SELECT $1, $2 + event.position - 1, event.type, event.data::json, event.internal::json
         FROM unnest($3::text[], $4::text[], $5::text[]) WITH ORDINALITY AS event (type, data, internal, position)
     )
     UPDATE sessions SET ${assignments.join(", ")} WHERE id = $1`,
    values,
  );
}

function toAssignments(update: SessionUpdate, values: unknown[]): string[] {
  const assignments = (Object.keys(update.patch) as (keyof SessionPatch)[]).map((field) => {
    const { column, isJson } = COLUMNS[field];
    const value = update.patch[field] ?? null;
    values.push(
      isJson && value !== null ? toJsonText(value) : typeof value === "string" ? toText(value) : value,
    );
    return `${column} = $${values.length}`;
  });
  if (update.patch.status !== undefined) {
    values.push(update.patch.status);
    assignments.push(
      `state_since = CASE WHEN status = $${values.length} THEN state_since ELSE clock_timestamp() END`,
    );
  }
  if (update.due === "now") assignments.push("due_at = clock_timestamp()");
  else if (update.due === "not") assignments.push("due_at = NULL");
  else if (update.due !== "unchanged") {
    values.push(update.due.inMs);
    assignments.push(`due_at = clock_timestamp() + $${values.length} * interval '1 millisecond'`);
  }
  if (update.releaseLease)
    assignments.push("fence = fence + 1", "claims = 0", "lease_until = NULL", "worker = NULL");
  if (update.startedNow) assignments.push("started_at = coalesce(started_at, clock_timestamp())");
  if (update.finished === "now") assignments.push("finished_at = clock_timestamp()");
  if (update.finished === "restarted") {
    assignments.push(
      "finished_at = NULL",
      "previous_answer = coalesce(answer, previous_answer)",
      "answer = NULL",
    );
  }
  return assignments;
}

/** JSON text for a `json` column. */
export function toJsonText(value: unknown): string {
  return stringifyJson(value);
}
