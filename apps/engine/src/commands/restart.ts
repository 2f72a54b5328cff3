// A session that has ended starts again when a message wants an answer: with its history, and everything counted anew.
import { requestStart } from "../domain/events.ts";
import { mustMove, type SessionStatus } from "../domain/session-state.ts";
import type { SessionPatch } from "../postgres/session-row.ts";
import type { SessionUpdate } from "../postgres/update-session.ts";

/** What a message that wants an answer sets back, in whatever state it finds the session. */
export const TASK_START: SessionPatch = {
  corrections: 0,
  nudges: 0,
  uselessSteps: 0,
  modelFailures: 0,
  outcome: null,
};

/**
 * The change that starts an ended session again.
 *
 * @param isFull true when there is no free slot: then the session is queued
 */
export function toRestart(ended: SessionStatus, options: { isFull: boolean }): SessionUpdate {
  return {
    patch: {
      ...TASK_START,
      status: mustMove(
        { status: ended, pausedFrom: null },
        options.isFull ? "message_queued" : "message_sent",
      ),
      runSteps: 0,
      runTokens: 0,
      lastStep: null,
      error: null,
      errorCode: null,
      reason: null,
    },
    events: [requestStart()],
    due: options.isFull ? "not" : "now",
    finished: "restarted",
    answerIsOld: true,
  };
}

/**
 * An end that did not see a waiting message: its events and its answer stay, and the session starts again for the
 * message, in its slot.
 */
export function restartAfter(end: SessionUpdate): SessionUpdate {
  const restart = toRestart(end.patch.status ?? "failed", { isFull: false });
  const patch = { ...end.patch, ...restart.patch };
  return { ...end, ...restart, events: [...end.events, ...restart.events], patch };
}
