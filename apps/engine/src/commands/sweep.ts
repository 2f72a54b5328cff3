import type { Engine } from "../engine.ts";
import { deleteOldIdempotencyKeys } from "../postgres/idempotency-keys.ts";
import { findOverdueSteps } from "../postgres/leases.ts";

/** Forgets what is kept for a time only. */
export async function sweepExpired(engine: Engine): Promise<void> {
  await deleteOldIdempotencyKeys(engine.pool);
}

/** Most steps that one sweep puts back; the next one takes the rest. */
const SWEEP_LIMIT = 1_000;

/**
 * Puts back every step that should run and that no worker holds: its job was lost, its worker died, or the queue
 * was away. Putting back a step whose job is still there does nothing.
 *
 * @param options.overdueMs how long a step must have been due, so that fresh ones are left to their own job
 * @returns how many steps were put back
 */
export async function sweep(engine: Engine, options: { overdueMs: number }): Promise<number> {
  const steps = await findOverdueSteps(engine.pool, { overdueMs: options.overdueMs, limit: SWEEP_LIMIT });
  for (const step of steps) await engine.queue.add(step);
  return steps.length;
}
