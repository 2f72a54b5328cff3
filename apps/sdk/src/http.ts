// The HTTP below the generated operations: timeouts, retries, typed errors. It knows no operation but its URL.
import { openAbortScope, pause } from "./abort-scope.ts";
import { toAPIError } from "./api-error.ts";
import { ConnectionError, TandemError, TimeoutError } from "./errors.ts";
import { toRequest } from "./http-request.ts";
import type { Operation, Send } from "./operations.ts";
import { isRepeatable, retryDelayMs } from "./retry.ts";
import type { Settings } from "./settings.ts";

/** A long poll that says nothing this long after its time is taken for a dead connection. */
const maxPollDelayMs = 10_000;

/**
 * What operations send their requests with: it throws typed errors, and gives null where a reply has no body. Each has a
 * signal of its own: Node leaves a listener on that of a request until it is collected, thousands on a long-lived one.
 */
export function createSend(settings: Settings): Send {
  return async (method, operation) => {
    const scope = openAbortScope({ parent: operation.signal ?? undefined });
    try {
      return await send(toRequest(method, { ...operation, signal: scope.signal }, settings), settings);
    } finally {
      scope.release();
    }
  };
}

/**
 * Opens a reply that comes piece by piece: its body is not read, and it is not tried again.
 *
 * @throws {APIError} when the server refuses
 * @throws {ConnectionError} when it cannot be reached
 */
export async function openReply(operation: Operation, settings: Settings): Promise<Response> {
  const request = toRequest("GET", operation, settings);
  try {
    const response = await settings.fetch(request, { signal: request.signal });
    if (response.ok) return response;
    throw toAPIError(response, await response.text());
  } catch (error) {
    throw request.signal.aborted ? request.signal.reason : toTypedError(request, error);
  }
}

async function send(request: Request, settings: Settings): Promise<unknown> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await sendOnce(request.clone(), settings);
    } catch (error) {
      const isOver = failures > settings.maxRetries || request.signal.aborted;
      if (isOver || !isRepeatable(request, error)) throw error;
      await pause(retryDelayMs(failures, error), request.signal);
    }
  }
}

async function sendOnce(request: Request, settings: Settings): Promise<unknown> {
  const timeoutMs = toTimeoutMs(request, settings);
  const scope = openAbortScope({
    parent: request.signal,
    timeoutMs,
    timeoutError: () => new TimeoutError(`${describe(request)} had no reply within ${timeoutMs} ms`),
  });
  try {
    const response = await settings.fetch(request, { signal: scope.signal });
    const text = await response.text();
    if (!response.ok) throw toAPIError(response, text);
    return toData(request, response, text);
  } catch (error) {
    throw scope.signal.aborted ? scope.signal.reason : toTypedError(request, error);
  } finally {
    scope.release();
  }
}

/** The time that a long poll is asked to wait is not counted. */
function toTimeoutMs(request: Request, { timeoutMs }: Settings): number {
  const waitMs = Number(new URL(request.url).searchParams.get("wait_for_seconds")) * 1_000;
  return waitMs > 0 ? waitMs + Math.min(timeoutMs, maxPollDelayMs) : timeoutMs;
}

/** What says that it is JSON, and is none, was cut short: without a length, nothing else tells so. */
function toData(request: Request, { headers, status }: Response, text: string): unknown {
  const isJson = headers.get("content-type")?.includes("json") ?? false;
  try {
    return text === "" && (status > 201 || !isJson) ? null : JSON.parse(text);
  } catch (cause) {
    const message = `${describe(request)} was answered with something that is not JSON`;
    throw new (isJson ? ConnectionError : TandemError)(message, { cause });
  }
}

function toTypedError(request: Request, error: unknown): TandemError {
  if (error instanceof TandemError) return error;
  return new ConnectionError(`${describe(request)} failed: ${toReason(error)}`, { cause: error });
}

function describe({ method, url }: Request): string {
  const { origin, pathname } = new URL(url);
  return `${method} ${origin}${pathname}`;
}

/** Node says "fetch failed" and hides the reason one level down. */
function toReason(error: unknown): string {
  const { message = String(error), cause } = Object(error) as Partial<Error>;
  if (!(cause instanceof Error)) return message;
  return cause.message || String((cause as { code?: unknown }).code ?? message);
}
