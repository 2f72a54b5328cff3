// What a change did to a session's state, for whoever counts and traces sessions. Pure.
import type { EndReason } from "./session-end.ts";
import { isTerminal, type SessionStatus } from "./session-state.ts";

/** A session's way from one state to another. */
export interface SessionMove {
  from: SessionStatus;
  to: SessionStatus;
  /** How long it had been in the state that it left, in milliseconds, by the database's clock. */
  afterMs: number;
  /** Why it ended; null when it goes on. */
  reason: EndReason | null;
  /** True when it has ended for the first time: one that a message starts again ends once more. */
  isFirstEnd: boolean;
}

/** The move that a patch makes of a session; null when it stays in its state. */
export function toSessionMove(
  session: { status: SessionStatus; stateMs: number; steps: number; runSteps: number },
  patch: { status?: SessionStatus; reason?: EndReason | null },
): SessionMove | null {
  const { status: from, stateMs: afterMs } = session;
  const { status: to = from } = patch;
  if (to === from) return null;
  const isEnd = isTerminal(to);
  // A restart counts the run's steps anew, and leaves those of the session.
  const isFirstEnd = isEnd && session.steps === session.runSteps;
  return { from, to, afterMs, reason: isEnd ? (patch.reason ?? "internal") : null, isFirstEnd };
}
