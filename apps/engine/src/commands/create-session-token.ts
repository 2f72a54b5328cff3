import { hashApiKey, type Principal } from "../domain/api-keys.ts";
import { type Fault, TandemError } from "../domain/errors.ts";
import { newSessionToken } from "../domain/session-tokens.ts";
import type { Engine } from "../engine.ts";
import { insertSessionToken, readSessionTools } from "../postgres/session-tokens.ts";
import { refuseMissing, refuseRemoved } from "./change-session.ts";

/** What a token is made from. */
export interface NewToken {
  principal: Principal;
  sessionId: string;
  /** Tools of the session whose calls the token may answer; absent: all, and those that come later too. */
  tools?: string[] | undefined;
  expiresInS: number;
}

/**
 * Makes a token that is good for one session. It ends with the key that makes it, too.
 *
 * @returns the token, which cannot be read again, and when it ends
 * @throws {TandemError} `session_not_found`, `content_removed`, or `invalid_request` for tools that the session has not
 */
export async function createSessionToken(
  engine: Engine,
  { principal, sessionId, tools, expiresInS }: NewToken,
): Promise<{ token: string; expiresAt: Date }> {
  const { organizationId, keyId } = principal;
  const key = { organizationId, sessionId };
  if (tools) await refuseUnknownTools(engine, key, tools);
  const token = newSessionToken();
  const expiresAt = await insertSessionToken(engine.pool, {
    ...key,
    keyId,
    tokenHash: hashApiKey(token),
    tools: tools ?? null,
    expiresInS,
  });
  if (expiresAt === undefined) return refuseMissing(key);
  return { token, expiresAt: expiresAt ?? refuseRemoved(key) };
}

async function refuseUnknownTools(
  engine: Engine,
  key: { organizationId: string; sessionId: string },
  tools: readonly string[],
): Promise<void> {
  const defined = (await readSessionTools(engine.pool, key)) ?? refuseMissing(key);
  const names = new Set(defined.map(({ name }) => name));
  const faults = tools.flatMap((name, index): Fault[] => {
    if (names.has(name)) return [];
    const msg = `the session has no tool ${JSON.stringify(name)}`;
    return [{ loc: ["body", "tools", index], msg, type: "tool_unknown" }];
  });
  if (faults[0]) throw new TandemError("invalid_request", faults[0].msg, { faults });
}
