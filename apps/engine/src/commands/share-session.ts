import { newShareToken, type SessionKey } from "../domain/ids.ts";
import type { Engine } from "../engine.ts";
import { dropShareToken, keepShareToken } from "../postgres/share-tokens.ts";
import { refuseMissing, refuseRemoved } from "./change-session.ts";

/**
 * Makes a session readable for whoever has its token. Sharing it again gives the same token.
 *
 * @returns the token
 * @throws {TandemError} `session_not_found`, or `content_removed`: there is nothing left to show
 */
export async function shareSession(engine: Engine, key: SessionKey): Promise<string> {
  const token = await keepShareToken(engine.pool, { ...key, token: newShareToken() });
  if (token === undefined) return refuseMissing(key);
  return token ?? refuseRemoved(key);
}

/**
 * Makes a session's token worthless, at once and for good. A session that is not shared stays as it is.
 *
 * @throws {TandemError} `session_not_found`
 */
export async function unshareSession(engine: Engine, key: SessionKey): Promise<void> {
  if (!(await dropShareToken(engine.pool, key))) refuseMissing(key);
}
