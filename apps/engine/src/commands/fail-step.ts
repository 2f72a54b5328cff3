import type pg from "pg";
import { errorEvent } from "../domain/events.ts";
import type { EndReason, SessionErrorCode } from "../domain/session-end.ts";
import type { Engine } from "../engine.ts";
import { lockClaimedSession } from "../postgres/lock-session.ts";
import type { SessionRow } from "../postgres/session-row.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { type SessionUpdate, updateSession } from "../postgres/update-session.ts";
import { hasWaitingMessages } from "../postgres/waiting-messages.ts";
import { announceAndAdmit } from "./admit-sessions.ts";
import { toFailed } from "./end-session.ts";
import { pauseAtBoundary } from "./pause-session.ts";
import { restartAfter } from "./restart.ts";

/** A step without a reply of the model: its request failed, or a guard did not let it be made. */
export interface FailedStep {
  sessionId: string;
  fence: number;
  /** In words that a person can act on; without secrets. */
  error: string;
  /** Why the session ends if it does not go on. */
  reason: EndReason;
  /** The same in the reference's words. Default `internal`. */
  errorCode?: SessionErrorCode;
  /** When to try again, in milliseconds; null when trying again cannot help. */
  retryInMs: number | null;
}

/**
 * Records that a step's model request failed: the step is due again after a wait, without a worker held, or the
 * session fails.
 *
 * @returns false when the claim was lost; nothing was written
 */
export async function failStep(engine: Engine, step: FailedStep): Promise<boolean> {
  const change = await inTransaction(engine.pool, async (tx) => {
    const session = await lockClaimedSession(tx, step);
    if (!session) return null;
    const update = await toUpdate(tx, session, step);
    return updateSession(tx, session, pauseAtBoundary(session, update));
  });
  if (!change) return false;
  await announceAndAdmit(engine, change);
  return true;
}

async function toUpdate(tx: pg.ClientBase, session: SessionRow, step: FailedStep): Promise<SessionUpdate> {
  const { error, reason, errorCode = "internal", retryInMs } = step;
  if (retryInMs !== null) {
    return {
      patch: { modelFailures: session.modelFailures + 1 },
      events: [errorEvent(error, "model")],
      due: { inMs: retryInMs },
      releaseLease: true,
    };
  }
  const failure = toFailed(session, { error, errorCode, reason });
  return (await hasWaitingMessages(tx, session.id)) ? restartAfter(failure) : failure;
}
