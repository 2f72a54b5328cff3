// Slots: how many sessions of an organization are active, and who waits for one. Whoever takes or gives a slot holds the
// organization's admission lock, so two at once never take the same one.
import type pg from "pg";
import type { Queryable } from "./pool.ts";
import { SESSION_COLUMNS, type SessionRow } from "./session-row.ts";

/** Any fixed number: the class of these advisory locks, the letters "SLOT". */
const LOCK_CLASS = 0x534c4f54;

/** What an organization has and waits for. */
export interface SlotCounts {
  active: number;
  queued: number;
}

/** Holds the organization's admission lock until the transaction ends. */
export async function lockAdmission(tx: pg.ClientBase, organizationId: string): Promise<void> {
  await tx.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", [LOCK_CLASS, organizationId]);
}

/** Counts the sessions that have a slot: those that have not ended, but for the queued ones, paused in the queue or not. */
export async function countSlots(db: Queryable, organizationId: string): Promise<SlotCounts> {
  const { rows } = await db.query<SlotCounts>(
    `SELECT count(*) FILTER (WHERE status <> 'queued' AND paused_from IS DISTINCT FROM 'queued')::int AS active,
            count(*) FILTER (WHERE status = 'queued')::int AS queued
       FROM sessions WHERE organization_id = $1 AND finished_at IS NULL`,
    [organizationId],
  );
  return rows[0] ?? { active: 0, queued: 0 };
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

/** Whether a session of the organization waits for a slot. */
export async function hasQueued(db: Queryable, organizationId: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "has-queued",
    text: "SELECT FROM sessions WHERE organization_id = $1 AND status = 'queued' LIMIT 1",
    values: [organizationId],
  });
  return rowCount === 1;
}

/** Organizations of which a session waits for a slot. */
export async function listQueueingOrganizations(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT DISTINCT organization_id AS id FROM sessions WHERE status = 'queued'`,
  );
  return rows.map((row) => row.id);
}
