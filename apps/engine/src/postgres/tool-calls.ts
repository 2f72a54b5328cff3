// Tool calls: one row each, from the model's request to the answer that settles it.
import type pg from "pg";
import type { SessionKey } from "../domain/ids.ts";
import type { JsonObject } from "../domain/json.ts";
import type { ToolRequest } from "../domain/tools.ts";
import type { Queryable } from "./pool.ts";
import { prepared } from "./prepared.ts";
import { SESSION_COLUMNS, type SessionRow } from "./session-row.ts";

/** A stored call. `answered`: a result of the caller. `withdrawn`: settled by the server instead. */
export interface ToolCallRow {
  id: string;
  toolName: string;
  args: JsonObject;
  state: "pending" | "answered" | "withdrawn";
  contentHash: Buffer | null;
}

/** How posted results name the calls that they are for. */
export interface NamedCalls {
  ids: string[];
  toolNames: string[];
}

/**
 * The calls that posted results can mean: every pending one, and of the settled ones those that are named by id
 * or by tool. In the order the model asked.
 */
export async function readToolCalls(
  tx: pg.ClientBase,
  sessionId: string,
  named: NamedCalls,
): Promise<ToolCallRow[]> {
  const { rows } = await tx.query<ToolCallRow>(
    prepared(
      `SELECT id, tool_name AS "toolName", args, state, content_hash AS "contentHash" FROM tool_calls
        WHERE session_id = $1 AND (state = 'pending' OR id = ANY($2) OR tool_name = ANY($3))
        ORDER BY step, position`,
      [sessionId, named.ids, named.toolNames],
    ),
  );
  return rows;
}

/** A session and the calls that posted results can mean, as of one moment and without a lock. */
export async function readSessionWithCalls(
  db: Queryable,
  key: SessionKey,
  named: NamedCalls,
): Promise<{ session: SessionRow; calls: ToolCallRow[] } | null> {
  const { rows } = await db.query<SessionRow & { calls: JsonCall[] | null }>(
    prepared(
      `SELECT ${SESSION_COLUMNS},
              (SELECT json_agg(json_build_object(
                        'id', call.id, 'toolName', tool_name, 'args', args, 'state', state,
                        'contentHash', encode(content_hash, 'hex')) ORDER BY step, position)
                 FROM tool_calls AS call
                WHERE session_id = $1 AND (state = 'pending' OR call.id = ANY($3) OR tool_name = ANY($4))) AS calls
         FROM sessions WHERE id = $1 AND organization_id = $2`,
      [key.sessionId, key.organizationId, named.ids, named.toolNames],
    ),
  );
  const [row] = rows;
  if (!row) return null;
  const { calls, ...session } = row;
  return { session, calls: (calls ?? []).map(toToolCallRow) };
}

/** A call in JSON, which has no bytes. */
type JsonCall = Omit<ToolCallRow, "contentHash"> & { contentHash: string | null };

function toToolCallRow({ contentHash, ...call }: JsonCall): ToolCallRow {
  return { ...call, contentHash: contentHash === null ? null : Buffer.from(contentHash, "hex") };
}

/** The pending calls of a session, in the order the model asked. */
export async function readPendingCalls(tx: pg.ClientBase, sessionId: string): Promise<ToolCallRow[]> {
  return readToolCalls(tx, sessionId, { ids: [], toolNames: [] });
}

/** Settles calls without an answer: nobody is asked for one any more. */
export async function withdrawToolCalls(tx: pg.ClientBase, sessionId: string, ids: string[]): Promise<void> {
  await tx.query(
    `UPDATE tool_calls SET state = 'withdrawn', settled_at = clock_timestamp()
      WHERE session_id = $1 AND id = ANY($2) AND state = 'pending'`,
    [sessionId, ids],
  );
}

/** A stored call in the wire's shape. */
export function toToolRequest(call: ToolCallRow): ToolRequest {
  return { tool_name: call.toolName, args: call.args, id: call.id };
}
