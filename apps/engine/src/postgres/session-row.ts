// The row of a session as commands see it, and its one way from columns to fields.
import type { AgentDefinition } from "../domain/agents.ts";
import type { AnswerOutcome } from "../domain/events.ts";
import type { JsonValue } from "../domain/json.ts";
import type { ModelUsage } from "../domain/metrics.ts";
import type { EndReason, SessionErrorCode, SessionStatus } from "../domain/session-state.ts";
import type { ToolDefinition } from "../domain/tools.ts";

/** A session's state. Times are read by the database's clock. */
export interface SessionRow {
  id: string;
  organizationId: string;
  status: SessionStatus;
  agent: AgentDefinition;
  tools: ToolDefinition[];
  nextIndex: number;
  steps: number;
  runSteps: number;
  maxSteps: number | null;
  corrections: number;
  nudges: number;
  modelFailures: number;
  fence: number;
  usage: ModelUsage[];
  answer: JsonValue;
  previousAnswer: JsonValue;
}

/** Columns of {@link SessionRow}, for a `SELECT` or a `RETURNING`. */
export const SESSION_COLUMNS = `
  id, organization_id AS "organizationId", status, agent, tools, next_index AS "nextIndex", steps,
  run_steps AS "runSteps", max_steps AS "maxSteps", corrections, nudges, model_failures AS "modelFailures",
  fence, usage, answer, previous_answer AS "previousAnswer"`;

/** What a command may change in a session, by field. JSON fields are given as values. */
export interface SessionPatch {
  status?: SessionStatus;
  tools?: ToolDefinition[];
  steps?: number;
  runSteps?: number;
  corrections?: number;
  nudges?: number;
  modelFailures?: number;
  usage?: ModelUsage[];
  answer?: JsonValue;
  previousAnswer?: JsonValue;
  answerText?: string;
  outcome?: AnswerOutcome | null;
  error?: string | null;
  errorCode?: SessionErrorCode | null;
  reason?: EndReason | null;
}
