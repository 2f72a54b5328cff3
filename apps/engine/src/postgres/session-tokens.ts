// Tokens of sessions: made, looked up by the database's clock, and forgotten.
import type { SessionKey } from "../domain/ids.ts";
import { stringifyJson } from "../domain/json.ts";
import type { ToolDefinition } from "../domain/tools.ts";
import type { Queryable } from "./pool.ts";

/** A token as it is stored. */
export interface NewSessionToken extends SessionKey {
  /** The key that makes it, and that it ends with. */
  keyId: string;
  tokenHash: Buffer;
  tools: string[] | null;
  expiresInS: number;
}

/**
 * Stores a token. It ends when its time is over, or that of the key that makes it.
 *
 * @returns when it ends; null for a session whose content is removed; undefined when the organization has no such session
 */
export async function insertSessionToken(
  db: Queryable,
  token: NewSessionToken,
): Promise<Date | null | undefined> {
  const { rows } = await db.query<{ expiresAt: Date | null }>(
    `WITH session AS (
       SELECT id, purged_at FROM sessions WHERE id = $1 AND organization_id = $2 FOR KEY SHARE
     ), made AS (
       INSERT INTO session_tokens (session_id, api_key_id, token_hash, tools, expires_at)
       SELECT session.id, api_keys.id, $4, $5, least(now() + $6 * interval '1 second', api_keys.expires_at)
         FROM session, api_keys WHERE api_keys.id = $3 AND purged_at IS NULL
       RETURNING expires_at
     )
     SELECT (SELECT expires_at FROM made) AS "expiresAt" FROM session`,
    [
      token.sessionId,
      token.organizationId,
      token.keyId,
      token.tokenHash,
      token.tools && stringifyJson(token.tools),
      token.expiresInS,
    ],
  );
  return rows[0]?.expiresAt;
}

/** The tools of a session; null when the organization has no such session. */
export async function readSessionTools(
  db: Queryable,
  { organizationId, sessionId }: SessionKey,
): Promise<ToolDefinition[] | null> {
  const { rows } = await db.query<{ tools: ToolDefinition[] }>(
    "SELECT tools FROM sessions WHERE id = $1 AND organization_id = $2",
    [sessionId, organizationId],
  );
  return rows[0]?.tools ?? null;
}

/** A token that is good now, and whose it is. */
export interface SessionTokenRow extends SessionKey {
  id: string;
  /** The key that made it. */
  keyId: string;
  userName: string;
  tools: string[] | null;
  /** How long it lasts, in milliseconds. */
  leftMs: number;
}

/** Looks a token up; null when it is unknown, or has ended, or its key has. */
export async function findSessionToken(db: Queryable, tokenHash: Buffer): Promise<SessionTokenRow | null> {
  const { rows } = await db.query<SessionTokenRow>({
    name: "find-session-token",
    text: `SELECT token.id, session_id AS "sessionId", organization_id AS "organizationId", user_name AS "userName",
                  api_key_id AS "keyId", tools,
                  (extract(epoch FROM least(token.expires_at, api_keys.expires_at) - now()) * 1000)::float8 AS "leftMs"
             FROM session_tokens AS token JOIN api_keys ON api_keys.id = api_key_id
            WHERE token_hash = $1 AND token.expires_at > now() AND revoked_at IS NULL
              AND (api_keys.expires_at IS NULL OR api_keys.expires_at > now())`,
    values: [tokenHash],
  });
  return rows[0] ?? null;
}

/**
 * Forgets tokens that have ended, the oldest first.
 *
 * @param options.limit most tokens to forget
 * @returns how many it were
 */
export async function deleteExpiredTokens(db: Queryable, options: { limit: number }): Promise<number> {
  const { rowCount } = await db.query(
    `WITH expired AS MATERIALIZED (
       SELECT id FROM session_tokens WHERE expires_at < now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
     )
     DELETE FROM session_tokens USING expired WHERE session_tokens.id = expired.id`,
    [options.limit],
  );
  return rowCount ?? 0;
}
