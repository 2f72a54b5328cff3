// Claims of steps: a lease on the database's clock and a fencing token that grows with every claim.
import type pg from "pg";
import { SESSION_STATUSES, TRANSITIONS } from "../domain/session-state.ts";
import type { Queryable } from "./pool.ts";
import { CLAIMED_SESSION_COLUMNS, type ClaimedSessionRow, TIMER_AT } from "./session-row.ts";

/** The states in which a step can be claimed. */
const CLAIMABLE = SESSION_STATUSES.filter((status) => TRANSITIONS[status].step_claimed !== "refused");

/**
 * Takes the session's due step if nobody holds it. Runs in a transaction: the row stays locked until its end.
 *
 * @returns null when the step is not due, taken, or the session is in no state to run
 */
export async function claimSession(
  tx: pg.ClientBase,
  claim: { sessionId: string; leaseMs: number; worker: string },
): Promise<ClaimedSessionRow | null> {
  const { rows } = await tx.query<ClaimedSessionRow>(
    `UPDATE sessions
        SET fence = fence + 1, claims = claims + 1, worker = $3, claimed_at = clock_timestamp(),
            heartbeat_at = clock_timestamp(), lease_until = clock_timestamp() + $2 * interval '1 millisecond'
      WHERE id = $1 AND status = ANY($4) AND due_at <= clock_timestamp()
        AND (lease_until IS NULL OR lease_until < clock_timestamp())
     RETURNING ${CLAIMED_SESSION_COLUMNS}`,
    [claim.sessionId, claim.leaseMs, claim.worker, CLAIMABLE],
  );
  return rows[0] ?? null;
}

/** Prolongs a lease; false when the token is no longer the current one. A lapsed lease that nobody took can be kept. */
export async function renewLease(
  db: Queryable,
  claim: { sessionId: string; fence: number; leaseMs: number },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE sessions
        SET heartbeat_at = clock_timestamp(), lease_until = clock_timestamp() + $3 * interval '1 millisecond'
      WHERE id = $1 AND fence = $2 AND lease_until IS NOT NULL`,
    [claim.sessionId, claim.fence, claim.leaseMs],
  );
  return rowCount === 1;
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

/** A step that should run: which session, and the token that its next claim will supersede. */
export interface DueStep {
  sessionId: string;
  fence: number;
  /** How often the step was put back because nobody took it; absent at first. */
  putBack?: number;
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
      WHERE (idle_until IS NOT NULL OR time_limit_at IS NOT NULL) AND ${TIMER_AT} <= statement_timestamp()
      ORDER BY ${TIMER_AT} LIMIT $1`,
    [options.limit],
  );
  return rows.map((row) => row.id);
}
