import type pg from "pg";
import { errorEvent } from "../domain/events.ts";
import type { EndReason } from "../domain/session-state.ts";
import { announce, type Engine } from "../engine.ts";
import { lockClaimedSession } from "../postgres/lock-session.ts";
import type { SessionRow } from "../postgres/session-row.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { type SessionUpdate, updateSession } from "../postgres/update-session.ts";
import { hasWaitingMessages } from "../postgres/waiting-messages.ts";
import { toFailure } from "./finish-step.ts";
import { restartAfter } from "./restart.ts";

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
  const due = await inTransaction(engine.pool, async (tx) => {
    const session = await lockClaimedSession(tx, step);
    if (!session) return null;
    const update = await toUpdate(tx, session, step);
    await updateSession(tx, session, update);
    return { update, fence: session.fence + 1 };
  });
  if (!due) return false;
  await announce(engine, step.sessionId, toDue(due.update, due.fence));
  return true;
}

async function toUpdate(tx: pg.ClientBase, session: SessionRow, step: FailedStep): Promise<SessionUpdate> {
  const { error, reason, retryInMs } = step;
  if (retryInMs !== null) {
    return {
      patch: { modelFailures: session.modelFailures + 1 },
      events: [errorEvent(error, "model")],
      due: { inMs: retryInMs },
      releaseLease: true,
    };
  }
  const { patch, stateEvents, due } = toFailure(session, { error, errorCode: "internal", reason });
  const failure: SessionUpdate = { patch, events: stateEvents, due, releaseLease: true, finished: "now" };
  return (await hasWaitingMessages(tx, session.id)) ? restartAfter(failure) : failure;
}

/** What is queued after a change: nothing, a step at once, or one after a wait. */
function toDue({ due }: SessionUpdate, fence: number): { fence: number; delayMs?: number } | undefined {
  if (due === "now") return { fence };
  return typeof due === "object" ? { fence, delayMs: due.inMs } : undefined;
}
