// Tool calls: one row each, from the model's request to the answer that settles it.
import type pg from "pg";
import type { JsonObject } from "../domain/json.ts";
import type { ToolRequest } from "../domain/tools.ts";
import { toJsonText } from "./update-session.ts";

/** A stored call. `answered`: a result of the caller. `withdrawn`: settled by the server instead. */
export interface ToolCallRow {
  id: string;
  toolName: string;
  args: JsonObject;
  state: "pending" | "answered" | "withdrawn";
  contentHash: Buffer | null;
}

/** Stores the calls of one step, in the model's order. */
export async function insertToolCalls(
  tx: pg.ClientBase,
  sessionId: string,
  step: number,
  calls: readonly ToolRequest[],
): Promise<void> {
  await tx.query(
    `INSERT INTO tool_calls (session_id, id, step, position, tool_name, args)
     SELECT $1, call.id, $2, call.position - 1, call.tool_name, call.args::json
       FROM unnest($3::text[], $4::text[], $5::text[])
            WITH ORDINALITY AS call (id, tool_name, args, position)`,
    [
      sessionId,
      step,
      calls.map((call) => call.id),
      calls.map((call) => call.tool_name),
      calls.map((call) => toJsonText(call.args)),
    ],
  );
}

/**
 * The calls that posted results can mean: every pending one, and of the settled ones those that are named by id
 * or by tool. In the order the model asked.
 */
export async function readToolCalls(
  tx: pg.ClientBase,
  sessionId: string,
  named: { ids: string[]; toolNames: string[] },
): Promise<ToolCallRow[]> {
  const { rows } = await tx.query<ToolCallRow>(
    `SELECT id, tool_name AS "toolName", args, state, content_hash AS "contentHash" FROM tool_calls
      WHERE session_id = $1 AND (state = 'pending' OR id = ANY($2) OR tool_name = ANY($3))
      ORDER BY step, position`,
    [sessionId, named.ids, named.toolNames],
  );
  return rows;
}

/** The pending calls of a session, in the order the model asked. */
export async function readPendingCalls(tx: pg.ClientBase, sessionId: string): Promise<ToolCallRow[]> {
  return readToolCalls(tx, sessionId, { ids: [], toolNames: [] });
}

/** Settles calls: with the hash of the answer's content, or withdrawn without one. */
export async function settleToolCalls(
  tx: pg.ClientBase,
  sessionId: string,
  state: "answered" | "withdrawn",
  settled: readonly { id: string; contentHash: Buffer | null }[],
): Promise<void> {
  await tx.query(
    `UPDATE tool_calls SET state = $2, content_hash = settled.content_hash, settled_at = clock_timestamp()
       FROM unnest($3::text[], $4::bytea[]) AS settled (id, content_hash)
      WHERE tool_calls.session_id = $1 AND tool_calls.id = settled.id AND tool_calls.state = 'pending'`,
    [sessionId, state, settled.map((call) => call.id), settled.map((call) => call.contentHash)],
  );
}

/** Remembers the first result that came for a withdrawn call. */
export async function keepLateHash(
  tx: pg.ClientBase,
  sessionId: string,
  id: string,
  contentHash: Buffer,
): Promise<void> {
  await tx.query("UPDATE tool_calls SET content_hash = $3 WHERE session_id = $1 AND id = $2", [
    sessionId,
    id,
    contentHash,
  ]);
}

/** A stored call in the wire's shape. */
export function toToolRequest(call: ToolCallRow): ToolRequest {
  return { tool_name: call.toolName, args: call.args, id: call.id };
}
