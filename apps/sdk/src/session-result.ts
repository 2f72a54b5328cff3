// How a session's turn ended, in the words of this package.
import type {
  AnswerOutcome,
  EndReason,
  SessionChanges,
  SessionErrorCode,
  SessionEvent,
  TrajectoryStatus,
} from "./generated/types.gen.ts";
import type { GuardrailResult } from "./guardrails.ts";
import type { SchemaOutput } from "./schemas/tool-schema.ts";
import { type ToolCallSummary, toToolCalls } from "./tool-calls.ts";

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
  /** The calls of those events, in the order in which the model made them. */
  toolCalls: ToolCallSummary[];
  /** What the guardrails of tools that ran here said, in order. */
  guardrailResults: GuardrailResult[];
  usage: SessionUsage;
}

/** The type of the answer that fits a schema. */
export type AnswerOf<Schema> = unknown extends SchemaOutput<Schema> ? DefaultAnswer : SchemaOutput<Schema>;

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

/** True for an end that is as it should be. */
export function isGood({ status }: SessionResult<unknown>): boolean {
  return status === "completed" || status === "idle";
}

/** The result of a turn, from the last state read, the events of the turn, and what ran here. */
export function toResult<Answer>(
  changes: SessionChanges,
  turn: {
    sessionId: string;
    events: SessionEvent[];
    guardrailResults: GuardrailResult[];
    durationsMs: ReadonlyMap<string, number>;
  },
): SessionResult<Answer> {
  const { sessionId, events, guardrailResults, durationsMs } = turn;
  return {
    sessionId,
    status: changes.status,
    answer: (changes.answer ?? null) as Answer | null,
    outcome: changes.outcome ?? null,
    error: changes.error ?? null,
    errorCode: changes.error_code ?? null,
    reason: changes.reason ?? null,
    events,
    toolCalls: toToolCalls(events, durationsMs),
    guardrailResults,
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
