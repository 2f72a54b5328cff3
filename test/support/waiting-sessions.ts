// Sessions that wait for a result, as many as a test needs: copies of one, made by the database.
import type { Queryable } from "@tandem/engine/postgres/pool";

/** How many events each of them has. */
export const EVENTS = 3;

/** Makes copies of a session that wait for a result, and returns their ids. */
export async function copySession(db: Queryable, id: string, count: number): Promise<string[]> {
  const { rows: columns } = await db.query<{ name: string }>(
    `SELECT quote_ident(attname) AS name FROM pg_attribute
      WHERE attrelid = 'sessions'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
        AND attname NOT IN ('id', 'status', 'next_index', 'due_at')`,
  );
  const names = columns.map(({ name }) => name).join(", ");
  const { rows } = await db.query<{ id: string }>(
    `INSERT INTO sessions (id, status, next_index, due_at, ${names})
     SELECT gen_random_uuid(), 'awaiting_tool_results', 0, NULL, ${names}
       FROM sessions, generate_series(1, $2::int) WHERE id = $1 RETURNING id`,
    [id, count],
  );
  const ids = rows.map((row) => row.id);
  for (let event = 0; event < EVENTS; event++) await appendEvent(db, ids, "first");
  return ids;
}

/** Appends one event to each of these sessions, in one commit. It says its session and `text`. Wakes nobody. */
export async function appendEvent(db: Queryable, ids: readonly string[], text: string): Promise<void> {
  await db.query(
    `WITH advanced AS (
       UPDATE sessions SET next_index = next_index + 1 WHERE id = ANY($1::uuid[]) RETURNING id, next_index
     )
     INSERT INTO events (session_id, index, type, data)
     SELECT id, next_index - 1, 'AgentEvent', json_build_object('kind', 'note', 'session', id, 'text', $2::text)
       FROM advanced`,
    [ids, text],
  );
}
