// How sessions end, in the reference's words and in ours.

/** The reference's codes for a session that failed or timed out. */
export const SESSION_ERROR_CODES = [
  "environment_error",
  "no_answer",
  "answer_validation",
  "timeout",
  "internal",
] as const;

/** Why a session failed, in the reference's words. */
export type SessionErrorCode = (typeof SESSION_ERROR_CODES)[number];

/** Why a session ended, in ours: more exact than the reference's error code, and set for good ends too. */
export const END_REASONS = [
  "answered",
  "max_steps",
  "max_time",
  "idle_timeout",
  "cancelled",
  "repeat_limit",
  "error_limit",
  "token_budget",
  "tool_timeout",
  "provider_refused",
  "provider_unavailable",
  "answer_invalid",
  "no_answer",
  "internal",
] as const;

/** A reason of {@link END_REASONS}. */
export type EndReason = (typeof END_REASONS)[number];
