// A change that makes a step due, and claims it in the same commit for a worker that has a free slot: the worker is
// spared a commit of its own, and often every look at the database, between its caller's results and the model's next
// request.
import { announce, type Engine } from "../engine.ts";
import { toNews } from "../handover/step-news.ts";
import { readFence } from "../postgres/leases.ts";
import type { SessionRow } from "../postgres/session-row.ts";
import type { SessionWithCalls } from "../postgres/tool-calls.ts";
import { type PresumedSession, updatePresumed } from "../postgres/update-presumed.ts";
import {
  type SessionChange,
  type SessionUpdate,
  toClaimed,
  updateUnchanged,
  type WrittenChange,
} from "../postgres/update-session.ts";
import type { Place } from "../queue/assignment.ts";

/** A change that was written, and what gives its step to the worker that it was claimed for; null when it was not. */
export interface AssignedChange {
  change: SessionChange;
  give: (() => void) | null;
}

/**
 * Changes a session if it is as it was when it was read; see {@link updateUnchanged}.
 *
 * @param options.messageWaits whether a message waits: at such a boundary more happens than a claim, and the worker
 *   sees to that
 * @returns null when nothing was written
 */
export async function updateAndAssign(
  engine: Engine,
  session: SessionRow,
  update: SessionUpdate,
  options: { messageWaits: boolean },
): Promise<AssignedChange | null> {
  const isPlain = !options.messageWaits && !session.isTimeOver && !session.pauseRequested;
  const place = update.due === "now" && isPlain ? engine.queue.reserve() : null;
  if (!place) {
    const written = await updateUnchanged(engine.pool, session, update);
    return written && { change: written.change, give: null };
  }
  try {
    const written = await updateUnchanged(engine.pool, session, withClaim(update, place));
    if (!written) place.release();
    return written && toAssigned(place, written, { fromVersion: session.version, update });
  } catch (error) {
    place.abandon({ sessionId: session.id, fence: session.fence + 1 });
    throw error;
  }
}

/** What came of a change on a presumption: it was written, or the session as it is, or neither. */
export interface PresumedAssignment {
  written: AssignedChange | null;
  found: SessionWithCalls | null;
}

/**
 * Changes a session if it is as presumed; see {@link updatePresumed}.
 *
 * @returns null when there is no such session
 */
export async function assignPresumed(
  { pool }: Engine,
  place: Place,
  presumed: PresumedSession,
  update: SessionUpdate,
): Promise<PresumedAssignment | null> {
  try {
    const outcome = await updatePresumed(pool, presumed, withClaim(update, place));
    if (outcome?.written) {
      return { written: toAssigned(place, outcome.written, { ...outcome.written, update }), found: null };
    }
    place.release();
    return outcome && { written: null, found: outcome.found };
  } catch (error) {
    await abandon(pool, place, presumed);
    throw error;
  }
}

/**
 * Has a step taken back that may have been claimed, under a token that nobody was told. Where the database does not
 * tell it either, the sweep finds the step once its lease has lapsed.
 */
async function abandon(pool: Engine["pool"], place: Place, { sessionId }: PresumedSession): Promise<void> {
  const fence = await readFence(pool, sessionId).catch(() => null);
  if (fence === null) place.release();
  else place.abandon({ sessionId, fence });
}

const withClaim = (update: SessionUpdate, { claim }: Place): SessionUpdate => ({
  ...update,
  claim: { ...claim, isGiven: true },
});

function toAssigned(
  place: Place,
  written: WrittenChange,
  { fromVersion, update }: { fromVersion: string; update: SessionUpdate },
): AssignedChange {
  const { change } = written;
  const claimed = toClaimed(written);
  const news = toNews(claimed, fromVersion, update.events);
  const assignment = { sessionId: change.sessionId, fence: change.fence, news };
  return { change, give: () => place.give(assignment, claimed.worker) };
}

/** Tells the world of the change, and then the worker of its step. */
export async function announceAssigned(engine: Engine, { change, give }: AssignedChange): Promise<void> {
  const announced = announce(engine, change);
  give?.();
  await announced;
}
