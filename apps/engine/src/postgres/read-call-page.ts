import type { CallState } from "../domain/call-states.ts";
import type { SessionKey } from "../domain/ids.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Queryable } from "./pool.ts";
import { prepared } from "./prepared.ts";
import { PAGE_BYTES } from "./read-events.ts";

/** A call with all that is known of it. */
export interface CallRow {
  id: string;
  toolName: string;
  args: JsonObject;
  step: number;
  state: CallState;
  capability: string;
  createdAt: Date;
  settledAt: Date | null;
  settledBy: string | null;
  reason: string | null;
  deadlineAt: Date | null;
  claimant: string | null;
  claimedUntil: Date | null;
  approvalReason: string | null;
  decision: string | null;
  decisionMessage: string | null;
  decidedBy: string | null;
  decidedAt: Date | null;
  askedArgs: JsonObject | null;
}

/** Which calls make up a page. */
export interface CallPageOptions extends SessionKey {
  /** Only calls in this state; null for all. */
  state: CallState | null;
  offset: number;
  limit: number;
}

/** Calls of a list, and how many it has. */
export interface CallPageRows {
  /** Null when they are more than one reply holds. */
  rows: CallRow[] | null;
  total: number;
}

const COLUMNS = `
  call.id, tool_name AS "toolName", args, step, state, capability, created_at AS "createdAt", settled_at AS "settledAt",
  settled_by AS "settledBy", reason, deadline_at AS "deadlineAt", claimant, claimed_until AS "claimedUntil",
  approval_reason AS "approvalReason", decision, decision_message AS "decisionMessage", decided_by AS "decidedBy",
  decided_at AS "decidedAt", asked_args AS "askedArgs"`;

/**
 * Reads one page of a session's calls in the order in which the model asked; null when the organization has no such session.
 * Calls are counted and passed over by the index alone.
 */
export async function readCallPage(db: Queryable, options: CallPageOptions): Promise<CallPageRows | null> {
  const { sessionId, organizationId, state, offset, limit } = options;
  const fitting = `session_id = $1 AND ${state === null ? "$3::text IS NULL" : "state = $3"}`;
  const { rows } = await db.query<Partial<CallRow> & { total: number; isTooLarge: boolean }>(
    prepared(
      `WITH found AS MATERIALIZED (
         SELECT id FROM tool_calls WHERE ${fitting} ORDER BY step, position, id LIMIT $5 OFFSET $4
       ), page AS (
         SELECT call.*, sum(octet_length(args::text) + coalesce(octet_length(asked_args::text), 0)) OVER ()
                          >= ${PAGE_BYTES} AS is_too_large
           FROM found JOIN tool_calls AS call ON call.session_id = $1 AND call.id = found.id
       ), sized AS (
         SELECT page.*, CASE WHEN NOT is_too_large THEN args END AS shown_args,
                CASE WHEN NOT is_too_large THEN asked_args END AS shown_asked_args FROM page
       )
       SELECT (SELECT count(*)::int FROM tool_calls WHERE ${fitting}) AS total,
              coalesce(is_too_large, false) AS "isTooLarge", ${COLUMNS}
         FROM (SELECT id AS session FROM sessions WHERE id = $1 AND organization_id = $2) AS owned
         LEFT JOIN sized AS call ON true
        ORDER BY step, position, call.id`,
      [sessionId, organizationId, state, offset, limit],
    ),
  );
  const [first] = rows;
  if (!first) return null;
  if (first.isTooLarge) return { rows: null, total: first.total };
  const calls = rows.filter((row) => row.id !== null) as (CallRow & { total: number; isTooLarge: boolean })[];
  return { rows: calls.map(({ total: _, isTooLarge: __, ...call }) => call), total: first.total };
}
