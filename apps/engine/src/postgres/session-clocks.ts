// The clocks of a session, all of them the database's: they follow from the state that an update leads to, so that no
// command can forget one.
import { isAwaiting, isTerminal, type SessionStatus } from "../domain/session-state.ts";
import type { AddValue } from "./prepared.ts";
import type { SessionUpdate } from "./update-session.ts";

/** The states in which a run's time passes. Waiting for others counts; idle and paused time does not. */
const TIMED: ReadonlySet<SessionStatus> = new Set(["running", "awaiting_tool_results", "awaiting_approval"]);

/** The assignments that an update's new state makes necessary. */
export function toClockAssignments(update: SessionUpdate, add: AddValue): string[] {
  const { status, pausedFrom } = update.patch;
  const assignments = [...toTimeLimit(update, add), ...toCallDeadline(update)];
  if (status === undefined) return assignments;
  assignments.push(
    `state_since = CASE WHEN status = '${status}' THEN state_since ELSE clock_timestamp() END`,
  );
  assignments.push(
    status === "idle"
      ? "idle_until = clock_timestamp() + idle_timeout_ms * interval '1 millisecond'"
      : "idle_until = NULL",
  );
  // A paused session keeps its place in the queue.
  if (status === "queued") assignments.push("queued_at = coalesce(queued_at, clock_timestamp())");
  else if (status !== "paused") assignments.push("queued_at = NULL");
  if (status !== "paused" && pausedFrom === undefined) assignments.push("paused_from = NULL");
  if (isTerminal(status)) assignments.push("pause_requested = false", "last_step = NULL");
  return assignments;
}

/** Calls are open only in the states that wait for them, and under a pause of one of these. */
function toCallDeadline({ patch }: SessionUpdate): string[] {
  const active = patch.pausedFrom ?? patch.status;
  const mayBeOpen = active === undefined || active === "paused" || isAwaiting(active);
  return mayBeOpen || patch.callDeadlineAt !== undefined ? [] : ["call_deadline_at = NULL"];
}

function toTimeLimit({ patch, finished, timeLeftMs }: SessionUpdate, add: AddValue): string[] {
  const isTimed = patch.status !== undefined && TIMED.has(patch.status);
  if (timeLeftMs !== undefined && isTimed) return [`time_limit_at = ${inMs(timeLeftMs, add)}`];
  if (timeLeftMs !== undefined) return [`time_left_ms = ${add(timeLeftMs)}`, "time_limit_at = NULL"];
  if (finished === "restarted") return ["time_left_ms = max_time_ms", "time_limit_at = NULL"];
  if (patch.status === undefined) return [];
  if (isTimed) {
    return [
      "time_limit_at = coalesce(time_limit_at, clock_timestamp() + time_left_ms * interval '1 millisecond')",
    ];
  }
  return [
    `time_left_ms = CASE WHEN time_limit_at IS NULL THEN time_left_ms
       ELSE greatest(extract(epoch FROM time_limit_at - clock_timestamp()) * 1000, 0) END`,
    "time_limit_at = NULL",
  ];
}

/** The moment that is so many milliseconds away, by the database's clock. */
export function inMs(ms: number, add: AddValue): string {
  return `clock_timestamp() + ${add(ms)}::float8 * interval '1 millisecond'`;
}
