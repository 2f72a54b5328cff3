// The one statement that changes a session, its events, calls and messages together. What it changes is the row of
// `target`, which comes before these parts: `target_id`, `target_organization_id`, and `start`, the index of the next
// event.
import type { NewEvent } from "../domain/events.ts";
import { stringifyJson } from "../domain/json.ts";
import { toCallParts } from "./call-changes.ts";
import type { AddValue } from "./prepared.ts";
import { toAssignments } from "./session-assignments.ts";
import { SESSION_JSON, TIMER_AT } from "./session-row.ts";
import type { SessionUpdate } from "./update-session.ts";

/** What the statement tells of the row as it is then. */
export interface UpdatedRow {
  version: string;
  fence: number;
  worker: string | null;
  nextIndex: number;
  agentName: string;
  /** When something happens by itself, and how far away that is. */
  at: Date | null;
  delayMs: number;
  dueInMs: number | null;
  /** The whole row as JSON text when the update claims the step; else null. */
  claimed: string | null;
}

/**
 * Makes the statement: what else it does, each part `name AS (…)`, and the `UPDATE` of the session that goes with them.
 *
 * @param step which step asked for the update's calls
 */
export function toUpdateStatement(
  update: SessionUpdate,
  step: number,
  add: AddValue,
): { parts: string[]; text: string } {
  const assignments = ["last_activity_at = clock_timestamp()", ...toAssignments(update, add)];
  const parts: string[] = [];
  if (update.events.length > 0) {
    assignments.push(`next_index = next_index + ${add(update.events.length)}::int`);
    parts.push(`appended AS (${toEventsInsert(update.events, add)})`);
  }
  parts.push(...toCallParts(update, step, add));
  if (update.takenMessages?.length) parts.push(`taken AS (${toTaken(update.takenMessages, add)})`);
  const text = `UPDATE sessions SET ${assignments.join(", ")} FROM target WHERE id = target_id
    RETURNING xmin::text AS version, fence, worker, next_index AS "nextIndex", agent_name AS "agentName",
              ${TIMER_AT} AS at, (extract(epoch FROM ${TIMER_AT} - clock_timestamp()) * 1000)::float8 AS "delayMs",
              (extract(epoch FROM due_at - clock_timestamp()) * 1000)::float8 AS "dueInMs",
              ${update.claim ? `${SESSION_JSON}::text` : "NULL"} AS claimed`;
  return { parts, text };
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
