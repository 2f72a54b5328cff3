// Claiming a session's due step, and what its worker needs to run it, in one statement.
import type pg from "pg";
import type { StoredEvent } from "../domain/events.ts";
import { SESSION_STATUSES, TRANSITIONS } from "../domain/session-state.ts";
import type { Queryable } from "./pool.ts";
import { prepared } from "./prepared.ts";
import { toClaimAssignments } from "./session-assignments.ts";
import { CLAIMED_SESSION_COLUMNS, type ClaimedSessionRow } from "./session-row.ts";
import type { WaitingMessage } from "./waiting-messages.ts";

/** Who claims a step, and for how long. */
export interface Claim {
  sessionId: string;
  worker: string;
  leaseMs: number;
}

/** A due step as it was found. */
export interface DueSession {
  /** As it was before the claim. */
  session: ClaimedSessionRow;
  /** The row's version after the claim; null when the step was not claimed, since more than that is to be done. */
  claimedVersion: string | null;
  messages: WaitingMessage[];
  /** The history as the model sees it; null when it is long: read it by itself. */
  history: StoredEvent[] | null;
}

/** The states in which a step can be claimed. */
const CLAIMABLE = SESSION_STATUSES.filter((status) => TRANSITIONS[status].step_claimed !== "refused");

const IS_CLAIMABLE = `status = ANY($2) AND due_at <= clock_timestamp()
  AND (lease_until IS NULL OR lease_until < clock_timestamp())`;

/** A longer history, in bytes as it is stored, is read row by row: one text of it would hold up the process. */
const SHORT_HISTORY_BYTES = 256 * 1024;

/** The history as the model sees it; null when it is long. */
const SHORT_HISTORY = `
  CASE WHEN (SELECT coalesce(sum(pg_column_size(data) + coalesce(pg_column_size(internal), 0)), 0)
               FROM events WHERE session_id = $1 AND type = 'AgentEvent') <= ${SHORT_HISTORY_BYTES}
       THEN (SELECT coalesce(json_agg(json_build_object(
                      'index', index, 'type', type, 'data', data, 'internal', internal) ORDER BY index), '[]')
               FROM events WHERE session_id = $1 AND type = 'AgentEvent') END`;

/**
 * Finds the session's due step, and claims it when nothing else happens at this boundary: no message waits, nothing was
 * asked of the session meanwhile, no clock has run out. Waits for no lock.
 *
 * @param claim.maxClaims a step that was claimed so often is not claimed here
 * @returns null when the step is not due, is taken, or the session is in no state to run
 */
export async function claimPlainStep(
  db: Queryable,
  claim: Claim & { maxClaims: number },
): Promise<DueSession | null> {
  const values: unknown[] = [claim.sessionId, CLAIMABLE, claim.maxClaims];
  const assignments = toClaimAssignments(claim, (value) => `$${values.push(value)}`);
  const { rows } = await db.query<ClaimedSessionRow & Omit<DueSession, "session">>(
    prepared(toClaimStatement(assignments), values),
  );
  const [row] = rows;
  if (!row) return null;
  const { claimedVersion, messages, history, ...session } = row;
  return { session, claimedVersion, messages: messages ?? [], history };
}

/** What is seen is of one moment; the claim holds only when the row is locked in the version that was seen. */
const toClaimStatement = (assignments: string[]) => `
  WITH seen AS MATERIALIZED (
    SELECT ${CLAIMED_SESSION_COLUMNS} FROM sessions WHERE id = $1 AND ${IS_CLAIMABLE}
  ), target AS MATERIALIZED (
    SELECT id AS target_id, xmin::text AS target_version FROM sessions
     WHERE id = $1 AND status = 'running' AND NOT pause_requested AND claims < $3
       AND coalesce(time_limit_at > clock_timestamp(), true) AND ${IS_CLAIMABLE}
       AND NOT EXISTS (SELECT FROM waiting_messages WHERE session_id = $1)
       FOR NO KEY UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE sessions SET ${assignments.join(", ")} FROM target
     WHERE sessions.id = target_id AND target_version = (SELECT version FROM seen)
    RETURNING sessions.xmin::text AS "claimedVersion"
  )
  SELECT seen.*, "claimedVersion",
         (SELECT json_agg(json_build_object('id', waiting.id::text, 'message', message) ORDER BY waiting.id)
            FROM waiting_messages AS waiting WHERE session_id = $1) AS messages,
         ${SHORT_HISTORY} AS history
    FROM seen LEFT JOIN claimed ON true`;

/**
 * A step that was claimed for a worker when it became due.
 *
 * @returns null when that claim is over
 */
export async function readHeldStep(
  db: Queryable,
  claim: { sessionId: string; fence: number },
): Promise<Pick<DueSession, "session" | "history"> | null> {
  const { rows } = await db.query<ClaimedSessionRow & Pick<DueSession, "history">>(
    prepared(
      `SELECT ${CLAIMED_SESSION_COLUMNS}, ${SHORT_HISTORY} AS history
         FROM sessions WHERE id = $1 AND fence = $2 AND lease_until > clock_timestamp()`,
      [claim.sessionId, claim.fence],
    ),
  );
  const [row] = rows;
  if (!row) return null;
  const { history, ...session } = row;
  return { session, history };
}

/**
 * Takes the session's due step if nobody holds it. Runs in a transaction: the row stays locked until its end.
 *
 * @returns null when the step is not due, is taken, or the session is in no state to run
 */
export async function claimSession(tx: pg.ClientBase, claim: Claim): Promise<ClaimedSessionRow | null> {
  const values: unknown[] = [claim.sessionId, CLAIMABLE];
  const assignments = toClaimAssignments(claim, (value) => `$${values.push(value)}`);
  const { rows } = await tx.query<ClaimedSessionRow>(
    prepared(
      `UPDATE sessions SET ${assignments.join(", ")} WHERE id = $1 AND ${IS_CLAIMABLE}
       RETURNING ${CLAIMED_SESSION_COLUMNS}`,
      values,
    ),
  );
  return rows[0] ?? null;
}
