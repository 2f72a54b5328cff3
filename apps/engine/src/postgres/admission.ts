// Slots: how many sessions of an organization are active, and who waits for one. Whoever takes or gives a slot holds the
// organization's admission lock, so two at once never take the same one.
import type pg from "pg";
import type { Queryable } from "./pool.ts";
import { SESSION_COLUMNS, type SessionRow } from "./session-row.ts";

/** Any fixed number: the class of these advisory locks, the letters "SLOT". */
const LOCK_CLASS = 0x534c4f54;

/** Holds the organization's admission lock until the transaction ends. */
export async function lockAdmission(tx: pg.ClientBase, organizationId: string): Promise<void> {
  await tx.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", [LOCK_CLASS, organizationId]);
}

/**
 * Counts the sessions that have a slot: those that have not ended and are not queued, nor paused in the queue. Up to a
 * limit, where no more matters.
 */
export async function countActive(db: Queryable, organizationId: string, limit?: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: "count-active",
    text: `SELECT count(*)::int AS count
             FROM (SELECT FROM sessions
                    WHERE organization_id = $1 AND finished_at IS NULL AND status <> 'queued'
                      AND paused_from IS DISTINCT FROM 'queued'
                    LIMIT $2) AS active`,
    values: [organizationId, limit ?? null],
  });
  return rows[0]?.count ?? 0;
}

/** Counts the sessions that wait for a slot, up to a limit: a queue may be long. */
export async function countQueued(db: Queryable, organizationId: string, limit?: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: "count-queued",
    text: `SELECT count(*)::int AS count
             FROM (SELECT FROM sessions WHERE organization_id = $1 AND status = 'queued'
                    ORDER BY queued_at, id LIMIT $2) AS queued`,
    values: [organizationId, limit ?? null],
  });
  return rows[0]?.count ?? 0;
}

/** Locks the sessions that have waited longest for a slot. */
export async function lockOldestQueued(
  tx: pg.ClientBase,
  organizationId: string,
  limit: number,
): Promise<SessionRow[]> {
  const { rows } = await tx.query<SessionRow>(
    `SELECT ${SESSION_COLUMNS} FROM sessions WHERE organization_id = $1 AND status = 'queued'
      ORDER BY queued_at, id LIMIT $2 FOR UPDATE`,
    [organizationId, limit],
  );
  return rows;
}

/** Organizations of which a session waits for a slot. Goes from one to the next, however many of each wait. */
export async function listQueueingOrganizations(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `WITH RECURSIVE queueing AS (
       (SELECT organization_id AS id FROM sessions WHERE status = 'queued' ORDER BY organization_id LIMIT 1)
       UNION ALL
       SELECT (SELECT organization_id FROM sessions
                WHERE status = 'queued' AND organization_id > queueing.id ORDER BY organization_id LIMIT 1)
         FROM queueing WHERE queueing.id IS NOT NULL
     )
     SELECT id FROM queueing WHERE id IS NOT NULL`,
  );
  return rows.map((row) => row.id);
}
