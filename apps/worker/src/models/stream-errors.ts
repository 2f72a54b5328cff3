// Errors in the middle of a streamed reply. Each package gives them in its provider's own words; they are told as the
// same error is that is a whole reply.
import { AISDKError, APICallError } from "@ai-sdk/provider";

/** The statuses that providers give these kinds of errors, where they are not in a stream. */
const STATUSES: Record<string, number> = {
  invalid_request_error: 400,
  invalid_prompt: 400,
  context_length_exceeded: 400,
  authentication_error: 401,
  billing_error: 402,
  insufficient_quota: 403,
  permission_error: 403,
  not_found_error: 404,
  model_not_found: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  api_error: 500,
  server_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/** The error of a stream as one of a request. One of an unknown kind may pass: the request was good enough to begin. */
export function toStreamError(error: unknown): Error {
  if (AISDKError.isInstance(error)) return error;
  const { message, type, code, statusCode } = toFields(error);
  return new APICallError({
    message: typeof message === "string" ? message : `an error without words: ${toText(error)}`,
    url: "",
    requestBodyValues: {},
    statusCode: [statusCode, code, toStatus(code), toStatus(type)].find(isStatus) ?? 500,
    cause: error,
  });
}

function toFields(error: unknown): Record<string, unknown> {
  return typeof error === "object" && error !== null ? { ...error, message: (error as Error).message } : {};
}

function toStatus(kind: unknown): number | undefined {
  return typeof kind === "string" && Object.hasOwn(STATUSES, kind) ? STATUSES[kind] : undefined;
}

function isStatus(value: unknown): value is number {
  return typeof value === "number" && value >= 400 && value < 600;
}

function toText(error: unknown): string {
  return String(JSON.stringify(error) ?? error).slice(0, 200);
}
