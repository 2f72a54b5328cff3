// The row of a session as commands see it, and its one way from columns to fields.
import type { AgentDefinition } from "../domain/agents.ts";
import type { AnswerOutcome } from "../domain/events.ts";
import type { JsonValue } from "../domain/json.ts";
import type { ModelUsage } from "../domain/metrics.ts";
import type { EndReason, SessionErrorCode, SessionStatus } from "../domain/session-state.ts";
import type { ToolDefinition } from "../domain/tools.ts";

/** A session's state, without what only a worker needs: definitions can be large, and results are many. */
export interface SessionRow {
  id: string;
  organizationId: string;
  status: SessionStatus;
  nextIndex: number;
  steps: number;
  runSteps: number;
  corrections: number;
  nudges: number;
  uselessSteps: number;
  modelFailures: number;
  fence: number;
  usage: ModelUsage[];
}

/** A claimed session: its state and what runs. */
export interface ClaimedSessionRow extends SessionRow {
  agent: AgentDefinition;
  tools: ToolDefinition[];
  maxSteps: number | null;
  /** Claims of this step, this one included. */
  claims: number;
}

/** Columns of {@link SessionRow}, for a `SELECT` or a `RETURNING`. */
export const SESSION_COLUMNS = `
  id, organization_id AS "organizationId", status, next_index AS "nextIndex", steps, run_steps AS "runSteps",
  corrections, nudges, useless_steps AS "uselessSteps", model_failures AS "modelFailures", fence, usage`;

/** Columns of {@link ClaimedSessionRow}. */
export const CLAIMED_SESSION_COLUMNS = `${SESSION_COLUMNS}, agent, tools, max_steps AS "maxSteps", claims`;

/** What a command may change in a session, by field. JSON fields are given as values. */
export interface SessionPatch {
  status?: SessionStatus;
  steps?: number;
  runSteps?: number;
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
}
