// The one place where errors become replies. Codes map to statuses here and nowhere else.

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type ErrorCode, type Fault, TandemError } from "@tandem/engine/domain/errors";
import { isDatabaseUnavailable } from "@tandem/engine/postgres/pool";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import type { App } from "../context.ts";

/** The HTTP status of each error code. */
const HTTP_STATUS = {
  unauthorized: 401,
  admin_required: 403,
  token_scope: 403,
  not_found: 404,
  session_not_found: 404,
  event_not_found: 404,
  agent_not_found: 404,
  calls_unknown: 404,
  call_not_found: 404,
  key_not_found: 404,
  session_finished: 409,
  idempotency_in_flight: 409,
  session_deleted: 409,
  call_claimed: 409,
  approval_conflict: 409,
  calls_pending: 409,
  call_not_pending: 409,
  approval_required: 409,
  content_removed: 409,
  result_conflict: 409,
  agent_exists: 409,
  agent_read_only: 409,
  key_in_use: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  json_invalid: 422,
  invalid_request: 422,
  session_limit: 429,
  rate_limited: 429,
  unavailable: 503,
  internal: 500,
} as const satisfies Record<ErrorCode, number>;

/** When a client may try again after an error that passes, in whole seconds. */
const RETRY_AFTER_S = 1;

/** Refusals that pass soon. A limited rate says itself when. */
const PASSING: ReadonlySet<ErrorCode> = new Set(["idempotency_in_flight", "session_limit"]);

/** Errors of Fastify itself, in our words. */
const FASTIFY_ERRORS: Record<string, { code: ErrorCode; message: string }> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { code: "body_too_large", message: "The body is over 10,000,000 bytes." },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: "unsupported_media_type",
    message: "The body must be sent as application/json.",
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    code: "json_invalid",
    message: "The body's length is not what Content-Length says.",
  },
  FST_ERR_BAD_URL: { code: "not_found", message: "The path is not a valid URL." },
  FST_ERR_MAX_PARAM_LENGTH: { code: "not_found", message: "The path is too long." },
};

/** Answers what fails before there is a route: malformed and over-long URLs. For Fastify's `frameworkErrors`. */
export function answerFrameworkError(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  sendError(toTandemError(error), request, reply);
}

/** Faults below HTTP's requests, by Node's codes. */
const CLIENT_ERRORS: Record<string, [status: string, detail: string]> = {
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "The request's headers are too large."],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "The request took too long to arrive."],
};

/** Answers what is not even HTTP, in the form of every error. For Fastify's `clientErrorHandler`. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, detail] = CLIENT_ERRORS[error.code ?? ""] ?? [
    "400 Bad Request",
    "The request is not valid HTTP.",
  ];
  const body = JSON.stringify({ detail, code: "invalid_request", request_id: `req_${randomUUID()}` });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  );
}

/** Most of a body that is read on after it was refused, in bytes, and how long that may take, in milliseconds. */
const DISCARD_BYTES = 100_000_000;
const DISCARD_MS = 5_000;

/**
 * Reads the rest of a refused body, within bounds: a client that still sends when the connection closes sees a broken
 * pipe in place of the answer.
 */
async function discardBody(body: IncomingMessage): Promise<void> {
  let bytes = 0;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, DISCARD_MS);
    const finish = () => {
      clearTimeout(timer);
      resolve();
    };
    body.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > DISCARD_BYTES) finish();
    });
    for (const end of ["end", "close", "error"]) body.once(end, finish);
    if (body.readableEnded || body.destroyed) finish();
    body.resume();
  });
}

/** Adds the handlers for errors and unknown routes. */
export function answerErrors(app: App): void {
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    // The client hung up in the middle of its body: nobody is there to read an answer.
    if (request.raw.destroyed && !request.raw.complete) return reply.hijack();
    if (error.code === "FST_ERR_CTP_BODY_TOO_LARGE") await discardBody(request.raw);
    return sendError(toTandemError(error), request, reply);
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?")[0];
    return sendError(new TandemError("not_found", `There is no ${request.method} ${path}.`), request, reply);
  });
}

function toTandemError(error: FastifyError): TandemError {
  if (error instanceof TandemError) return error;
  const known = FASTIFY_ERRORS[error.code];
  if (known) return new TandemError(known.code, known.message, { cause: error });
  if (isOutOfRange(error)) {
    return new TandemError("invalid_request", "A value is out of the range that can be stored.", {
      cause: error,
    });
  }
  if (isDatabaseUnavailable(error) || isCatalogueUnavailable(error)) {
    return new TandemError("unavailable", "The database is out of reach; try again shortly.", {
      cause: error,
    });
  }
  return new TandemError("internal", "Something went wrong on the server.", { cause: error });
}

/** SQLSTATE class 22: a value that passed our checks, and that the database cannot take. */
function isOutOfRange(error: FastifyError): boolean {
  return /^22[0-9A-Z]{3}$/.test(error.code ?? "");
}

/** Prisma's codes of a database that is out of reach (P1xxx), and of a pool without a free connection (P2024). */
function isCatalogueUnavailable(error: FastifyError): boolean {
  const isKnown = /^(P1\d{3}|P2024)$/.test(error.code ?? "");
  return isKnown || (error.cause !== undefined && isDatabaseUnavailable(error.cause));
}

function sendError(error: TandemError, request: FastifyRequest, reply: FastifyReply) {
  const status = HTTP_STATUS[error.code];
  if (status >= 500) request.log.error({ err: error.cause ?? error }, error.message);
  else request.log.info({ code: error.code }, error.message);
  // After a 500 too: the reference's clients would wait for the reset of a rate limit otherwise.
  if (status >= 500 || PASSING.has(error.code)) reply.header("retry-after", RETRY_AFTER_S);
  else if (error.retryAfterMs !== null) reply.header("retry-after", toSeconds(error.retryAfterMs));
  if (status === 401) reply.header("www-authenticate", "Bearer");
  return reply
    .code(status)
    .type("application/json; charset=utf-8")
    .send({ detail: toDetail(error, status), code: error.code, request_id: request.id, ...error.extra });
}

/** Whole seconds, and at least one: what is over at once needs no wait, and what is not, some. */
const toSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

function toDetail(error: TandemError, status: number): string | Fault[] {
  if (status !== 422) return error.message;
  return error.faults.length > 0 ? error.faults : [{ loc: ["body"], msg: error.message, type: error.code }];
}
