import type pg from "pg";
import { agentCompletion, stateRunning } from "../domain/events.ts";
import { isAwaiting, mustMove } from "../domain/session-state.ts";
import type { Engine } from "../engine.ts";
import { lockAnySession } from "../postgres/lock-session.ts";
import type { SessionRow } from "../postgres/session-row.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { type SessionUpdate, updateSession } from "../postgres/update-session.ts";
import { hasWaitingMessages } from "../postgres/waiting-messages.ts";
import { announceAndAdmit } from "./admit-sessions.ts";
import { toTimedOut } from "./end-session.ts";
import { toCallExpiry } from "./expire-calls.ts";
import { pauseAtBoundary } from "./pause-session.ts";
import { restartAfter } from "./restart.ts";
import { withdrawCalls } from "./withdraw-calls.ts";

/** How long the last step of a session whose time is over may take, in milliseconds. */
const LAST_STEP_MS = 30_000;

/**
 * Does what a session's clocks make due: ends its wait for a message, starts the last step of a run whose time is
 * over, ends a run whose last step took too long, or settles calls that nobody answered in time. By the database's clock and under the row's lock, so that it may
 * be called at any time, by any process, any number of times.
 */
export async function expireSession(engine: Engine, sessionId: string): Promise<void> {
  const change = await inTransaction(engine.pool, async (tx) => {
    const session = await lockAnySession(tx, sessionId);
    if (!session) return null;
    const update = await toExpiry(tx, session);
    return update && updateSession(tx, session, update);
  });
  if (change) await announceAndAdmit(engine, change);
}

/** The change that a locked session's clocks make due; null when none has run out. */
export async function toExpiry(tx: pg.ClientBase, session: SessionRow): Promise<SessionUpdate | null> {
  if (session.isIdleOver) return toIdleEnd(session);
  if (!session.isTimeOver) return session.isCallOver ? toCallExpiry(tx, session) : null;
  if (session.lastStep === "max_time") {
    const end = toTimedOut(session, NO_ANSWER_IN_TIME);
    const isStale = await hasWaitingMessages(tx, session.id);
    return pauseAtBoundary(session, isStale ? restartAfter(end) : end);
  }
  const { events: withdrawals, changedCalls } = await withdrawCalls(tx, session.id, "max_time");
  // The step that ran ends here, so a pause that waited for its end takes effect.
  return pauseAtBoundary(session, {
    patch: { status: mustMove(session, "time_over"), lastStep: "max_time" },
    events: [...withdrawals, ...(isAwaiting(session.status) ? [stateRunning()] : [])],
    changedCalls,
    due: "now",
    releaseLease: true,
    timeLeftMs: LAST_STEP_MS,
  });
}

const NO_ANSWER_IN_TIME = "The session's time is over, and its last step gave no answer in time.";

function toIdleEnd(session: SessionRow): SessionUpdate {
  return {
    patch: { status: mustMove(session, "idle_over"), reason: "idle_timeout" },
    events: [agentCompletion("finished")],
    due: "not",
    finished: "now",
  };
}
