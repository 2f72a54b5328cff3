// The HTTP below the generated operations: timeouts, retries, typed errors. It knows no operation but its URL.
import { openAbortScope, pause } from "./abort-scope.ts";
import { toAPIError } from "./api-error.ts";
import { APIError, ConnectionError, TandemError, TimeoutError } from "./errors.ts";
import { type Client, createClient, createConfig } from "./generated/client/index.ts";
import { isRepeatable, retryDelayMs } from "./retry.ts";
import type { Settings } from "./settings.ts";

/** The server takes no larger body. Refused here, since a server that hangs up midway looks like a broken line. */
const maxBodyBytes = 10_000_000;
/** A long poll that says nothing this long after its time is taken for a dead connection. */
const maxPollDelayMs = 10_000;

/** The generated operations' client: it throws typed errors, and gives null where a reply has no body. */
export function createHttpClient(settings: Settings): Client {
  return createClient(
    createConfig({
      baseUrl: settings.baseUrl,
      headers: settings.headers,
      ...(settings.apiKey === null ? {} : { auth: settings.apiKey }),
      bodySerializer: toBody,
      fetch: createFetch(settings),
      responseStyle: "data",
      throwOnError: true,
    }),
  );
}

function createFetch(settings: Settings): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    for (let failures = 1; ; failures += 1) {
      try {
        return await sendOnce(request.clone(), settings);
      } catch (error) {
        const isOver = failures > settings.maxRetries || request.signal.aborted;
        if (isOver || !isRepeatable(request, error)) throw error;
        await pause(retryDelayMs(failures, error), request.signal);
      }
    }
  };
}

async function sendOnce(request: Request, settings: Settings): Promise<Response> {
  const timeoutMs = toTimeoutMs(request, settings);
  const scope = openAbortScope({
    parent: request.signal,
    timeoutMs,
    timeoutError: () => new TimeoutError(`${describe(request)} had no reply within ${timeoutMs} ms`),
  });
  try {
    const response = await settings.fetch(request, { signal: scope.signal });
    return toReply(request, response, await response.text());
  } catch (error) {
    if (scope.signal.aborted) throw scope.signal.reason;
    if (error instanceof TandemError) throw error;
    throw new ConnectionError(`${describe(request)} failed: ${toReason(error)}`, { cause: error });
  } finally {
    scope.release();
  }
}

/** The time that a long poll is asked to wait is not counted. */
function toTimeoutMs(request: Request, { timeoutMs }: Settings): number {
  const waitMs = Number(new URL(request.url).searchParams.get("wait_for_seconds")) * 1_000;
  return waitMs > 0 ? waitMs + Math.min(timeoutMs, maxPollDelayMs) : timeoutMs;
}

/** The reply with its body read and checked, so that the generated code cannot fail on it. */
function toReply(request: Request, response: Response, text: string): Response {
  if (!response.ok) throw toAPIError(response, text);
  try {
    if (text !== "") JSON.parse(text);
  } catch (error) {
    throw new TandemError(`${describe(request)} was answered with something that is not JSON`, {
      cause: error,
    });
  }
  return new Response(text || "null", { headers: { "content-type": "application/json" } });
}

/** The JSON of a request's body. */
function toBody(value: unknown): string {
  const json = JSON.stringify(value);
  if (byteLength(json) <= maxBodyBytes) return json;
  const detail = "The body is over 10,000,000 bytes; it was not sent.";
  throw new APIError({ status: 413, code: "body_too_large", detail });
}

/** UTF-8 takes at most three bytes for a unit of a string, so most texts need no counting. */
function byteLength(text: string): number {
  return text.length * 3 <= maxBodyBytes ? text.length : new TextEncoder().encode(text).byteLength;
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
