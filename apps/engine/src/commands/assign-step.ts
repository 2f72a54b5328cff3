// A change that makes a step due, and claims it in the same commit for a worker that has a free slot: the worker is spared
// a commit of its own, and often every look at the database, between its caller's results and the model's next request.
import { announce, type Engine } from "../engine.ts";
import { toNews } from "../handover/step-news.ts";
import type { SessionRow } from "../postgres/session-row.ts";
import {
  type SessionChange,
  type SessionUpdate,
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
 * @param options.messageWaits whether a message waits: at such a boundary more happens than a claim, and the worker sees
 *   to that
 * @returns null when nothing was written
 */
export async function updateAndAssign(
  engine: Engine,
  session: SessionRow,
  update: SessionUpdate,
  options: { messageWaits: boolean },
): Promise<AssignedChange | null> {
  const isPlain = !options.messageWaits && !session.isTimeOver && !session.pauseRequested;
  const place = update.due === "now" && isPlain ? engine.queue.reserve(session.worker) : null;
  if (!place) {
    const written = await updateUnchanged(engine.pool, session, update);
    return written && { change: written.change, give: null };
  }
  const written = await writeFor(place, engine, session, {
    ...update,
    claim: { ...place.claim, isGiven: true },
  });
  if (!written) return null;
  const { change, claimed } = written;
  const news = claimed ? toNews(claimed, session.version, update.events) : "";
  return { change, give: () => place.give({ sessionId: session.id, fence: change.fence, news }) };
}

/** Leaves no place reserved, whatever becomes of the statement. */
async function writeFor(
  place: Place,
  { pool }: Engine,
  session: SessionRow,
  update: SessionUpdate,
): Promise<WrittenChange | null> {
  try {
    const written = await updateUnchanged(pool, session, update);
    if (!written) place.release();
    return written;
  } catch (error) {
    place.abandon({ sessionId: session.id, fence: session.fence + 1 });
    throw error;
  }
}

/** Tells the world of the change, and then the worker of its step. */
export async function announceAssigned(engine: Engine, { change, give }: AssignedChange): Promise<void> {
  const announced = announce(engine, change);
  give?.();
  await announced;
}
