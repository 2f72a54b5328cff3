import { setTimeout as delay } from "node:timers/promises";

const firstPollMs = 5;
const longestPollMs = 50;

/**
 * Waits until `condition` gives something truthy, and returns that.
 *
 * @throws an error that names `what` when it does not happen in `timeoutMs` (default 10,000).
 * @example await waitFor(() => requests.length === 2, { what: "the second model request" });
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  options: { what: string; timeoutMs?: number },
): Promise<Exclude<T, false | null | undefined | 0 | "">> {
  const { what, timeoutMs = 10_000 } = options;
  const deadline = Date.now() + timeoutMs;
  for (let pollMs = firstPollMs; ; pollMs = Math.min(pollMs * 2, longestPollMs)) {
    const value = await condition();
    if (value) return value as Exclude<T, false | null | undefined | 0 | "">;
    if (Date.now() >= deadline) throw new Error(`Waited ${timeoutMs} ms in vain for ${what}`);
    await delay(pollMs);
  }
}
