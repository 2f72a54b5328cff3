import type { AgentDefinition } from "../domain/agents.ts";
import type { SessionKey } from "../domain/ids.ts";
import type { SessionStatus } from "../domain/session-state.ts";
import type { ToolDefinition } from "../domain/tools.ts";
import type { Queryable } from "./pool.ts";
import { prepared } from "./prepared.ts";
import type { ForcedBy } from "./session-row.ts";

/** A session's tools, and what decides which of them its next step offers, but for its history. */
export interface Toolbox {
  agent: AgentDefinition;
  tools: ToolDefinition[];
  status: SessionStatus;
  lastStep: ForcedBy | null;
  maxSteps: number | null;
  runSteps: number;
  /** The index of the run's first event. */
  runIndex: number;
}

/** Reads a session's tools; null when the organization has no such session. */
export async function readToolbox(db: Queryable, key: SessionKey): Promise<Toolbox | null> {
  const { rows } = await db.query<Toolbox>(
    prepared(
      `SELECT agent, tools, status, last_step AS "lastStep", max_steps AS "maxSteps", run_steps AS "runSteps",
              run_index AS "runIndex"
         FROM sessions WHERE id = $1 AND organization_id = $2`,
      [key.sessionId, key.organizationId],
    ),
  );
  return rows[0] ?? null;
}
