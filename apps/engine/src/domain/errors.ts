// The one table of errors that a caller can cause. The engine knows no HTTP status; the API maps the codes.
import type { JsonValue } from "./json.ts";

/** Every code that an error reply can carry, with what it means. */
export const ERROR_CODES = {
  unauthorized: "The API key is missing or unknown.",
  admin_required: "Only an admin key may do this.",
  token_scope: "The session token may not do this.",
  not_found: "The route does not exist.",
  session_not_found: "No such session in this organization.",
  event_not_found: "The session has no event of this index.",
  agent_not_found: "No such agent in this organization.",
  calls_unknown: "None of the posted results fits a call of the session.",
  call_not_found: "The session has no tool call of this id.",
  key_not_found: "No such API key, or none that this key may manage.",
  session_finished: "The session has ended; what was asked of it has no place any more.",
  idempotency_in_flight: "Another request with the same Idempotency-Key is under way.",
  session_deleted: "The session that this Idempotency-Key made has been deleted since.",
  call_claimed: "Another client has claimed the call.",
  approval_conflict: "The calls need no decision, were decided otherwise, or wait no longer.",
  calls_pending: "Calls are open; what was asked has its place between turns.",
  call_not_pending: "The call waits for no result any more.",
  approval_required: "The call waits for an approval first.",
  content_removed: "The session was ephemeral, and its content has been removed.",
  result_conflict: "The calls were settled before, with other content.",
  agent_exists: "An agent of this name exists.",
  agent_read_only: "The agent is built in and cannot be changed.",
  key_in_use: "An admin key cannot revoke itself.",
  body_too_large: "The request's body is too large.",
  unsupported_media_type: "The request's content type is not JSON.",
  json_invalid: "The request's body is not valid JSON, nests too deep, or repeats a key.",
  invalid_request: "The request does not have the documented form.",
  session_limit: "The organization has as many active sessions as it may have, and this one does not queue.",
  rate_limited: "Too many requests; try again later.",
  unavailable: "A part that this request needs is out of reach; try again later.",
  internal: "An unexpected error; the log has it under the request id.",
} as const;

/** A code of {@link ERROR_CODES}. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** Where a request is wrong, in the reference's shape: the path to the field, the fault, its kind. */
export interface Fault {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/**
 * An error that is the caller's to mend. `faults` are for 422s; `extra` is added to the reply's body; `retryAfterMs` says
 * when it may have passed.
 */
export class TandemError extends Error {
  readonly code: ErrorCode;
  readonly faults: Fault[];
  readonly extra: { [key: string]: JsonValue };
  readonly retryAfterMs: number | null;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      faults?: Fault[];
      extra?: { [key: string]: JsonValue };
      retryAfterMs?: number;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "TandemError";
    this.code = code;
    this.faults = options.faults ?? [];
    this.extra = options.extra ?? {};
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** A 422 at one place of the request. */
export function invalidRequest(loc: (string | number)[], msg: string, type = "value_error"): TandemError {
  return new TandemError("invalid_request", msg, { faults: [{ loc, msg, type }] });
}
