import { hashApiKey, type Principal } from "../domain/api-keys.ts";
import { isSessionToken } from "../domain/session-tokens.ts";
import type { Engine } from "../engine.ts";
import { useApiKey } from "../postgres/api-keys.ts";
import { findSessionToken } from "../postgres/session-tokens.ts";

/**
 * Who a credential, an API key or a session token, belongs to; null when it is unknown, expired or revoked. Remembers
 * that the key was used.
 */
export async function authenticate(engine: Engine, credential: string): Promise<Principal | null> {
  const hash = hashApiKey(credential);
  // A key that somebody chose may have the form of a token.
  const holder = isSessionToken(credential) ? await findHolder(engine, hash) : null;
  return holder ?? useApiKey(engine.pool, hash);
}

async function findHolder(engine: Engine, tokenHash: Buffer): Promise<Principal | null> {
  // From before the look, so that the token ends here no later than there.
  const startMs = performance.now();
  const token = await findSessionToken(engine.pool, tokenHash);
  if (!token) return null;
  const { id: tokenId, sessionId, tools, leftMs, ...owner } = token;
  return { ...owner, isAdmin: false, scope: { tokenId, sessionId, tools, endsAtMs: startMs + leftMs } };
}
