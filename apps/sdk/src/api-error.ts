// From a reply that is not a success to a typed error.
import { APIError } from "./errors.ts";
import type { ValidationError } from "./generated/types.gen.ts";

/** Longest piece of a foreign reply, such as a proxy's error page, that goes into a message. */
const maxForeignTextLength = 200;

/** The error that a reply stands for. Replies of proxies, which have no `detail`, give what text they have. */
export function toAPIError(response: Response, text: string): APIError {
  const body = parseObject(text);
  return new APIError({
    status: response.status,
    code: toText(body.code),
    detail: toDetail(body) ?? toForeignText(response, text),
    requestId: toText(body.request_id) ?? response.headers.get("x-request-id"),
    retryAfter: toSeconds(response.headers.get("retry-after")),
  });
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function toDetail({ detail, message }: Record<string, unknown>): string | ValidationError[] | null {
  if (Array.isArray(detail) && detail.every(isFault)) return detail;
  return toText(detail) ?? toText(message);
}

function isFault(value: unknown): value is ValidationError {
  const { loc, msg } = Object(value) as Partial<ValidationError>;
  return Array.isArray(loc) && typeof msg === "string";
}

function toForeignText({ headers, statusText }: Response, text: string): string | null {
  const isPlain = headers.get("content-type")?.startsWith("text/plain") ?? false;
  return (isPlain && text.trim().slice(0, maxForeignTextLength)) || statusText || null;
}

function toText(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** `Retry-After` is a number of seconds, or a date. */
function toSeconds(header: string | null): number | null {
  if (header === null) return null;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}
