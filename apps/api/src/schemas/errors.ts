// Error replies: the reference's `detail`, and beside it our `code` and `request_id`.
import { type TSchema, Type } from "@sinclair/typebox";
import { ERROR_CODES, type ErrorCode } from "@tandem/engine/domain/errors";
import { ref, stringEnum } from "./typebox.ts";

export const ErrorCodeSchema = stringEnum(Object.keys(ERROR_CODES) as ErrorCode[], {
  $id: "ErrorCode",
  description: "The error's code: errors of one status differ by it.",
});

export const ValidationError = Type.Object(
  {
    loc: Type.Array(Type.Union([Type.String(), Type.Integer()]), {
      description: "The path to the field: first `body`, `query` or `path`.",
    }),
    msg: Type.String({ description: "What is wrong with the value, and what is right." }),
    type: Type.String({ description: "The kind of the fault." }),
  },
  { $id: "ValidationError" },
);

const rest = {
  code: ref(ErrorCodeSchema),
  request_id: Type.String({ description: "The request's id in the server's log." }),
};

export const HTTPValidationError = Type.Object(
  { detail: Type.Array(ref(ValidationError)), ...rest },
  {
    $id: "HTTPValidationError",
    additionalProperties: true,
    examples: [
      {
        detail: [{ loc: ["body", "agent"], msg: "agent is required", type: "required" }],
        code: "invalid_request",
        request_id: "req-1",
      },
    ],
  },
);

export const ErrorReply = Type.Object(
  { detail: Type.String({ description: "The error in words." }), ...rest },
  {
    $id: "ErrorReply",
    additionalProperties: true,
  },
);

/** The error replies that a route documents, by status. */
export const errorReplies = {
  401: error("unauthorized", "The API key is missing or unknown."),
  403: error(
    "token_scope",
    "The session token may not do this, or an admin key is needed; `code` says which.",
  ),
  404: error("session_not_found", "No such thing in this organization."),
  409: error("session_finished", "The state does not allow it; `code` says which."),
  413: error("body_too_large", "The body is over 10,000,000 bytes."),
  415: error("unsupported_media_type", "The body is not `application/json`."),
  422: reply(ref(HTTPValidationError), "The request has a fault; `loc` says where."),
  429: error("rate_limited", "Too many requests; `Retry-After` says when to try again."),
  503: error(
    "unavailable",
    "The database or the queue is out of reach; `Retry-After` says when to try again.",
  ),
} as const;

function error(code: ErrorCode, description: string) {
  return reply(ref(ErrorReply), description, { detail: ERROR_CODES[code], code, request_id: "req_…" });
}

function reply(schema: TSchema, description: string, example?: object) {
  return { description, content: { "application/json": { schema, ...(example ? { example } : {}) } } };
}

type RouteError = 404 | 409 | 413 | 415;

/** The error replies of a route: those that every route has, and the given ones. */
export function errorsOf(...statuses: RouteError[]): Record<number, unknown> {
  return { ...errorsOfReading(...statuses), 403: errorReplies[403] };
}

/** The same of a route that every session token may read. */
export function errorsOfReading(...statuses: RouteError[]): Record<number, unknown> {
  return Object.fromEntries(
    ([401, 422, 429, 503, ...statuses] as const).map((status) => [status, errorReplies[status]]),
  );
}

/** The error replies of a route that needs no key: its requests are not limited. */
export function publicErrorsOf(...statuses: (404 | 422)[]): Record<number, unknown> {
  return Object.fromEntries(([503, ...statuses] as const).map((status) => [status, errorReplies[status]]));
}

/** The error replies of a route that takes a body. */
export function errorsOfBody(...statuses: (404 | 409)[]): Record<number, unknown> {
  return errorsOf(413, 415, ...statuses);
}

/** An answer without a body. */
export const noContent = (description: string) => ({ type: "null", description }) as const;

export const errorSchemas = [ErrorCodeSchema, ValidationError, HTTPValidationError, ErrorReply];
