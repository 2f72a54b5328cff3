// Moments that processes of one machine can compare.
import { setImmediate as nextTurn } from "node:timers/promises";

/** Milliseconds of the monotonic clock that all processes of a machine share. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/**
 * How far the wall clock is ahead of {@link monotonicMs}, in milliseconds, to some microseconds: the wall clock itself
 * is only told in whole milliseconds, so its next tick is waited for. Ask anew every few seconds, since clocks are
 * corrected.
 */
export async function findWallOffset(): Promise<number> {
  // A tick that came while something else ran would be seen late: the earliest of some is the right one.
  const offsets: number[] = [];
  for (let tick = 0; tick < TICKS; tick++) {
    const before = Date.now();
    while (Date.now() === before);
    offsets.push(Date.now() - monotonicMs());
    await nextTurn();
  }
  return Math.max(...offsets);
}

const TICKS = 5;
