// What a session comes to when some of its open calls are settled or decided: it waits on, for one thing or the other,
// or its next step is due.
import { type NewEvent, stateAwaiting, stateRunning } from "../domain/events.ts";
import { earliestDeadline, listOpen, type OpenCall } from "../domain/plan-calls.ts";
import { isAwaiting, type SessionHappening } from "../domain/session-state.ts";
import type { SessionPatch, SessionRow } from "../postgres/session-row.ts";
import type { SessionUpdate } from "../postgres/update-session.ts";
import { activeStatus, moveActive } from "./pause-session.ts";

/** What a settlement looks at. */
export type SettledSession = Pick<SessionRow, "id" | "status" | "pausedFrom" | "callDeadlineAt">;

/**
 * The change that follows, with the event that tells it. A paused session takes part in all of it, and its step is due
 * when it is resumed.
 *
 * @param open the calls that are still open
 */
export function toSettled(
  session: SettledSession,
  open: readonly OpenCall[],
): Pick<SessionUpdate, "patch" | "events" | "due"> {
  // A process of the version before knows no approvals: it may have gone on beside calls that are still open.
  if (!isAwaiting(activeStatus(session)))
    return { patch: { callDeadlineAt: null }, events: [], due: "unchanged" };
  if (open.length === 0) {
    return {
      patch: moveActive(session, "last_call_settled"),
      events: [stateRunning()],
      due: session.status === "paused" ? "not" : "now",
    };
  }
  const state: NewEvent = stateAwaiting(listOpen(open));
  const happening = toHappening(session, open);
  const patch = { ...(happening ? moveActive(session, happening) : {}), ...toDeadlinePatch(session, open) };
  return { patch, events: [state], due: "unchanged" };
}

/** The earliest deadline, where it is another one than before. */
export function toDeadlinePatch(session: SettledSession, open: readonly OpenCall[]): SessionPatch {
  const callDeadlineAt = earliestDeadline(open);
  return callDeadlineAt?.getTime() === session.callDeadlineAt?.getTime() ? {} : { callDeadlineAt };
}

/** Waiting for results comes before waiting for approvals. Null when it is waited for the same as before. */
function toHappening(session: SettledSession, open: readonly OpenCall[]): SessionHappening | null {
  const isForResults = open.some(({ state }) => state === "pending");
  const active = activeStatus(session);
  if (isForResults) return active === "awaiting_tool_results" ? null : "results_awaited";
  return active === "awaiting_approval" ? null : "approval_awaited";
}
