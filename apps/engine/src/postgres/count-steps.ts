// How far a history had come at an index.
import type { Queryable } from "./pool.ts";

/**
 * The number of the last step before an index of a session's history at which a reply of the model stands; 0 when there is
 * none. Each reply is followed at once by the number of its step, which is all that is unpacked: Postgres refuses to look
 * into JSON of users that has a NUL or half of a surrogate pair anywhere.
 */
export async function countStepsBefore(db: Queryable, sessionId: string, index: number): Promise<number> {
  const { rows } = await db.query<{ steps: number }>({
    name: "count-steps-before",
    text: `SELECT coalesce((SELECT (data -> 'metrics' ->> 'steps')::int FROM events
                             WHERE session_id = $1 AND index < $2 AND type = 'MetricsUpdateEvent'
                             ORDER BY index DESC LIMIT 1), 0) AS steps`,
    values: [sessionId, index],
  });
  return rows[0]?.steps ?? 0;
}
