// Slots: who gets one at once, who waits, and who comes next. With a limit of 0 there are always free ones.
import type pg from "pg";
import { TandemError } from "../domain/errors.ts";
import { requestDispatched } from "../domain/events.ts";
import { mustMove } from "../domain/session-state.ts";
import { announce, type Engine } from "../engine.ts";
import {
  countActive,
  countQueued,
  listQueueingOrganizations,
  lockAdmission,
  lockOldestQueued,
} from "../postgres/admission.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { type SessionChange, updateSession } from "../postgres/update-session.ts";
import { noteSwept } from "../telemetry/note-swept.ts";

/** Most sessions that one transaction gives a slot. */
const ADMIT_AT_ONCE = 100;

/**
 * Holds the organization's slots until the transaction ends, when they are limited. Must come before the transaction
 * locks a session: who admits sessions holds the slots and then locks them.
 */
export async function holdSlots(tx: pg.ClientBase, engine: Engine, organizationId: string): Promise<void> {
  if (engine.maxActiveSessions > 0) await lockAdmission(tx, organizationId);
}

/**
 * Whether a session that wants to start must wait for a slot. Those that wait already come first. Holds the slots; see
 * {@link holdSlots}.
 *
 * @param queues false for a session that would rather be refused
 * @throws {TandemError} `session_limit` when there is no free slot and the session does not queue
 */
export async function mustQueue(
  tx: pg.ClientBase,
  engine: Engine,
  session: { organizationId: string; queues: boolean },
): Promise<boolean> {
  const limit = engine.maxActiveSessions;
  if (limit === 0) return false;
  await holdSlots(tx, engine, session.organizationId);
  const active = await countActive(tx, session.organizationId, limit);
  const free = limit - active;
  const isFull = (await countQueued(tx, session.organizationId, free)) === free;
  if (isFull && !session.queues) {
    throw new TandemError(
      "session_limit",
      `The organization has ${active} active sessions of ${limit}, and this one does not queue.`,
    );
  }
  return isFull;
}

/**
 * Gives the free slots of an organization to the sessions that have waited longest.
 *
 * @returns how many sessions got one
 */
export async function admitSessions(engine: Engine, organizationId: string): Promise<number> {
  for (let count = 0; ; ) {
    const admitted = await inTransaction(engine.pool, async (tx) => {
      await lockAdmission(tx, organizationId);
      const limit = engine.maxActiveSessions;
      const free = limit === 0 ? ADMIT_AT_ONCE : limit - (await countActive(tx, organizationId, limit));
      if (free <= 0) return [];
      const changes: SessionChange[] = [];
      for (const session of await lockOldestQueued(tx, organizationId, Math.min(free, ADMIT_AT_ONCE))) {
        const status = mustMove(session, "admitted");
        const update = { patch: { status }, events: [requestDispatched(status)], due: "now" as const };
        changes.push(await updateSession(tx, session, update));
      }
      return changes;
    });
    await Promise.all(admitted.map((change) => announce(engine, change)));
    // Until nobody comes any more: one that was paused or cancelled just then leaves its slot to the next one.
    if (admitted.length === 0) return count;
    count += admitted.length;
  }
}

/**
 * Tells the world about a committed change, and hands a slot that it freed to whoever waits. When that fails, the sweep
 * does it.
 */
export async function announceAndAdmit(engine: Engine, change: SessionChange): Promise<void> {
  await announce(engine, change);
  if (change.isEnded) await admitIfQueued(engine, change.organizationId);
}

/** Admits when somebody waits. Never throws: what it did not do, the sweep does. */
export async function admitIfQueued(engine: Engine, organizationId: string): Promise<void> {
  if (engine.maxActiveSessions === 0) return;
  try {
    const isWaiting = (await countQueued(engine.pool, organizationId, 1)) === 1;
    if (isWaiting) await admitSessions(engine, organizationId);
  } catch (error) {
    engine.log.warn({ err: error }, "a free slot was not given on; the sweep will do it");
  }
}

/** Gives on what slots are free anywhere. One organization's fault keeps no other from its slots. */
export async function admitEverywhere(engine: Engine): Promise<void> {
  for (const organizationId of await listQueueingOrganizations(engine.pool)) {
    const count = await admitSessions(engine, organizationId).catch((error: unknown) => {
      engine.log.warn({ err: error, organization: organizationId }, "free slots could not be given on");
      return 0;
    });
    noteSwept(engine.telemetry, "slots", count);
  }
}
