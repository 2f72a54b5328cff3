// The states of a session and what moves it between them. Pure data: no clock, no database.

/** Every state of the wire format, in the order of a session's life. */
export const SESSION_STATUSES = [
  "queued",
  "pending",
  "running",
  "paused",
  "idle",
  "awaiting_tool_results",
  "completed",
  "failed",
  "timed_out",
  "interrupted",
] as const;

/** A state of the wire format. */
export type WireStatus = (typeof SESSION_STATUSES)[number];

/** The states that this version's sessions take. */
export type SessionStatus =
  | "pending"
  | "running"
  | "awaiting_tool_results"
  | "completed"
  | "failed"
  | "interrupted";

/** What can happen to a session. */
export type SessionHappening =
  | "step_claimed"
  | "step_asked_for_tools"
  | "step_answered"
  | "step_failed"
  | "step_goes_on"
  | "last_call_settled"
  | "message_sent"
  | "cancelled";

/**
 * What each happening makes of each state. `refused` means that the happening has no place there: the command
 * that sees it changes nothing.
 */
export const TRANSITIONS: Record<SessionStatus, Record<SessionHappening, SessionStatus | "refused">> = {
  pending: {
    step_claimed: "running",
    step_asked_for_tools: "refused",
    step_answered: "refused",
    step_failed: "refused",
    step_goes_on: "refused",
    last_call_settled: "refused",
    message_sent: "pending",
    cancelled: "interrupted",
  },
  running: {
    step_claimed: "running",
    step_asked_for_tools: "awaiting_tool_results",
    step_answered: "completed",
    step_failed: "failed",
    step_goes_on: "running",
    last_call_settled: "refused",
    message_sent: "running",
    cancelled: "interrupted",
  },
  awaiting_tool_results: {
    step_claimed: "refused",
    step_asked_for_tools: "refused",
    step_answered: "refused",
    step_failed: "refused",
    step_goes_on: "refused",
    last_call_settled: "running",
    message_sent: "awaiting_tool_results",
    cancelled: "interrupted",
  },
  completed: terminal(),
  failed: terminal(),
  interrupted: terminal(),
};

/** A terminal session only moves when a message restarts it. */
function terminal(): Record<SessionHappening, SessionStatus | "refused"> {
  return {
    step_claimed: "refused",
    step_asked_for_tools: "refused",
    step_answered: "refused",
    step_failed: "refused",
    step_goes_on: "refused",
    last_call_settled: "refused",
    message_sent: "pending",
    cancelled: "refused",
  };
}

/** The states that this version's sessions take, as a list. */
export const CURRENT_STATUSES = Object.keys(TRANSITIONS) as SessionStatus[];

/** The state after a happening that the caller knows to be possible there. */
export function mustMove(status: SessionStatus, happening: SessionHappening): SessionStatus {
  const next = nextStatus(status, happening);
  if (next === "refused") throw new Error(`A session in state ${status} cannot take ${happening}.`);
  return next;
}

/** The state after a happening, or `refused`. */
export function nextStatus(status: SessionStatus, happening: SessionHappening): SessionStatus | "refused" {
  return TRANSITIONS[status][happening];
}

/** True when the session has ended: only a new message can move it. */
export function isTerminal(status: WireStatus): boolean {
  return TERMINAL.has(status);
}

const TERMINAL: ReadonlySet<WireStatus> = new Set(["completed", "failed", "timed_out", "interrupted"]);

/** The reference's codes for a failed session. */
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
  "cancelled",
  "error_limit",
  "provider_refused",
  "provider_unavailable",
  "answer_invalid",
  "no_answer",
  "internal",
] as const;

/** A reason of {@link END_REASONS}. */
export type EndReason = (typeof END_REASONS)[number];
