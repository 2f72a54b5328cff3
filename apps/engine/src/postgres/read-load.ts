import type { SessionLoad } from "../domain/load.ts";
import type { SessionStatus } from "../domain/session-state.ts";
import type { Queryable } from "./pool.ts";

/**
 * Counts the sessions that have not ended, and finds the step that has waited longest for a worker. The conditions are
 * those of the partial indexes, so that ended sessions, of which there may be millions, are never looked at. What this
 * leaves out: sessions that were paused while they waited for a slot.
 */
export const READ_LOAD = {
  name: "read-load",
  text: `SELECT
      (SELECT coalesce(json_object_agg(status, count), '{}') FROM (
         SELECT status, count(*) FROM sessions
          WHERE finished_at IS NULL AND status <> 'queued' AND paused_from IS DISTINCT FROM 'queued'
          GROUP BY status) AS active) AS active,
      (SELECT count(*)::int FROM sessions WHERE status = 'queued') AS queued,
      (SELECT (extract(epoch FROM statement_timestamp() - greatest(due_at, lease_until)) * 1000)::float8
         FROM sessions
        WHERE due_at <= statement_timestamp() AND (lease_until IS NULL OR lease_until < statement_timestamp())
        ORDER BY due_at LIMIT 1) AS "lagMs"`,
};

/** Reads what {@link READ_LOAD} counts. */
export async function readLoad(db: Queryable): Promise<SessionLoad> {
  const { rows } = await db.query<{ active: Record<string, number>; queued: number; lagMs: number | null }>(
    READ_LOAD,
  );
  const { active = {}, queued = 0, lagMs = null } = rows[0] ?? {};
  const counted = { ...active, queued } as Record<SessionStatus, number>;
  const sessions = (Object.keys(counted) as SessionStatus[]).map((status) => ({
    status,
    count: Number(counted[status]),
  }));
  return { sessions, lagMs: lagMs ?? 0 };
}
