// A session that has ended starts again when a message wants an answer: with its history, and everything counted anew.
import { mustMove, type SessionStatus } from "../domain/session-state.ts";
import type { SessionUpdate } from "../postgres/update-session.ts";

/** The change that starts an ended session again. */
export function toRestart(ended: SessionStatus): Pick<SessionUpdate, "patch" | "due" | "finished"> {
  return {
    patch: {
      status: mustMove(ended, "message_sent"),
      runSteps: 0,
      corrections: 0,
      nudges: 0,
      uselessSteps: 0,
      modelFailures: 0,
      outcome: null,
      error: null,
      errorCode: null,
      reason: null,
    },
    due: "now",
    finished: "restarted",
  };
}

/** A failure that did not see a waiting message: its events stay, and the session starts again for the message. */
export function restartAfter(failure: SessionUpdate): SessionUpdate {
  const restart = toRestart("failed");
  return { ...failure, ...restart, patch: { ...failure.patch, ...restart.patch } };
}
