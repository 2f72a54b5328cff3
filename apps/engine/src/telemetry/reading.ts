import { settleWithin } from "../domain/time-limit.ts";

/** How long whoever asks waits for an answer, in milliseconds. Scrapers give up after some seconds. */
const PATIENCE_MS = 800;

/** How long an answer is good at least, in milliseconds: many scrapers ask no more often than one. */
const GOOD_FOR_MS = 3_000;

/**
 * An answer is good for so many times as long as it took, so that a slow question is asked less often, and for so long at
 * most, in milliseconds: what is wrong by then must show.
 */
const GOOD_FOR_TIMES = 30;
const GOOD_FOR_MAX_MS = 10_000;

/**
 * Makes a question that many may ask: it is put once at a time, and its answer is given to all for a few seconds.
 *
 * @returns null when there is no answer in time, or it failed
 */
export function createReading<T>(read: () => Promise<T>): () => Promise<T | null> {
  let known: { value: T; until: number } | null = null;
  let asking: Promise<T> | null = null;

  const ask = async (): Promise<T> => {
    const startedAt = performance.now();
    const value = await read();
    const now = performance.now();
    const goodForMs = Math.min((now - startedAt) * GOOD_FOR_TIMES, GOOD_FOR_MAX_MS);
    known = { value, until: now + Math.max(GOOD_FOR_MS, goodForMs) };
    return value;
  };
  return async () => {
    if (known && known.until > performance.now()) return known.value;
    asking ??= ask().finally(() => {
      asking = null;
    });
    return settleWithin(PATIENCE_MS, asking).catch(() => null);
  };
}
