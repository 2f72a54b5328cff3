// Keys of create requests: one row each, and the row's primary key decides between two requests at once.
import type pg from "pg";
import type { Queryable } from "./pool.ts";
import { LOCK_TIMEOUT_MS } from "./transaction.ts";

/** How long a key is remembered, as Postgres says it. */
const KEPT = "24 hours";

/** How long a request waits for another one with its key, in milliseconds, before it is told to come back. */
const WAIT_MS = 2_000;

/** A key as a request brings it. */
export interface IdempotencyClaim {
  organizationId: string;
  key: string;
  bodyHash: Buffer;
  /** The session that is made if the key is new. */
  sessionId: string;
}

/** What a key was used for. */
export interface UsedKey {
  bodyHash: Buffer;
  sessionId: string;
  /** True when that session has been deleted since. */
  isDeleted: boolean;
}

/**
 * Takes a key for this transaction's session. While another transaction holds the same key this waits, so a key whose
 * creation fails is free again at once.
 *
 * @returns null when the key is ours, else what it was used for
 * @throws with SQLSTATE 55P03 when the other transaction takes too long
 */
export async function takeIdempotencyKey(
  tx: pg.ClientBase,
  claim: IdempotencyClaim,
): Promise<UsedKey | null> {
  await tx.query(`SET LOCAL lock_timeout = ${WAIT_MS}`);
  const { rowCount } = await tx.query(
    `INSERT INTO idempotency_keys AS known (organization_id, key, body_hash, session_id) VALUES ($1, $2, $3, $4)
     ON CONFLICT (organization_id, key) DO UPDATE
        SET body_hash = excluded.body_hash, session_id = excluded.session_id, created_at = now()
      WHERE known.created_at < now() - interval '${KEPT}'`,
    [claim.organizationId, claim.key, claim.bodyHash, claim.sessionId],
  );
  await tx.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
  if (rowCount === 1) return null;
  return readIdempotencyKey(tx, claim.organizationId, claim.key);
}

/** What a key was used for; null when it is new or forgotten. */
export async function readIdempotencyKey(
  db: Queryable,
  organizationId: string,
  key: string,
): Promise<UsedKey | null> {
  const { rows } = await db.query<UsedKey>(
    `SELECT body_hash AS "bodyHash", session_id AS "sessionId",
            NOT EXISTS (SELECT FROM sessions WHERE id = session_id) AS "isDeleted"
       FROM idempotency_keys
      WHERE organization_id = $1 AND key = $2 AND created_at >= now() - interval '${KEPT}'`,
    [organizationId, key],
  );
  return rows[0] ?? null;
}

/** True when a statement gave up waiting for a lock. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "55P03";
}

/**
 * Forgets keys that are older than a day, the oldest first. Those that somebody takes again just then are left out.
 *
 * @param options.limit most keys to forget
 * @returns how many it were
 */
export async function deleteOldIdempotencyKeys(db: Queryable, options: { limit: number }): Promise<number> {
  const { rowCount } = await db.query(
    `WITH old AS MATERIALIZED (
       SELECT organization_id, key FROM idempotency_keys WHERE created_at < now() - interval '${KEPT}'
        ORDER BY created_at LIMIT $1 FOR UPDATE SKIP LOCKED
     )
     DELETE FROM idempotency_keys AS known USING old
      WHERE known.organization_id = old.organization_id AND known.key = old.key`,
    [options.limit],
  );
  return rowCount ?? 0;
}
