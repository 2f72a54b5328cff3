import type pg from "pg";
import { listMissingParts } from "../domain/agents.ts";
import {
  agentStarted,
  errorEvent,
  messageEvent,
  type NewEvent,
  type StoredEvent,
  stateRunning,
} from "../domain/events.ts";
import { mustMove } from "../domain/session-state.ts";
import type { Engine } from "../engine.ts";
import { claimSession, returnLease } from "../postgres/leases.ts";
import { readTranscriptEvents } from "../postgres/read-events.ts";
import type { ClaimedSessionRow } from "../postgres/session-row.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { type SessionUpdate, updateSession } from "../postgres/update-session.ts";
import { hasWaitingMessages, takeMessages } from "../postgres/waiting-messages.ts";
import { announceAndAdmit } from "./admit-sessions.ts";
import { toFailed } from "./end-session.ts";
import { toExpiry } from "./expire-session.ts";
import { pauseAtBoundary } from "./pause-session.ts";
import { restartAfter } from "./restart.ts";

/** A step that this worker may run, and what it runs on. */
export interface ClaimedStep {
  session: ClaimedSessionRow;
  /** The history as the model sees it; null when it is more than a worker should read. */
  events: StoredEvent[] | null;
}

/**
 * Claims a session's due step. At this boundary waiting messages enter the history, and a pending session starts.
 *
 * @returns null when there is nothing to claim: not due, taken by another worker, or ended. That is no error.
 */
export async function claimStep(
  engine: Engine,
  claim: { sessionId: string; leaseMs: number; worker: string },
): Promise<ClaimedStep | null> {
  const claimed = await inTransaction(engine.pool, async (tx) => {
    const session = await claimSession(tx, claim);
    if (!session) return null;
    const refusal = await toRefusal(tx, session);
    if (refusal) return { session: null, change: await updateSession(tx, session, refusal) };
    const messages = (await takeMessages(tx, session.id)).map(messageEvent);
    const isStart = session.status === "pending";
    const events = isStart ? startEvents(session, messages) : messages;
    if (events.length === 0) return { session, change: null };
    const change = await updateSession(tx, session, {
      patch: { status: mustMove(session, "step_claimed") },
      events,
      due: "unchanged",
      startedNow: isStart,
    });
    return { session, change };
  });
  if (!claimed) return null;
  if (claimed.change) await announceAndAdmit(engine, claimed.change);
  if (!claimed.session) return null;
  return { session: claimed.session, events: await readHistory(engine, claimed.session) };
}

/** A step whose history cannot be read now goes back as it was: the sweep has another worker try. */
async function readHistory(engine: Engine, { id, fence }: ClaimedSessionRow): Promise<StoredEvent[] | null> {
  try {
    return await readTranscriptEvents(engine.pool, id);
  } catch (error) {
    await returnLease(engine.pool, { sessionId: id, fence }).catch(() => null);
    throw error;
  }
}

/**
 * What becomes of a step that must not run: an end, a pause that was asked for while a worker that is gone held it, or
 * the last step, when the run's time is over.
 */
async function toRefusal(tx: pg.ClientBase, session: ClaimedSessionRow): Promise<SessionUpdate | null> {
  if (session.claims > MAX_CLAIMS) {
    const failure = toKillerFailure(session);
    return (await hasWaitingMessages(tx, session.id)) ? restartAfter(failure) : failure;
  }
  if (!session.pauseRequested) return toExpiry(tx, session);
  return pauseAtBoundary(session, { patch: {}, events: [], due: "now", releaseLease: true });
}

/** A step that so many workers took and none finished most likely ends them: it must not go round for ever. */
const MAX_CLAIMS = 20;

function toKillerFailure(session: ClaimedSessionRow): SessionUpdate {
  const error = `The step was started ${MAX_CLAIMS} times, and no worker could finish it.`;
  // A pending session has not started; for its end that makes no difference.
  const running = { ...session, status: mustMove(session, "step_claimed") };
  return toFailed(running, { error, errorCode: "internal", reason: "internal" });
}

function startEvents(session: ClaimedSessionRow, messages: NewEvent[]): NewEvent[] {
  const missing = session.steps === 0 ? listMissingParts(session.agent) : [];
  return [agentStarted(), ...messages, stateRunning(), ...missing.map(toMissingPart)];
}

function toMissingPart(part: string): NewEvent {
  return errorEvent(
    `This server does not provide the ${part}; the agent goes on with the tools it has.`,
    "environment",
  );
}
