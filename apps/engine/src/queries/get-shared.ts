import { TandemError } from "../domain/errors.ts";
import { isShareToken, type SessionKey } from "../domain/ids.ts";
import type { Engine } from "../engine.ts";
import { findByShareToken } from "../postgres/share-tokens.ts";

/**
 * The session that a public link leads to.
 *
 * @throws {TandemError} `session_not_found` for what is no token, nobody's, or revoked; the token is not repeated
 */
export async function getShared(engine: Engine, token: string): Promise<SessionKey> {
  const key = isShareToken(token) ? await findByShareToken(engine.pool, token) : null;
  if (!key) throw new TandemError("session_not_found", "There is no shared session behind this link.");
  return key;
}
