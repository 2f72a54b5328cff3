import { errorEvent } from "../domain/events.ts";
import type { EndReason } from "../domain/session-state.ts";
import { announce, type Engine } from "../engine.ts";
import { lockClaimedSession } from "../postgres/lock-session.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { updateSession } from "../postgres/update-session.ts";
import { toFailure } from "./finish-step.ts";

/** A model request that gave no reply. */
export interface FailedStep {
  sessionId: string;
  fence: number;
  /** In words that a person can act on; without secrets. */
  error: string;
  /** Why the session ends if it does not go on. */
  reason: EndReason;
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
  const written = await inTransaction(engine.pool, async (tx) => {
    const session = await lockClaimedSession(tx, step);
    if (!session) return null;
    if (step.retryInMs === null) {
      const { error, reason } = step;
      const { patch, stateEvents, due } = toFailure(session, { error, errorCode: "internal", reason });
      await updateSession(tx, session, {
        patch,
        events: stateEvents,
        due,
        releaseLease: true,
        finished: "now",
      });
      return { fence: session.fence + 1 };
    }
    await updateSession(tx, session, {
      patch: { modelFailures: session.modelFailures + 1 },
      events: [errorEvent(step.error, "model")],
      due: { inMs: step.retryInMs },
      releaseLease: true,
    });
    return { fence: session.fence + 1 };
  });
  if (!written) return false;
  const due = step.retryInMs === null ? undefined : { fence: written.fence, delayMs: step.retryInMs };
  await announce(engine, step.sessionId, due);
  return true;
}
