// Tokens of public links: a session has one while it is shared.
import type { SessionKey } from "../domain/ids.ts";
import type { Queryable } from "./pool.ts";

/**
 * Gives a session a token unless it has one.
 *
 * @returns the session's token; null for a session whose content is removed; undefined when the organization has no such
 *   session
 */
export async function keepShareToken(
  db: Queryable,
  { organizationId, sessionId, token }: SessionKey & { token: string },
): Promise<string | null | undefined> {
  const { rows } = await db.query<{ token: string | null }>(
    `UPDATE sessions SET share_token = CASE WHEN purged_at IS NULL THEN coalesce(share_token, $3) END
      WHERE id = $1 AND organization_id = $2
     RETURNING share_token AS token`,
    [sessionId, organizationId, token],
  );
  return rows[0]?.token;
}

/** Takes a session's token away; false when the organization has no such session. */
export async function dropShareToken(
  db: Queryable,
  { organizationId, sessionId }: SessionKey,
): Promise<boolean> {
  const { rowCount } = await db.query(
    "UPDATE sessions SET share_token = NULL WHERE id = $1 AND organization_id = $2",
    [sessionId, organizationId],
  );
  return rowCount === 1;
}

/** The session that a token is for; null when it is nobody's, or no longer. */
export async function findByShareToken(db: Queryable, token: string): Promise<SessionKey | null> {
  const { rows } = await db.query<SessionKey>({
    name: "find-by-share-token",
    text: `SELECT id AS "sessionId", organization_id AS "organizationId" FROM sessions WHERE share_token = $1`,
    values: [token],
  });
  return rows[0] ?? null;
}
