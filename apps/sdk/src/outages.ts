// Patience with a server that is out of reach, for what must arrive.
import { pause } from "./abort-scope.ts";
import { isOutage } from "./errors.ts";
import { retryDelayMs } from "./retry.ts";

/** After so many failures in a row it is given up: about half a minute, and the retries of each request. */
const maxFailures = 9;

/** Waits before the next attempt; throws the error when there is to be none, since it does not pass by itself. */
export async function pauseAfterOutage(
  failures: number,
  { error, signal }: { error: unknown; signal: AbortSignal },
): Promise<void> {
  if (signal.aborted || failures >= maxFailures || !isOutage(error)) throw error;
  await pause(retryDelayMs(failures, error), signal);
}
