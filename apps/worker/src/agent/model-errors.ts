// Errors of model requests: which are worth another try, when, and how they are told.
import {
  AISDKError,
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  NoContentGeneratedError,
  TypeValidationError,
} from "@ai-sdk/provider";
import type { EndReason, SessionErrorCode } from "@tandem/engine/domain/session-end";
import { MAX_MODEL_ATTEMPTS, RETRY_AFTER_MAX_MS, RETRY_BASE_MS, RETRY_MAX_MS } from "./limits.ts";

/** A failed model request, ready to be recorded. */
export interface ModelFailure {
  error: string;
  reason: EndReason;
  errorCode?: SessionErrorCode;
  retryInMs: number | null;
}

/** The model did not answer in time. Counts as a network error. */
export class ModelTimeoutError extends Error {
  constructor(timeoutS: number) {
    super(`The model did not answer within ${timeoutS} s.`);
    this.name = "ModelTimeoutError";
  }
}

/** The model of a session cannot be used in this process, as when a setting is missing. */
export class ModelSetupError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ModelSetupError";
  }
}

/**
 * Judges an error of a model request.
 *
 * @param options.failures how many requests in a row failed before this one
 * @param options.secrets texts that must not show in the error, as API keys
 */
export function judgeModelError(
  error: unknown,
  options: { failures: number; secrets: readonly string[]; random?: () => number },
): ModelFailure {
  if (!isProviderError(error)) return judgeInternalError(options);
  const words = hideSecrets(toWords(error), options.secrets);
  if (!isTransient(error)) return { error: words, reason: "provider_refused", retryInMs: null };
  if (options.failures + 1 >= MAX_MODEL_ATTEMPTS) {
    return {
      error: `The model gave no usable reply in ${MAX_MODEL_ATTEMPTS} attempts. Last: ${words}`,
      reason: "provider_unavailable",
      retryInMs: null,
    };
  }
  const retryInMs = Math.max(backOff(options), readRetryAfter(error));
  return { error: words, reason: "provider_unavailable", retryInMs };
}

/** Judges a fault of the server itself. What it was is in the log, not in the session. */
export function judgeInternalError(options: { failures: number }): ModelFailure {
  const isLast = options.failures + 1 >= MAX_MODEL_ATTEMPTS;
  const error = "The step failed because of a fault of the server; its log has the cause.";
  return { error, reason: "internal", retryInMs: isLast ? null : backOff(options) };
}

/** Doubles with each failure, and half of it is chance, so that sessions do not come back all at once. */
function backOff({ failures, random = Math.random }: { failures: number; random?: () => number }): number {
  const longest = Math.min(RETRY_BASE_MS * 2 ** failures, RETRY_MAX_MS);
  return Math.round(longest * (0.5 + random() / 2));
}

/** Errors of the provider, its SDK, or its settings. Any other is a fault of this program. */
function isProviderError(error: unknown): boolean {
  return (
    AISDKError.isInstance(error) || error instanceof ModelTimeoutError || error instanceof ModelSetupError
  );
}

/** What providers answer to a request whose content they do not take, as for an image that they cannot read or fetch. */
const REFUSALS = new Set([400, 413, 415, 422]);

/** True when a provider does not take the content of a request. */
export function isRefusal(error: unknown): boolean {
  return APICallError.isInstance(error) && REFUSALS.has(error.statusCode ?? 0);
}

/** Network errors, overload, and replies that make no sense: the same request may succeed later. */
function isTransient(error: unknown): boolean {
  if (error instanceof ModelTimeoutError || SENSELESS.some((kind) => kind.isInstance(error))) return true;
  if (!APICallError.isInstance(error)) return false;
  const status = error.statusCode;
  if (status === undefined || status < 400) return true;
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** Replies that make no sense. */
const SENSELESS = [
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  NoContentGeneratedError,
  TypeValidationError,
];

function readRetryAfter(error: unknown): number {
  if (!APICallError.isInstance(error)) return 0;
  const { "retry-after": seconds, "retry-after-ms": exact, date } = error.responseHeaders ?? {};
  // OpenAI's own header beside the standard one says it in milliseconds.
  const value = exact !== undefined && /^\d+$/.test(exact) ? String(Number(exact) / 1_000) : seconds;
  if (value === undefined) return 0;
  // A date is of the provider's clock, and so is the reply's own date: ours may be minutes off.
  const nowMs = Date.parse(date ?? "") || Date.now();
  const ms = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - nowMs;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS) : 0;
}

function toWords(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (!APICallError.isInstance(error)) return message;
  return error.statusCode === undefined
    ? `The model provider could not be reached: ${message}`
    : `The model provider answered ${error.statusCode}: ${message}`;
}

function hideSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((hidden, secret) => hidden.replaceAll(secret, "***"), text);
}
