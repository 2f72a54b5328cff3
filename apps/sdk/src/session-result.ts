// How a session's turn ended, in the words of this package.
import type {
  AnswerOutcome,
  EndReason,
  SessionChanges,
  SessionErrorCode,
  SessionEvent,
  TrajectoryStatus,
} from "./generated/types.gen.ts";

/** An answer without a schema is text; with one it is data. */
export type DefaultAnswer = string | { [key: string]: unknown };

/** How a session's turn ended. */
export interface SessionResult<Answer = DefaultAnswer> {
  sessionId: string;
  /** `completed`, `failed`, `timed_out`, `interrupted`, or `idle`: it has answered and waits for a message. */
  status: TrajectoryStatus;
  /** Null when the turn ended without one. */
  answer: Answer | null;
  /** How good the agent holds its answer to be. */
  outcome: AnswerOutcome | null;
  /** Why it failed, in words. */
  error: string | null;
  errorCode: SessionErrorCode | null;
  /** Why it ended. More exact than `errorCode`, and set for good ends too. */
  reason: EndReason | null;
  /** The events of this turn, in order; with a session that was joined by its id, of all turns before as well. */
  events: SessionEvent[];
  usage: SessionUsage;
}

/** What a session has used so far, earlier turns included. */
export interface SessionUsage extends TokenUsage {
  /** Model calls. */
  steps: number;
  models: (TokenUsage & { name: string })[];
}

/** Tokens. */
export interface TokenUsage {
  inputTokens: number;
  /** Reasoning tokens included. */
  outputTokens: number;
  reasoningTokens: number;
}

const settledStatuses: ReadonlySet<TrajectoryStatus> = new Set([
  "completed",
  "failed",
  "timed_out",
  "interrupted",
  "idle",
]);

/** True when nothing more happens by itself: the turn is over. */
export function isSettled(status: TrajectoryStatus): boolean {
  return settledStatuses.has(status);
}

/** The result of a turn, from the last state read and the events of the turn. */
export function toResult<Answer>(
  sessionId: string,
  changes: SessionChanges,
  events: SessionEvent[],
): SessionResult<Answer> {
  return {
    sessionId,
    status: changes.status,
    answer: (changes.answer ?? null) as Answer | null,
    outcome: changes.outcome ?? null,
    error: changes.error ?? null,
    errorCode: changes.error_code ?? null,
    reason: changes.reason ?? null,
    events,
    usage: toUsage(changes),
  };
}

function toUsage({ metrics }: SessionChanges): SessionUsage {
  const models = metrics.cost_per_model.map((model) => ({
    name: model.name,
    inputTokens: model.input_tokens,
    outputTokens: model.output_tokens,
    reasoningTokens: model.reasoning_tokens,
  }));
  const sum = (key: keyof TokenUsage) => models.reduce((total, model) => total + model[key], 0);
  return {
    steps: metrics.steps,
    inputTokens: sum("inputTokens"),
    outputTokens: sum("outputTokens"),
    reasoningTokens: sum("reasoningTokens"),
    models,
  };
}
