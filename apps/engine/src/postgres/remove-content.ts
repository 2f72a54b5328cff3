// Ephemeral sessions: their content goes a while after their end; what remains is their status.
import type pg from "pg";
import type { Queryable } from "./pool.ts";
import { inTransaction } from "./transaction.ts";

/** How long the content stays after the end, as Postgres says it. */
const KEPT = "60 seconds";

/** Events that one transaction removes at most, if they are not of one session: a statement has seconds, not minutes. */
const EVENTS_AT_ONCE = 100_000;

/**
 * Removes the content of ephemeral sessions whose time is up. The rows are locked by one statement and emptied by the next,
 * which sees what others wrote before the lock; who comes after it finds the mark. A session that somebody has locked is
 * left to the next sweep, and one that was restarted is none of them.
 *
 * @param options.limit most sessions to empty, all in one transaction; fewer when their histories are long
 * @returns their ids
 */
export async function removeContent(pool: pg.Pool, options: { limit: number }): Promise<string[]> {
  // Outside of a transaction: most sweeps find nothing.
  if (!(await isAnythingDue(pool))) return [];
  return inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<{ id: string; events: number }>(
      `SELECT id, next_index AS events FROM sessions WHERE ${IS_DUE} ORDER BY finished_at LIMIT $1 FOR UPDATE SKIP LOCKED`,
      [options.limit],
    );
    let events = 0;
    const ids = rows.flatMap((row, place) => {
      events += row.events;
      return place === 0 || events <= EVENTS_AT_ONCE ? [row.id] : [];
    });
    if (ids.length > 0) await tx.query(REMOVE, [ids]);
    return ids;
  });
}

/** True when the content of a session has been removed. For a row that is locked: it stays so. */
export async function isContentRemoved(tx: Queryable, sessionId: string): Promise<boolean> {
  const { rows } = await tx.query<{ isRemoved: boolean }>(
    `SELECT purged_at IS NOT NULL AS "isRemoved" FROM sessions WHERE id = $1`,
    [sessionId],
  );
  return rows[0]?.isRemoved ?? false;
}

async function isAnythingDue(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query(`SELECT FROM sessions WHERE ${IS_DUE} ORDER BY finished_at LIMIT 1`);
  return rowCount === 1;
}

/** now() and not clock_timestamp(): the index gives a range only for a moment that stands still. */
const IS_DUE = `lasting_request IS NOT NULL AND purged_at IS NULL AND finished_at IS NOT NULL
  AND finished_at < now() - interval '${KEPT}'`;

/** Tokens stay for the status, and lose their tools: whose names say what a session was about. */
const REMOVE = `
  WITH events_gone AS (DELETE FROM events WHERE session_id = ANY ($1)),
       calls_gone AS (DELETE FROM tool_calls WHERE session_id = ANY ($1)),
       messages_gone AS (DELETE FROM waiting_messages WHERE session_id = ANY ($1)),
       feedback_gone AS (DELETE FROM feedback WHERE session_id = ANY ($1)),
       tokens_emptied AS (UPDATE session_tokens SET tools = '[]' WHERE session_id = ANY ($1))
  UPDATE sessions
     SET purged_at = clock_timestamp(), request = lasting_request, tools = '[]', first_message = NULL, first_text = '',
         agent = json_build_object('name', agent_name, 'description', '', 'environments', json_build_array()),
         answer = NULL, previous_answer = NULL, answer_text = '', error = NULL, remembered_decisions = '{}',
         share_token = NULL
   WHERE id = ANY ($1)`;
