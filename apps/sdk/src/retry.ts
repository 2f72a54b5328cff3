// Which requests may be sent again, and when. Pure.
import { APIError, ConnectionError, isOutage, TimeoutError } from "./errors.ts";

const firstBackoffMs = 500;
const longestBackoffMs = 8_000;
/** A server that asks for more patience than this gets its next request early. */
const longestRetryAfterMs = 60_000;

/** Methods of which a repeat changes nothing. */
const repeatableMethods = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);

/**
 * True when the same request may be sent again after this error: always after 408 and 429, since nothing was admitted;
 * after a 5xx or a broken connection only where a repeat is harmless; never after 409. A repeated tool result is
 * harmless, since it gets a receipt, and so is what has an Idempotency-Key.
 */
export function isRepeatable(request: Pick<Request, "method" | "url" | "headers">, error: unknown): boolean {
  const status = error instanceof APIError ? error.status : null;
  if (status === 408 || status === 429) return true;
  if (repeatableMethods.has(request.method)) {
    return status === null
      ? error instanceof ConnectionError || error instanceof TimeoutError
      : status >= 500;
  }
  const isHarmless = request.url.endsWith("/tool_results") || request.headers.has("idempotency-key");
  return request.method === "POST" && isHarmless && isOutage(error);
}

/**
 * How long to wait before the next attempt, in ms: what the server asked for, else anything up to a bound that doubles
 * from 0.5 s to 8 s, so that many clients of one restarted server do not come back as one.
 */
export function retryDelayMs(failures: number, error: unknown): number {
  const retryAfter = error instanceof APIError ? error.retryAfter : null;
  if (retryAfter !== null) return Math.min(retryAfter * 1_000, longestRetryAfterMs);
  return Math.random() * Math.min(firstBackoffMs * 2 ** (failures - 1), longestBackoffMs);
}
