// How a run ends without going on: as failed, or as timed out when its time is over.
import { agentCompletion, agentError } from "../domain/events.ts";
import type { EndReason, SessionErrorCode } from "../domain/session-end.ts";
import { mustMove } from "../domain/session-state.ts";
import type { SessionRow } from "../postgres/session-row.ts";
import type { SessionUpdate } from "../postgres/update-session.ts";

/** Why a run failed. */
export interface Failure {
  error: string;
  errorCode: SessionErrorCode;
  reason: EndReason;
}

/** The end of a run that failed. In the last step of a session whose time is over it is that which ended it. */
export function toFailed(
  session: SessionRow,
  failure: Failure,
  happening: "step_failed" | "call_failed" = "step_failed",
): SessionUpdate {
  const { error, errorCode, reason } = failure;
  if (session.lastStep === "max_time") return toTimedOut(session, error);
  return {
    patch: { status: mustMove(session, happening), error, errorCode, reason },
    events: [agentError(error, { error_code: errorCode, reason })],
    ...END,
  };
}

/** The end of a run whose time is over. */
export function toTimedOut(session: SessionRow, error: string): SessionUpdate {
  return {
    patch: {
      status: mustMove(session, "run_timed_out"),
      error,
      errorCode: "timeout",
      reason: "max_time",
    },
    events: [agentCompletion("timed_out")],
    ...END,
  };
}

const END = { due: "not", releaseLease: true, finished: "now" } as const;
