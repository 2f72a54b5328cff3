import type pg from "pg";
import { prepared } from "./prepared.ts";
import {
  CLAIMED_SESSION_COLUMNS,
  type ClaimedSessionRow,
  SESSION_COLUMNS,
  type SessionRow,
} from "./session-row.ts";

/**
 * Locks one session's row until the transaction ends. Every change of a session starts here, so changes of one
 * session happen one after the other.
 *
 * @returns null when the organization has no such session
 */
export async function lockSession(
  tx: pg.ClientBase,
  organizationId: string,
  sessionId: string,
): Promise<SessionRow | null> {
  const { rows } = await tx.query<SessionRow>(
    prepared(`SELECT ${SESSION_COLUMNS} FROM sessions WHERE id = $1 AND organization_id = $2 FOR UPDATE`, [
      sessionId,
      organizationId,
    ]),
  );
  return rows[0] ?? null;
}

/** Locks one session's row, whoever it belongs to: for what happens by itself. Null when it is gone. */
export async function lockAnySession(tx: pg.ClientBase, sessionId: string): Promise<SessionRow | null> {
  const { rows } = await tx.query<SessionRow>(
    prepared(`SELECT ${SESSION_COLUMNS} FROM sessions WHERE id = $1 FOR UPDATE`, [sessionId]),
  );
  return rows[0] ?? null;
}

/**
 * Locks a session for the worker that holds this fencing token.
 *
 * @returns null when the token is no longer the current one: the claim was lost and nothing may be written
 */
export async function lockClaimedSession(
  tx: pg.ClientBase,
  claim: { sessionId: string; fence: number },
): Promise<ClaimedSessionRow | null> {
  const { rows } = await tx.query<ClaimedSessionRow>(
    prepared(
      `SELECT ${CLAIMED_SESSION_COLUMNS} FROM sessions
        WHERE id = $1 AND fence = $2 AND lease_until IS NOT NULL FOR UPDATE`,
      [claim.sessionId, claim.fence],
    ),
  );
  return rows[0] ?? null;
}
