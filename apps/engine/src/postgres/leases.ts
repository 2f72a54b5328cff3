// Leases of claimed steps, on the database's clock, and what is found when one has lapsed.
import type { Queryable } from "./pool.ts";
import { prepared } from "./prepared.ts";
import { TIMER_AT } from "./session-row.ts";

/** What prolonging a lease made of the row's version: the one before, and the one that it has now. */
export interface RenewedLease {
  before: string;
  after: string;
}

/** Prolongs a lease; null when the token is no longer the current one. A lapsed lease that nobody took can be kept. */
export async function renewLease(
  db: Queryable,
  claim: { sessionId: string; fence: number; leaseMs: number },
): Promise<RenewedLease | null> {
  const { rows } = await db.query<RenewedLease>(
    prepared(
      `UPDATE sessions
          SET heartbeat_at = clock_timestamp(), lease_until = clock_timestamp() + $3 * interval '1 millisecond'
         FROM (SELECT xmin::text AS version FROM sessions WHERE id = $1 FOR NO KEY UPDATE) AS held
        WHERE id = $1 AND fence = $2 AND lease_until IS NOT NULL
        RETURNING held.version AS before, sessions.xmin::text AS after`,
      [claim.sessionId, claim.fence, claim.leaseMs],
    ),
  );
  return rows[0] ?? null;
}

/** The fencing token of a session as it is now; null when there is no such session. */
export async function readFence(db: Queryable, sessionId: string): Promise<number | null> {
  const { rows } = await db.query<{ fence: number }>(
    prepared("SELECT fence FROM sessions WHERE id = $1", [sessionId]),
  );
  return rows[0]?.fence ?? null;
}

/** Whether a fencing token is still the current one. */
export async function isLeaseHeld(
  db: Queryable,
  claim: { sessionId: string; fence: number },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "is-lease-held",
    text: "SELECT FROM sessions WHERE id = $1 AND fence = $2 AND lease_until IS NOT NULL",
    values: [claim.sessionId, claim.fence],
  });
  return rowCount === 1;
}

/** Gives a claimed step back at once, for another worker to take, as if it had not been claimed. */
export async function returnLease(
  db: Queryable,
  claim: { sessionId: string; fence: number },
): Promise<{ fence: number; organizationId: string } | null> {
  const { rows } = await db.query<{ fence: number; organizationId: string }>(
    `UPDATE sessions SET fence = fence + 1, claims = greatest(claims - 1, 0), lease_until = NULL, worker = NULL
      WHERE id = $1 AND fence = $2 AND lease_until IS NOT NULL
      RETURNING fence, organization_id AS "organizationId"`,
    [claim.sessionId, claim.fence],
  );
  return rows[0] ?? null;
}

/**
 * Ends the claims of those steps that were given to workers and not taken up, which is to say that their leases were
 * never prolonged: the last heartbeat is the claim itself. Steps that a worker has claimed by itself are none of them.
 *
 * @returns the steps as they are to be claimed now
 */
export async function takeBackSteps(db: Queryable, steps: readonly DueStep[]): Promise<DueStep[]> {
  const { rows } = await db.query<DueStep>(
    prepared(
      `UPDATE sessions
          SET fence = sessions.fence + 1, claims = greatest(claims - 1, 0), lease_until = NULL, worker = NULL
         FROM unnest($1::uuid[], $2::int[]) AS given (session_id, fence)
        WHERE id = session_id AND sessions.fence = given.fence
          AND due_at IS NOT NULL AND lease_until IS NOT NULL AND heartbeat_at = claimed_at
        RETURNING id AS "sessionId", sessions.fence`,
      [steps.map((step) => step.sessionId), steps.map((step) => step.fence)],
    ),
  );
  return rows;
}

/** A step that should run: which session, and the token that its next claim will supersede. */
export interface DueStep {
  sessionId: string;
  fence: number;
  /** How often the step was put back because nobody took it; absent at first. */
  putBack?: number;
}

/** Of these steps, those that are due and that no worker has claimed. */
export async function findUnclaimed(db: Queryable, steps: readonly DueStep[]): Promise<DueStep[]> {
  const { rows } = await db.query<DueStep>(
    prepared(
      `SELECT id AS "sessionId", sessions.fence
         FROM unnest($1::uuid[], $2::int[]) AS offered (session_id, fence)
         JOIN sessions ON id = session_id AND sessions.fence = offered.fence
        WHERE due_at IS NOT NULL AND lease_until IS NULL`,
      [steps.map((step) => step.sessionId), steps.map((step) => step.fence)],
    ),
  );
  return rows;
}

/**
 * Steps that have been due for a while and that nobody holds: their job was lost, or their worker died. `putBack`
 * grows with the logarithm of the time, so that a step that still waits in a long queue is not put in at every sweep.
 * An index can be searched by `statement_timestamp`, and not by `clock_timestamp`, which changes as the statement runs.
 */
export async function findOverdueSteps(
  db: Queryable,
  options: { overdueMs: number; limit: number },
): Promise<Required<DueStep>[]> {
  const { rows } = await db.query<Required<DueStep>>(
    `SELECT id AS "sessionId", fence, floor(log(2, greatest(waited_ms / $1::numeric, 1)))::int AS "putBack"
       FROM (SELECT id, fence, due_at,
                    extract(epoch FROM statement_timestamp() - greatest(due_at, lease_until)) * 1000 AS waited_ms
               FROM sessions
              WHERE due_at < statement_timestamp() - $1::float8 * interval '1 millisecond'
                AND (lease_until IS NULL OR lease_until < statement_timestamp())
              ORDER BY due_at LIMIT $2) AS overdue`,
    [options.overdueMs, options.limit],
  );
  return rows;
}

/** Sessions of which a clock has run out, the longest first. */
export async function findOverdueTimers(db: Queryable, options: { limit: number }): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM sessions
      WHERE (idle_until IS NOT NULL OR time_limit_at IS NOT NULL OR call_deadline_at IS NOT NULL)
        AND ${TIMER_AT} <= statement_timestamp()
      ORDER BY ${TIMER_AT} LIMIT $1`,
    [options.limit],
  );
  return rows.map((row) => row.id);
}
