// What no process was told of, or could not do when it was told: found in the database and done now.
import type { Engine } from "../engine.ts";
import { foldSessionCounts } from "../postgres/count-sessions.ts";
import { deleteExpiredSessions } from "../postgres/delete-sessions.ts";
import { deleteOldIdempotencyKeys } from "../postgres/idempotency-keys.ts";
import { findOverdueSteps, findOverdueTimers } from "../postgres/leases.ts";
import { removeContent } from "../postgres/remove-content.ts";
import { deleteExpiredTokens } from "../postgres/session-tokens.ts";
import { noteSwept } from "../telemetry/note-swept.ts";
import { expireSession } from "./expire-session.ts";

/** Most sessions that one sweep removes, and how many go in one transaction: a session may have many events. */
const REMOVAL_LIMIT = 500;
const REMOVAL_BATCH = 50;

/** Most keys that one statement forgets; one that took longer than a statement may would be tried again for ever. */
const KEY_BATCH = 5_000;

/**
 * Forgets what is kept for a time only. Whoever waits for a removed session is woken, and finds it gone; one whose content
 * is removed still has its status.
 */
export async function sweepExpired(engine: Engine): Promise<void> {
  while ((await deleteOldIdempotencyKeys(engine.pool, { limit: KEY_BATCH })) === KEY_BATCH);
  while ((await deleteExpiredTokens(engine.pool, { limit: KEY_BATCH })) === KEY_BATCH);
  await foldSessionCounts(engine.pool);
  const count = await sweepSessions(engine, deleteExpiredSessions);
  noteSwept(engine.telemetry, "expired", count);
  if (count > 0) engine.log.info({ count }, "sessions were removed that were kept for as long as they asked");
  const emptied = await sweepSessions(engine, removeContent);
  noteSwept(engine.telemetry, "content", emptied);
  if (emptied > 0) engine.log.info({ count: emptied }, "the content of ephemeral sessions was removed");
}

/** Takes sessions batch by batch, up to a bound, and wakes whoever waits for one. */
async function sweepSessions(
  engine: Engine,
  take: (pool: Engine["pool"], options: { limit: number }) => Promise<string[]>,
): Promise<number> {
  let count = 0;
  for (let isMore = true; isMore && count < REMOVAL_LIMIT; ) {
    const ids = await take(engine.pool, { limit: REMOVAL_BATCH });
    for (const id of ids) engine.wake.publish(id);
    count += ids.length;
    isMore = ids.length === REMOVAL_BATCH;
  }
  return count;
}

/** Most steps and timers that one sweep takes on; the next one takes the rest. */
const SWEEP_LIMIT = 1_000;

/** Timers that are done at once: each holds a connection for a moment. */
const TIMERS_AT_ONCE = 4;

/**
 * Puts back every step that should run and that no worker holds: its job was lost, its worker died, or the queue
 * was away. Putting back a step whose job is still there does nothing.
 *
 * @param options.overdueMs how long a step must have been due, so that fresh ones are left to their own job
 * @throws when the queue cannot be reached
 */
export async function sweepSteps(engine: Engine, options: { overdueMs: number }): Promise<void> {
  const steps = await findOverdueSteps(engine.pool, { overdueMs: options.overdueMs, limit: SWEEP_LIMIT });
  for (const step of steps) await engine.queue.add(step);
  noteSwept(engine.telemetry, "steps", steps.length);
  if (steps.length > 0) engine.log.info({ count: steps.length }, "steps were put back by the sweep");
}

/** Does what the clocks of sessions have made due. */
export async function sweepTimers(engine: Engine): Promise<void> {
  const overdue = await findOverdueTimers(engine.pool, { limit: SWEEP_LIMIT });
  noteSwept(engine.telemetry, "timers", overdue.length);
  for (let start = 0; start < overdue.length; start += TIMERS_AT_ONCE) {
    await Promise.all(overdue.slice(start, start + TIMERS_AT_ONCE).map(expire));
  }

  /** One session's fault must not keep the others from their time. */
  async function expire(id: string): Promise<void> {
    await expireSession(engine, id).catch((error: unknown) => {
      engine.log.error({ err: error, session: id }, "a session's timer could not be done");
    });
  }
}
