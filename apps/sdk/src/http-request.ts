// From an operation as the generated code describes it to a request.
import { APIError } from "./errors.ts";
import type { Operation } from "./operations.ts";
import type { Settings } from "./settings.ts";

/** The server takes no larger body. Refused here, since a server that hangs up midway looks like a broken line. */
const maxBodyBytes = 10_000_000;

/** The request of an operation. */
export function toRequest(method: string, operation: Operation, settings: Settings): Request {
  const { body, headers, signal } = operation;
  return new Request(toUrl(operation, settings), {
    method,
    headers: toHeaders(
      { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      settings,
    ),
    ...(body === undefined ? {} : { body: toBody(body) }),
    ...(signal ? { signal } : {}),
  });
}

function toUrl({ url, path, query }: Operation, { baseUrl }: Settings): string {
  const filled = url.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(path?.[name])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined && item !== null) search.append(name, String(item));
    }
  }
  return `${baseUrl}${filled}${search.size > 0 ? `?${search}` : ""}`;
}

/** Later ones win: the key, the client's own headers, those of the request. */
function toHeaders(own: Record<string, string>, { headers, apiKey }: Settings): Headers {
  const merged = new Headers(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` });
  for (const [name, value] of Object.entries({ ...headers, ...own })) merged.set(name, value);
  return merged;
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
