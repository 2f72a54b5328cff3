// Tool calls: one row each, from the model's request to the answer that settles it.
import type { CallState } from "../domain/call-states.ts";
import type { SessionKey } from "../domain/ids.ts";
import type { JsonObject } from "../domain/json.ts";
import type { CallTerms, OpenCall } from "../domain/plan-calls.ts";
import type { Decision, ToolRequest } from "../domain/tools.ts";
import type { Queryable } from "./pool.ts";
import { prepared } from "./prepared.ts";
import { SESSION_COLUMNS, type SessionRow } from "./session-row.ts";

/** A stored call, with what was agreed for it. */
export interface ToolCallRow extends CallTerms {
  id: string;
  toolName: string;
  args: JsonObject;
  state: CallState;
  contentHash: Buffer | null;
  deadlineAt: Date | null;
  /** True when it has waited for as long as it may, by the database's clock. */
  isOver: boolean;
  decision: Decision | null;
  /** A hash of what was decided; null when nobody did in time. */
  decisionHash: Buffer | null;
  /** True when its arguments are others than those the model gave. */
  isEdited: boolean;
}

/** How posted results name the calls that they are for. */
export interface NamedCalls {
  ids: string[];
  toolNames: string[];
}

/** Columns of {@link ToolCallRow}; bytes as hexadecimal text, since JSON has none. */
const COLUMNS = {
  id: "call.id",
  toolName: "tool_name",
  args: "args",
  state: "state",
  contentHash: "encode(content_hash, 'hex')",
  deadlineAt: "deadline_at",
  isOver: "coalesce(deadline_at <= clock_timestamp(), false)",
  decision: "decision",
  decisionHash: "encode(decision_hash, 'hex')",
  isEdited: "asked_args IS NOT NULL",
  capability: "capability",
  timeoutMs: "timeout_ms",
  onTimeout: "on_timeout",
  maxResultTokens: "max_result_tokens",
  approvalReason: "approval_reason",
  onApprovalTimeout: "on_approval_timeout",
} satisfies Record<keyof ToolCallRow, string>;

/** A call in JSON, which has no bytes and no times. */
export type JsonCall = {
  [Key in keyof ToolCallRow]: ToolCallRow[Key] extends Buffer | Date | null
    ? string | null
    : ToolCallRow[Key];
};

const CALL_JSON = `json_build_object(${Object.entries(COLUMNS)
  .map(([key, column]) => `'${key}', ${column}`)
  .join(", ")})`;

/** True for a call that somebody has still to answer or decide. */
export const IS_OPEN = "state IN ('pending', 'awaiting_approval')";

/** True for one that was answered, or settled otherwise. */
const IS_SETTLED = "state NOT IN ('pending', 'awaiting_approval', 'refused')";

/**
 * The calls that {@link readToolCalls} gives, as JSON, each kind by its index. The session is `$1`, and two parameters
 * from the given one on name calls. Calls that were never offered to anybody are nobody's to answer.
 */
export const toCallsQuery = (first: number) => `
  SELECT json_agg(${CALL_JSON} ORDER BY step, position) FROM (
    SELECT * FROM tool_calls WHERE session_id = $1 AND ${IS_OPEN}
     UNION ALL
    SELECT * FROM tool_calls WHERE session_id = $1 AND ${IS_SETTLED} AND id = ANY($${first}::text[])
     UNION ALL
    SELECT * FROM tool_calls WHERE session_id = $1 AND ${IS_SETTLED} AND tool_name = ANY($${first + 1}::text[])
       AND NOT id = ANY($${first}::text[]) AND cardinality($${first + 1}::text[]) > 0) AS call`;

/**
 * The calls that posted results can mean: every open one, and of the settled ones those that are named by id
 * or by tool. In the order the model asked.
 */
export async function readToolCalls(
  db: Queryable,
  sessionId: string,
  named: NamedCalls,
): Promise<ToolCallRow[]> {
  const { rows } = await db.query<{ calls: JsonCall[] | null }>(
    prepared(`SELECT (${toCallsQuery(2)}) AS calls`, [sessionId, named.ids, named.toolNames]),
  );
  return (rows[0]?.calls ?? []).map(toToolCallRow);
}

/** A session, the calls that posted results can mean, and whether a message waits to be taken up. */
export interface SessionWithCalls {
  session: SessionRow;
  calls: ToolCallRow[];
  messageWaits: boolean;
}

/** All of it as of one moment and without a lock. */
export async function readSessionWithCalls(
  db: Queryable,
  key: SessionKey,
  named: NamedCalls,
): Promise<SessionWithCalls | null> {
  const { rows } = await db.query<SessionRow & { calls: JsonCall[] | null; messageWaits: boolean }>(
    prepared(
      `SELECT ${SESSION_COLUMNS}, (${toCallsQuery(3)}) AS calls,
              EXISTS (SELECT FROM waiting_messages WHERE session_id = $1) AS "messageWaits"
         FROM sessions WHERE id = $1 AND organization_id = $2`,
      [key.sessionId, key.organizationId, named.ids, named.toolNames],
    ),
  );
  const [row] = rows;
  if (!row) return null;
  const { calls, messageWaits, ...session } = row;
  return { session, calls: (calls ?? []).map(toToolCallRow), messageWaits };
}

/** Reads a call in JSON. */
export function toToolCallRow({ contentHash, decisionHash, deadlineAt, ...call }: JsonCall): ToolCallRow {
  return {
    ...call,
    contentHash: toBytes(contentHash),
    decisionHash: toBytes(decisionHash),
    deadlineAt: deadlineAt === null ? null : new Date(deadlineAt),
  };
}

function toBytes(hex: string | null): Buffer | null {
  return hex === null ? null : Buffer.from(hex, "hex");
}

/** The open calls of a session, in the order the model asked. */
export async function readOpenCalls(db: Queryable, sessionId: string): Promise<ToolCallRow[]> {
  return readToolCalls(db, sessionId, { ids: [], toolNames: [] });
}

/** A stored call in the wire's shape. */
export function toToolRequest(call: Pick<ToolCallRow, "id" | "toolName" | "args">): ToolRequest {
  return { tool_name: call.toolName, args: call.args, id: call.id };
}

/** The calls that are open among these. */
export function pickOpen(calls: readonly ToolCallRow[]): OpenCall[] {
  return calls.flatMap((call) => {
    const { state } = call;
    if (state !== "pending" && state !== "awaiting_approval") return [];
    return [
      {
        ...toTerms(call),
        request: toToolRequest(call),
        state,
        deadlineAt: call.deadlineAt,
        isEdited: call.isEdited,
      },
    ];
  });
}

function toTerms(call: ToolCallRow): CallTerms {
  const { capability, timeoutMs, onTimeout, maxResultTokens, approvalReason, onApprovalTimeout } = call;
  return { capability, timeoutMs, onTimeout, maxResultTokens, approvalReason, onApprovalTimeout };
}
