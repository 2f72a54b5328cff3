import type { Queryable } from "./pool.ts";

/**
 * Deletes sessions whose time is up, with everything of them: events, calls, messages, feedback. One that somebody has
 * locked is left to the next sweep, and one that was restarted in the meantime is looked at anew under its lock.
 *
 * @param options.limit most sessions to delete
 * @returns the ids of those that are gone
 */
export async function deleteExpiredSessions(db: Queryable, options: { limit: number }): Promise<string[]> {
  // now() and not clock_timestamp(): the index gives a range only for a moment that stands still.
  const { rows } = await db.query<{ id: string }>(
    `WITH expired AS MATERIALIZED (
       SELECT id FROM sessions WHERE delete_at < now() ORDER BY delete_at LIMIT $1 FOR UPDATE SKIP LOCKED
     )
     DELETE FROM sessions USING expired WHERE sessions.id = expired.id RETURNING sessions.id`,
    [options.limit],
  );
  return rows.map((row) => row.id);
}
