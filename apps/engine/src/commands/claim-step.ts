import { listMissingParts } from "../domain/agents.ts";
import {
  agentStarted,
  errorEvent,
  messageEvent,
  type NewEvent,
  type StoredEvent,
  stateRunning,
} from "../domain/events.ts";
import type { Engine } from "../engine.ts";
import { claimSession } from "../postgres/leases.ts";
import { readTranscriptEvents } from "../postgres/read-events.ts";
import type { SessionRow } from "../postgres/session-row.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { updateSession } from "../postgres/update-session.ts";
import { takeMessages } from "../postgres/waiting-messages.ts";

/** A step that this worker may run, and what it runs on. */
export interface ClaimedStep {
  session: SessionRow;
  /** The history as the model sees it. */
  events: StoredEvent[];
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
    const messages = (await takeMessages(tx, session.id)).map(messageEvent);
    const isStart = session.status === "pending";
    const events = isStart ? startEvents(session, messages) : messages;
    if (events.length > 0) {
      await updateSession(tx, session, {
        patch: isStart ? { status: "running" } : {},
        events,
        due: "unchanged",
        startedNow: isStart,
      });
    }
    return { session, isChanged: events.length > 0 };
  });
  if (!claimed) return null;
  if (claimed.isChanged) engine.wake.publish(claim.sessionId);
  return { session: claimed.session, events: await readTranscriptEvents(engine.pool, claim.sessionId) };
}

function startEvents(session: SessionRow, messages: NewEvent[]): NewEvent[] {
  const missing = session.steps === 0 ? listMissingParts(session.agent) : [];
  return [agentStarted(), ...messages, stateRunning(), ...missing.map(toMissingPart)];
}

function toMissingPart(part: string): NewEvent {
  return errorEvent(
    `This server does not provide the ${part}; the agent goes on with the tools it has.`,
    "environment",
  );
}
