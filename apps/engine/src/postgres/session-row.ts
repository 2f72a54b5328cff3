// The row of a session as commands see it, and its one way from columns to fields.
import type { AgentDefinition } from "../domain/agents.ts";
import type { AnswerOutcome } from "../domain/events.ts";
import { type JsonValue, parseJson } from "../domain/json.ts";
import type { ModelUsage } from "../domain/metrics.ts";
import type { RememberedDecisions } from "../domain/plan-calls.ts";
import type { EndReason, SessionErrorCode } from "../domain/session-end.ts";
import type { SessionStatus } from "../domain/session-state.ts";
import type { ToolDefinition } from "../domain/tools.ts";

/** Why a session's next step has no tools and must answer. */
export type ForcedBy = "force_answer" | "max_time";

/** A session's state, without what only a worker needs: definitions can be large, and results are many. */
export interface SessionRow {
  id: string;
  organizationId: string;
  /** Another one after every change of the row, whoever made it: the transaction that wrote it. */
  version: string;
  status: SessionStatus;
  /** The state underneath a pause, which the session goes back to; null when it is not paused. */
  pausedFrom: SessionStatus | null;
  /** A pause that waits for the step that runs. */
  pauseRequested: boolean;
  lastStep: ForcedBy | null;
  /** True when a worker holds the session's step, by the database's clock. */
  isLeased: boolean;
  /** True when a message that finds no free slot waits for one; false when it is refused. */
  queues: boolean;
  idleTimeoutMs: number | null;
  /** True when the wait for a message is over, by the database's clock. */
  isIdleOver: boolean;
  /** True when the run's time is over, by the database's clock. */
  isTimeOver: boolean;
  /** The earliest deadline of the calls that are open. */
  callDeadlineAt: Date | null;
  /** True when a call has waited for as long as it may, by the database's clock. */
  isCallOver: boolean;
  /** When something happens by itself: the end of the wait for a message, of the run's time, or of a call's. */
  timerAt: Date | null;
  /** The database's time when the row was read, in milliseconds. */
  clockMs: number;
  /** This process's time then, by `performance.now()`; absent when that is just now. */
  receivedMs?: number;
  /** How long the session has been in its state, in milliseconds, by the database's clock. */
  stateMs: number;
  nextIndex: number;
  steps: number;
  runSteps: number;
  runTokens: number;
  corrections: number;
  nudges: number;
  uselessSteps: number;
  modelFailures: number;
  fence: number;
  /** The worker that holds the step, or held the last one; null when there was none, or it has gone away. */
  worker: string | null;
  usage: ModelUsage[];
  /** The first event of the run. */
  runIndex: number;
  /** Another number after each replacement of the tools. */
  toolsVersion: number;
  remembered: RememberedDecisions;
}

/** A claimed session: its state and what runs. */
export interface ClaimedSessionRow extends SessionRow {
  agent: AgentDefinition;
  tools: ToolDefinition[];
  maxSteps: number | null;
  repeatLimit: number | null;
  errorLimit: number | null;
  tokenBudget: number | null;
  /** Claims of this step, this one included. */
  claims: number;
  /** How long the step was due before this claim, in milliseconds, by the database's clock. */
  waitedMs: number;
}

/** What happens next by itself, as SQL. There is an index on it. */
export const TIMER_AT = "LEAST(idle_until, time_limit_at, call_deadline_at)";

/** Where each field of {@link SessionRow} comes from. */
const FIELDS: Record<Exclude<keyof SessionRow, "receivedMs">, string> = {
  id: "id",
  organizationId: "organization_id",
  version: "xmin::text",
  status: "status",
  pausedFrom: "paused_from",
  pauseRequested: "pause_requested",
  lastStep: "last_step",
  isLeased: "coalesce(lease_until > clock_timestamp(), false)",
  queues: "queues",
  idleTimeoutMs: "idle_timeout_ms",
  isIdleOver: "coalesce(idle_until <= clock_timestamp(), false)",
  isTimeOver: "coalesce(time_limit_at <= clock_timestamp(), false)",
  callDeadlineAt: "call_deadline_at",
  isCallOver: "coalesce(call_deadline_at <= clock_timestamp(), false)",
  timerAt: TIMER_AT,
  clockMs: "(extract(epoch FROM clock_timestamp()) * 1000)::float8",
  stateMs: "(extract(epoch FROM clock_timestamp() - state_since) * 1000)::float8",
  nextIndex: "next_index",
  steps: "steps",
  runSteps: "run_steps",
  runTokens: "run_tokens::float8",
  corrections: "corrections",
  nudges: "nudges",
  uselessSteps: "useless_steps",
  modelFailures: "model_failures",
  fence: "fence",
  worker: "worker",
  usage: "usage",
  runIndex: "run_index",
  toolsVersion: "tools_version",
  remembered: "remembered_decisions",
};

/** Columns of {@link SessionRow}, for a `SELECT` or a `RETURNING`. */
export const SESSION_COLUMNS = Object.entries(FIELDS)
  .map(([field, source]) => `${source} AS "${field}"`)
  .join(", ");

/** The same as one JSON object, for {@link toSessionRow}: it can be passed on as it is. */
export const SESSION_JSON = `json_build_object(${Object.entries(FIELDS)
  .map(([field, source]) => `'${field}', ${source}`)
  .join(", ")})`;

/** A row in JSON, which has no moments. */
export type JsonSessionRow = Omit<SessionRow, "callDeadlineAt" | "timerAt"> & {
  callDeadlineAt: string | null;
  timerAt: string | null;
};

/** The row that {@link SESSION_JSON} tells. */
export function toSessionRow(row: JsonSessionRow): SessionRow {
  const toDate = (moment: string | null) => (moment === null ? null : new Date(moment));
  return { ...row, callDeadlineAt: toDate(row.callDeadlineAt), timerAt: toDate(row.timerAt) };
}

/** The same, of its text. */
export const readSessionRow = (text: string): SessionRow =>
  toSessionRow(parseJson(text) as unknown as JsonSessionRow);

/** Columns of {@link ClaimedSessionRow}. */
export const CLAIMED_SESSION_COLUMNS = `${SESSION_COLUMNS}, agent, tools, max_steps AS "maxSteps",
  repeat_limit AS "repeatLimit", error_limit AS "errorLimit", token_budget::float8 AS "tokenBudget", claims,
  (extract(epoch FROM clock_timestamp() - due_at) * 1000)::float8 AS "waitedMs"`;

/** What a command may change in a session, by field. JSON fields are given as values. */
export interface SessionPatch {
  status?: SessionStatus;
  pausedFrom?: SessionStatus | null;
  pauseRequested?: boolean;
  lastStep?: ForcedBy | null;
  steps?: number;
  runSteps?: number;
  runTokens?: number;
  corrections?: number;
  nudges?: number;
  uselessSteps?: number;
  modelFailures?: number;
  usage?: ModelUsage[];
  answer?: JsonValue;
  answerText?: string;
  outcome?: AnswerOutcome | null;
  error?: string | null;
  errorCode?: SessionErrorCode | null;
  reason?: EndReason | null;
  callDeadlineAt?: Date | null;
  runIndex?: number;
  tools?: ToolDefinition[];
  toolsVersion?: number;
  remembered?: RememberedDecisions;
}

/** The database's time now, in milliseconds, told from a row and the time that has passed since it was read. */
export function databaseNowMs({ clockMs, receivedMs }: Pick<SessionRow, "clockMs" | "receivedMs">): number {
  return receivedMs === undefined ? clockMs : clockMs + (performance.now() - receivedMs);
}
