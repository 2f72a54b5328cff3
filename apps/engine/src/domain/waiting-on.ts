// What a live session waits for, in words that answer "why is it stuck?". Pure.
import { isTerminal, type SessionStatus } from "./session-state.ts";

/** What a session can wait for. */
export const WAITS = [
  "slot",
  "worker",
  "model",
  "model_retry",
  "tool_results",
  "approval",
  "message",
  "resume",
] as const;

/** What a live session waits for. */
export interface WaitingOn {
  what: (typeof WAITS)[number];
  since: Date;
  /** When something happens by itself: a retry, the end of a wait or of the time, a takeover from a silent worker. */
  deadline: Date | null;
  /** When the worker that runs the step was last heard of. */
  heartbeatAt: Date | null;
}

/** The times of a session's row, and what the database's clock says of them. */
export interface SessionTimes {
  status: SessionStatus;
  stateSince: Date;
  queuedAt: Date | null;
  dueAt: Date | null;
  isDueLater: boolean;
  leaseUntil: Date | null;
  isLeased: boolean;
  claimedAt: Date | null;
  heartbeatAt: Date | null;
  /** The end of the wait for a message, of the run's time, or of a call's. */
  timerAt: Date | null;
}

/** What the session waits for; null when it has ended. */
export function toWaitingOn(times: SessionTimes): WaitingOn | null {
  const { status, stateSince, timerAt } = times;
  const wait = (what: WaitingOn["what"], rest: Partial<WaitingOn> = {}): WaitingOn => ({
    what,
    since: stateSince,
    deadline: null,
    heartbeatAt: null,
    ...rest,
  });
  if (isTerminal(status)) return null;
  if (status === "queued") return wait("slot", { since: times.queuedAt ?? stateSince });
  if (status === "paused") return wait("resume");
  if (status === "idle") return wait("message", { deadline: timerAt });
  if (status === "awaiting_tool_results") return wait("tool_results", { deadline: timerAt });
  if (status === "awaiting_approval") return wait("approval", { deadline: timerAt });
  return waitOfStep(times, wait);
}

/** A step is due: for now, for later, or a worker has it. */
function waitOfStep(
  times: SessionTimes,
  wait: (what: WaitingOn["what"], rest: Partial<WaitingOn>) => WaitingOn,
): WaitingOn {
  const { stateSince, dueAt, claimedAt, heartbeatAt, timerAt } = times;
  if (times.isLeased) {
    return wait("model", {
      since: claimedAt ?? stateSince,
      deadline: earliest(times.leaseUntil, timerAt),
      heartbeatAt,
    });
  }
  if (times.isDueLater) {
    return wait("model_retry", { since: heartbeatAt ?? stateSince, deadline: earliest(dueAt, timerAt) });
  }
  return wait("worker", { since: dueAt ?? stateSince, deadline: timerAt });
}

function earliest(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}
