// The states of a session and what moves it between them. Pure data: no clock, no database.

/** Every state of the wire format, in the order of a session's life. */
export const SESSION_STATUSES = [
  "queued",
  "pending",
  "running",
  "paused",
  "idle",
  "awaiting_tool_results",
  "awaiting_approval",
  "completed",
  "failed",
  "timed_out",
  "interrupted",
] as const;

/** A state of a session. */
export type SessionStatus = (typeof SESSION_STATUSES)[number];

/** What can happen to a session. */
export type SessionHappening =
  /** A queued session got a slot. */
  | "admitted"
  | "step_claimed"
  /** The model made calls, of which at least one waits for the caller. */
  | "step_asked_for_tools"
  /** The model made calls, and all that are open wait for an approval. */
  | "step_asked_for_approval"
  /** The model answered, and the session ends with it. */
  | "step_answered"
  /** The model answered, and the session stays open for a message. */
  | "step_answered_open"
  | "step_failed"
  /** A call had no result in time, and its tool says that the session fails then. */
  | "call_failed"
  | "step_goes_on"
  /** A call was allowed, and waits for the caller now. */
  | "results_awaited"
  /** No call waits for the caller any more, and some still wait for an approval. */
  | "approval_awaited"
  | "last_call_settled"
  | "message_sent"
  /** A message wants an ended session to start again, and the organization has no free slot. */
  | "message_queued"
  | "answer_forced"
  /** `max_time_s` has passed: one last step is due. */
  | "time_over"
  /** The last step of a session whose time is over has ended, or took too long. */
  | "run_timed_out"
  | "idle_over"
  | "pause"
  | "resume"
  | "cancelled";

/** The state after a happening. `underneath`: the one that the happening makes of the state under a pause. */
type Next = SessionStatus | "refused" | "underneath";

/**
 * What each happening makes of each state. `refused` means that the happening has no place there: the command that
 * sees it changes nothing. A pause lies over a state: what leaves a session paused moves the state underneath, by that
 * state's own row.
 */
export const TRANSITIONS: Record<SessionStatus, Record<SessionHappening, Next>> = {
  queued: {
    admitted: "pending",
    step_claimed: "refused",
    step_asked_for_tools: "refused",
    step_asked_for_approval: "refused",
    step_answered: "refused",
    step_answered_open: "refused",
    step_failed: "refused",
    call_failed: "refused",
    step_goes_on: "refused",
    results_awaited: "refused",
    approval_awaited: "refused",
    last_call_settled: "refused",
    message_sent: "queued",
    message_queued: "refused",
    answer_forced: "queued",
    time_over: "refused",
    run_timed_out: "refused",
    idle_over: "refused",
    pause: "paused",
    resume: "queued",
    cancelled: "interrupted",
  },
  pending: {
    admitted: "refused",
    step_claimed: "running",
    step_asked_for_tools: "refused",
    step_asked_for_approval: "refused",
    step_answered: "refused",
    step_answered_open: "refused",
    step_failed: "refused",
    call_failed: "refused",
    step_goes_on: "refused",
    results_awaited: "refused",
    approval_awaited: "refused",
    last_call_settled: "refused",
    message_sent: "pending",
    message_queued: "refused",
    answer_forced: "pending",
    time_over: "refused",
    run_timed_out: "refused",
    idle_over: "refused",
    pause: "paused",
    resume: "pending",
    cancelled: "interrupted",
  },
  running: {
    admitted: "refused",
    step_claimed: "running",
    step_asked_for_tools: "awaiting_tool_results",
    step_asked_for_approval: "awaiting_approval",
    step_answered: "completed",
    step_answered_open: "idle",
    step_failed: "failed",
    call_failed: "refused",
    step_goes_on: "running",
    results_awaited: "refused",
    approval_awaited: "refused",
    last_call_settled: "refused",
    message_sent: "running",
    message_queued: "refused",
    answer_forced: "running",
    time_over: "running",
    run_timed_out: "timed_out",
    idle_over: "refused",
    pause: "paused",
    resume: "running",
    cancelled: "interrupted",
  },
  awaiting_tool_results: {
    admitted: "refused",
    step_claimed: "refused",
    step_asked_for_tools: "refused",
    step_asked_for_approval: "refused",
    step_answered: "refused",
    step_answered_open: "refused",
    step_failed: "refused",
    call_failed: "failed",
    step_goes_on: "refused",
    results_awaited: "awaiting_tool_results",
    approval_awaited: "awaiting_approval",
    last_call_settled: "running",
    message_sent: "awaiting_tool_results",
    message_queued: "refused",
    answer_forced: "running",
    time_over: "running",
    run_timed_out: "refused",
    idle_over: "refused",
    pause: "paused",
    resume: "awaiting_tool_results",
    cancelled: "interrupted",
  },
  awaiting_approval: {
    admitted: "refused",
    step_claimed: "refused",
    step_asked_for_tools: "refused",
    step_asked_for_approval: "refused",
    step_answered: "refused",
    step_answered_open: "refused",
    step_failed: "refused",
    call_failed: "refused",
    step_goes_on: "refused",
    results_awaited: "awaiting_tool_results",
    approval_awaited: "awaiting_approval",
    last_call_settled: "running",
    message_sent: "awaiting_approval",
    message_queued: "refused",
    answer_forced: "running",
    time_over: "running",
    run_timed_out: "refused",
    idle_over: "refused",
    pause: "paused",
    resume: "awaiting_approval",
    cancelled: "interrupted",
  },
  idle: {
    admitted: "refused",
    step_claimed: "refused",
    step_asked_for_tools: "refused",
    step_asked_for_approval: "refused",
    step_answered: "refused",
    step_answered_open: "refused",
    step_failed: "refused",
    call_failed: "refused",
    step_goes_on: "refused",
    results_awaited: "refused",
    approval_awaited: "refused",
    last_call_settled: "refused",
    message_sent: "running",
    message_queued: "refused",
    answer_forced: "idle",
    time_over: "refused",
    run_timed_out: "refused",
    idle_over: "completed",
    pause: "paused",
    resume: "idle",
    cancelled: "interrupted",
  },
  paused: {
    admitted: "refused",
    step_claimed: "refused",
    step_asked_for_tools: "refused",
    step_asked_for_approval: "refused",
    step_answered: "refused",
    step_answered_open: "refused",
    step_failed: "refused",
    call_failed: "failed",
    step_goes_on: "refused",
    results_awaited: "paused",
    approval_awaited: "paused",
    last_call_settled: "paused",
    message_sent: "underneath",
    message_queued: "refused",
    answer_forced: "paused",
    time_over: "refused",
    run_timed_out: "refused",
    idle_over: "refused",
    pause: "paused",
    resume: "underneath",
    cancelled: "interrupted",
  },
  completed: terminal(),
  failed: terminal(),
  timed_out: terminal(),
  interrupted: terminal(),
};

/** A terminal session only moves when a message restarts it. */
function terminal(): Record<SessionHappening, Next> {
  return {
    admitted: "refused",
    step_claimed: "refused",
    step_asked_for_tools: "refused",
    step_asked_for_approval: "refused",
    step_answered: "refused",
    step_answered_open: "refused",
    step_failed: "refused",
    call_failed: "refused",
    step_goes_on: "refused",
    results_awaited: "refused",
    approval_awaited: "refused",
    last_call_settled: "refused",
    message_sent: "pending",
    message_queued: "queued",
    answer_forced: "refused",
    time_over: "refused",
    run_timed_out: "refused",
    idle_over: "refused",
    pause: "refused",
    resume: "refused",
    cancelled: "refused",
  };
}

/** Where a session stands: its state, and the one underneath when it is paused. */
export interface Standing {
  status: SessionStatus;
  pausedFrom: SessionStatus | null;
}

/** The state after a happening that the caller knows to be possible there. */
export function mustMove(from: Standing, happening: SessionHappening): SessionStatus {
  const next = nextStatus(from, happening);
  if (next === "refused") throw new Error(`A session in state ${from.status} cannot take ${happening}.`);
  return next;
}

/** The state after a happening, or `refused`. */
export function nextStatus(from: Standing, happening: SessionHappening): SessionStatus | "refused" {
  const next = TRANSITIONS[from.status][happening];
  if (next !== "underneath") return next;
  if (from.pausedFrom === null) throw new Error(`Nothing is underneath ${from.status}.`);
  return nextStatus({ status: from.pausedFrom, pausedFrom: null }, happening);
}

/** True when the session has ended: only a new message can move it. */
export function isTerminal(status: SessionStatus): boolean {
  return TERMINAL.has(status);
}

/** True while calls are open: for their results, or for an approval. */
export function isAwaiting(status: SessionStatus): boolean {
  return status === "awaiting_tool_results" || status === "awaiting_approval";
}

const TERMINAL: ReadonlySet<SessionStatus> = new Set(["completed", "failed", "timed_out", "interrupted"]);
