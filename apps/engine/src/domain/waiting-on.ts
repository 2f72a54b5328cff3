// What a live session waits for, in words that answer "why is it stuck?". Pure.
import { isTerminal, type WireStatus } from "./session-state.ts";

/** What a session can wait for in this version. */
export const WAITS = ["worker", "model", "model_retry", "tool_results"] as const;

/** What a live session waits for. */
export interface WaitingOn {
  what: (typeof WAITS)[number];
  since: Date;
  /** When something happens by itself: a retry, or the takeover of a worker that is not heard of. */
  deadline: Date | null;
  /** When the worker that runs the step was last heard of. */
  heartbeatAt: Date | null;
}

/** The times of a session's row, and what the database's clock says of them. */
export interface SessionTimes {
  status: WireStatus;
  stateSince: Date;
  dueAt: Date | null;
  isDueLater: boolean;
  leaseUntil: Date | null;
  isLeased: boolean;
  claimedAt: Date | null;
  heartbeatAt: Date | null;
}

/** What the session waits for; null when it has ended. */
export function toWaitingOn(times: SessionTimes): WaitingOn | null {
  const { status, stateSince, dueAt, leaseUntil, claimedAt, heartbeatAt } = times;
  if (isTerminal(status)) return null;
  if (status === "awaiting_tool_results") {
    return { what: "tool_results", since: stateSince, deadline: null, heartbeatAt: null };
  }
  if (times.isLeased)
    return { what: "model", since: claimedAt ?? stateSince, deadline: leaseUntil, heartbeatAt };
  if (times.isDueLater) {
    return { what: "model_retry", since: heartbeatAt ?? stateSince, deadline: dueAt, heartbeatAt: null };
  }
  return { what: "worker", since: dueAt ?? stateSince, deadline: null, heartbeatAt: null };
}
