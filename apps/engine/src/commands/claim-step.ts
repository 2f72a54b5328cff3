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
import { toTranscript } from "../handover/step-news.ts";
import { type Claim, claimPlainStep, claimSession, type DueSession } from "../postgres/claim-session.ts";
import { returnLease } from "../postgres/leases.ts";
import { readTranscriptEvents } from "../postgres/read-events.ts";
import { type ClaimedSessionRow, readSessionRow } from "../postgres/session-row.ts";
import { inTransaction } from "../postgres/transaction.ts";
import {
  type SessionChange,
  type SessionUpdate,
  toClaimed,
  updateSession,
  updateUnchanged,
} from "../postgres/update-session.ts";
import { hasWaitingMessages, readMessages, type WaitingMessage } from "../postgres/waiting-messages.ts";
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
export async function claimStep(engine: Engine, claim: Claim): Promise<ClaimedStep | null> {
  const due = await claimPlainStep(engine.pool, { ...claim, maxClaims: MAX_CLAIMS });
  if (!due) return null;
  const receivedMs = performance.now();
  const claimed = (await claimUnlocked(engine, claim, due)) ?? (await claimLocked(engine, claim));
  if (!claimed) return null;
  if (claimed.change) await announceAndAdmit(engine, claimed.change);
  const { history } = claimed;
  if (!claimed.session) return null;
  const session = { ...claimed.session, receivedMs };
  return { session, events: history ?? (await readHistory(engine, session)) };
}

/** What became of a due step. */
interface Boundary {
  /** The session as it is claimed; null when its step must not run. */
  session: ClaimedSessionRow | null;
  /** The history with what has just entered it; null: read it. */
  history: StoredEvent[] | null;
  change: SessionChange | null;
}

/**
 * The claim that was made already, or one more statement, for a step that starts the session or takes messages up. Null
 * when the row has changed since, or the step may have to be refused: that wants the row's lock.
 */
async function claimUnlocked(engine: Engine, claim: Claim, due: DueSession): Promise<Boundary | null> {
  const { session, claimedVersion, history } = due;
  if (claimedVersion !== null) {
    const claimed = { fence: session.fence + 1, claims: session.claims + 1, isLeased: true };
    return { session: { ...session, ...claimed, version: claimedVersion }, history, change: null };
  }
  const isPlain = session.claims < MAX_CLAIMS && !session.pauseRequested && !session.isTimeOver;
  const update = toStart(session, due.messages);
  if (!isPlain || !update) return null;
  const written = await updateUnchanged(engine.pool, session, { ...update, claim });
  if (!written) return null;
  return {
    session: { ...session, ...readSessionRow(toClaimed(written).json), claims: session.claims + 1 },
    history: history && [...history, ...toTranscript(session.nextIndex, update.events)],
    change: written.change,
  };
}

async function claimLocked(engine: Engine, claim: Claim): Promise<Boundary | null> {
  return inTransaction(engine.pool, async (tx) => {
    const session = await claimSession(tx, claim);
    if (!session) return null;
    const refusal = await toRefusal(tx, session);
    if (refusal) return { session: null, history: null, change: await updateSession(tx, session, refusal) };
    const update = toStart(session, await readMessages(tx, session.id));
    if (!update) return { session, history: null, change: null };
    const change = await updateSession(tx, session, update);
    // The row was written twice in one transaction, so its version is still the one that the claim made.
    return { session: toStarted(session, update), history: null, change };
  });
}

/** What happens to a session whose step is claimed: it starts, and takes messages up; null when neither. */
function toStart(session: ClaimedSessionRow, waiting: readonly WaitingMessage[]): SessionUpdate | null {
  const messages = waiting.map(({ message }) => messageEvent(message));
  const isStart = session.status === "pending";
  const events = isStart ? startEvents(session, messages) : messages;
  if (events.length === 0) return null;
  return {
    patch: {
      status: mustMove(session, "step_claimed"),
      ...(isStart ? { runIndex: session.nextIndex } : {}),
    },
    events,
    takenMessages: waiting.map(({ id }) => id),
    due: "unchanged",
    startedNow: isStart,
  };
}

function toStarted(session: ClaimedSessionRow, update: SessionUpdate): ClaimedSessionRow {
  return { ...session, ...update.patch, nextIndex: session.nextIndex + update.events.length };
}

export async function readHistory(
  { pool }: Engine,
  { id, fence }: ClaimedSessionRow,
): Promise<StoredEvent[] | null> {
  return readOrReturn(pool, { sessionId: id, fence }, () => readTranscriptEvents(pool, id));
}

/** A step that is held and cannot be read now goes back as it was: the sweep has another worker try. */
export async function readOrReturn<T>(
  pool: pg.Pool,
  claim: { sessionId: string; fence: number },
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    await returnLease(pool, claim).catch(() => null);
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
    const isStale = await hasWaitingMessages(tx, session.id);
    return pauseAtBoundary(session, isStale ? restartAfter(failure) : failure);
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
