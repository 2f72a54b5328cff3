// Every error that this package throws. An aborted `signal` is the exception: its own reason is thrown, as with fetch.
import type { ErrorCode, ToolRequest, ValidationError } from "./generated/types.gen.ts";
import type { SchemaIssue } from "./schemas/standard-schema.ts";
import type { SessionResult } from "./session-result.ts";

/** What all errors of this package are. `cause` holds what was underneath, when there was something. */
export class TandemError extends Error {
  override readonly name: string = "TandemError";
}

/** What an {@link APIError} is made of. */
export interface APIErrorFields {
  status: number;
  code?: ErrorCode | (string & {}) | null;
  detail?: string | ValidationError[] | null;
  requestId?: string | null;
  retryAfter?: number | null;
}

/**
 * The server refused a request. The message leads with the server's own words.
 *
 * @example
 * try {
 *   await client.getSession({ path: { id } });
 * } catch (error) {
 *   if (error instanceof APIError && error.code === "session_not_found") return null;
 *   throw error;
 * }
 */
export class APIError extends TandemError {
  override readonly name = "APIError";
  /** The HTTP status. */
  readonly status: number;
  /** Tells errors of one status apart; null when the reply did not come from Tandem itself. */
  readonly code: ErrorCode | (string & {}) | null;
  /** The error in words, or for 422 every fault with its place. */
  readonly detail: string | ValidationError[] | null;
  /** The request's id in the server's log. */
  readonly requestId: string | null;
  /** When to try again, in seconds from now, where the server said so. */
  readonly retryAfter: number | null;

  constructor(fields: APIErrorFields, options?: ErrorOptions) {
    super(toMessage(fields), options);
    this.status = fields.status;
    this.code = fields.code ?? null;
    this.detail = fields.detail ?? null;
    this.requestId = fields.requestId ?? null;
    this.retryAfter = fields.retryAfter ?? null;
  }
}

/** The server could not be reached, or the connection broke before the whole reply was there. */
export class ConnectionError extends TandemError {
  override readonly name = "ConnectionError";
}

/** A request, or the wait for a session, took longer than `timeoutMs`. The session itself goes on. */
export class TimeoutError extends TandemError {
  override readonly name = "TimeoutError";
  /** The session that was waited for; `client.session(id)` joins it again. Null when a request timed out. */
  readonly sessionId: string | null;

  constructor(message: string, options: ErrorOptions & { sessionId?: string } = {}) {
    super(message, options);
    this.sessionId = options.sessionId ?? null;
  }
}

/** The session did not come to a good end, and `throwOnFailure` is set. The result says why. */
export class SessionFailedError extends TandemError {
  override readonly name = "SessionFailedError";
  readonly result: SessionResult<unknown>;

  constructor(result: SessionResult<unknown>) {
    const { sessionId, status, reason, error } = result;
    super(`Session ${sessionId} is ${status}${reason ? ` (${reason})` : ""}${error ? `: ${error}` : ""}`);
    this.result = result;
  }
}

/** The answer does not fit `answerSchema`. */
export class AnswerValidationError extends TandemError {
  override readonly name = "AnswerValidationError";
  /** The answer as the model gave it. */
  readonly answer: unknown;
  /** What does not fit, with its place. */
  readonly issues: readonly SchemaIssue[];
  /** The result of the session, which has ended; its `answer` is the one that does not fit. */
  readonly result: SessionResult<unknown>;

  constructor(result: SessionResult<unknown>, issues: readonly SchemaIssue[]) {
    super(`The answer of session ${result.sessionId} does not fit: ${issues.map(toIssueText).join("; ")}`);
    this.answer = result.answer;
    this.issues = issues;
    this.result = result;
  }
}

/** The session waits for an approval that nobody here gives, and that has no deadline. The session goes on waiting. */
export class PermissionRequiredError extends TandemError {
  override readonly name = "PermissionRequiredError";
  readonly sessionId: string;
  /** The calls that wait. */
  readonly calls: readonly ToolRequest[];

  constructor(sessionId: string, calls: readonly ToolRequest[]) {
    const names = [...new Set(calls.map(({ tool_name }) => JSON.stringify(tool_name)))].join(", ");
    super(
      `Session ${sessionId} waits for an approval of ${names}: decide in \`onPermissionRequest\`, set it to "elsewhere" to ` +
        "wait for others, or set an `approvalTimeoutS`",
    );
    this.sessionId = sessionId;
    this.calls = calls;
  }
}

/** True for what passes by itself: a broken connection, a slow reply, a server that is busy or being restarted. */
export function isOutage(error: unknown): boolean {
  if (error instanceof APIError) return [408, 429, 502, 503, 504].includes(error.status);
  return error instanceof ConnectionError || error instanceof TimeoutError;
}

function toMessage({ status, code, detail }: APIErrorFields): string {
  const mark = code ? `${status} ${code}` : `HTTP ${status}`;
  if (!Array.isArray(detail)) return detail ? `${detail} (${mark})` : mark;
  const [first, ...others] = detail;
  if (!first) return mark;
  const more = others.length > 0 ? `, and ${others.length} more` : "";
  return `${toPlacedText(first)}${more} (${mark})`;
}

/** A fault with its place, unless its text begins with that: the first part of a place only says `body` or `query`. */
function toPlacedText({ loc, msg }: ValidationError): string {
  const place = loc.slice(1).join(".");
  return place !== "" && msg.startsWith(place) ? msg : `${loc.join(".")}: ${msg}`;
}

function toIssueText({ path, message }: SchemaIssue): string {
  const place = path?.map((key) => String(typeof key === "object" ? key.key : key)).join(".");
  return place ? `${place}: ${message}` : message;
}
