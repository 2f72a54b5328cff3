// Error replies: the reference's `detail`, and beside it our `code` and `request_id`.
import { Type } from "@sinclair/typebox";
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
    examples: [{ detail: "There is no session 0190….", code: "session_not_found", request_id: "req-1" }],
  },
);

/** The error replies that a route documents, by status. */
export const errorReplies = {
  401: error("The API key is missing or unknown."),
  404: error("No such thing in this organization."),
  409: error("The state does not allow it; `code` says which."),
  413: error("The body is over 10,000,000 bytes."),
  415: error("The body is not `application/json`."),
  422: { ...ref(HTTPValidationError), description: "The request has a fault; `loc` says where." },
  429: error("Too many requests; `Retry-After` says when to try again."),
  503: error("The database or the queue is out of reach; `Retry-After` says when to try again."),
} as const;

function error(description: string) {
  return { ...ref(ErrorReply), description };
}

/** The error replies of a route: those that every route has, and the given ones. */
export function errorsOf(...statuses: (404 | 409 | 413 | 415)[]): Record<number, unknown> {
  const listed = [401, 422, 429, 503, ...statuses].sort() as (keyof typeof errorReplies)[];
  return Object.fromEntries(listed.map((status) => [status, errorReplies[status]]));
}

/** The error replies of a route that takes a body. */
export function errorsOfBody(...statuses: (404 | 409)[]): Record<number, unknown> {
  return errorsOf(413, 415, ...statuses);
}

/** An answer without a body. */
export const noContent = (description: string) => ({ type: "null", description }) as const;

export const errorSchemas = [ErrorCodeSchema, ValidationError, HTTPValidationError, ErrorReply];
