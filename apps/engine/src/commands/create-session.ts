import { createHash } from "node:crypto";
import type { AgentDefinition } from "../domain/agents.ts";
import type { Principal } from "../domain/api-keys.ts";
import { invalidRequest, TandemError } from "../domain/errors.ts";
import { requestStart } from "../domain/events.ts";
import { newSessionId } from "../domain/ids.ts";
import { type JsonValue, toCanonicalJson } from "../domain/json.ts";
import type { SessionRequest } from "../domain/session-request.ts";
import { announce, type Engine } from "../engine.ts";
import {
  isLockTimeout,
  readIdempotencyKey,
  takeIdempotencyKey,
  type UsedKey,
} from "../postgres/idempotency-keys.ts";
import { insertSession, type NewSession } from "../postgres/insert-session.ts";
import { inTransaction } from "../postgres/transaction.ts";

/** A key under which a create request may be repeated, with the body it came with. */
export interface IdempotencyKey {
  key: string;
  body: JsonValue;
}

/**
 * Creates a session: one statement writes it with its first event and messages; then its first step is queued.
 *
 * @param input.agent what runs, after overrides; checked by the caller
 * @param input.idempotency the same key with the same body gives the session that it made before, for 24 hours
 * @returns the session's id
 * @throws {TandemError} `invalid_request` when the key came with another body before, `session_deleted` when its session
 *   is gone, `idempotency_in_flight` when another request with it is under way; no session was created then
 */
export async function createSession(
  engine: Engine,
  input: {
    principal: Principal;
    request: SessionRequest;
    agent: AgentDefinition;
    idempotency?: IdempotencyKey | undefined;
  },
): Promise<string> {
  const { tools, ...agent } = input.agent;
  const session: NewSession = {
    id: newSessionId(),
    organizationId: input.principal.organizationId,
    userName: input.principal.userName,
    request: input.request,
    agent,
    tools: tools ?? [],
    messages: input.request.messages ?? [],
    events: [requestStart()],
  };
  const earlier = input.idempotency ? await insertOnce(engine, session, input.idempotency) : null;
  if (earlier !== null) return earlier;
  if (!input.idempotency) await insertSession(engine.pool, session);
  await announce(engine, session.id, { fence: 0 });
  return session.id;
}

/**
 * The session that an earlier request with this key made; null when there was none.
 *
 * @throws {TandemError} `invalid_request` when the key came with another body, `session_deleted` when its session is gone
 */
export async function findCreatedSession(
  engine: Engine,
  organizationId: string,
  { key, body }: IdempotencyKey,
): Promise<string | null> {
  const used = await readIdempotencyKey(engine.pool, organizationId, key);
  return used && toEarlierSession(used, hashBody(body));
}

function hashBody(body: JsonValue): Buffer {
  return createHash("sha256").update(toCanonicalJson(body)).digest();
}

function toEarlierSession(used: UsedKey, bodyHash: Buffer): string {
  if (used.bodyHash.equals(bodyHash)) {
    if (!used.isDeleted) return used.sessionId;
    // Another session would do the work a second time, which is what the key is to prevent.
    const gone = `The session ${used.sessionId} that this Idempotency-Key made has been deleted; to run it again, use a new key.`;
    throw new TandemError("session_deleted", gone);
  }
  const msg = "this Idempotency-Key was used with another body before; a new request needs a new key";
  throw invalidRequest(["header", "idempotency-key"], msg, "idempotency_key_reused");
}

/** Inserts the session together with its key; the id of the earlier session when the key was used before. */
async function insertOnce(
  engine: Engine,
  session: NewSession,
  idempotency: IdempotencyKey,
): Promise<string | null> {
  const { key, body } = idempotency;
  const bodyHash = hashBody(body);
  const { organizationId, id: sessionId } = session;
  const used = await inTransaction(engine.pool, async (tx) => {
    const known = await takeIdempotencyKey(tx, { organizationId, key, bodyHash, sessionId });
    if (known === null) await insertSession(tx, session);
    return known;
  }).catch((error: unknown) => {
    if (!isLockTimeout(error)) throw error;
    const message = "Another request with this Idempotency-Key is under way; try again shortly.";
    throw new TandemError("idempotency_in_flight", message, { cause: error });
  });
  return used && toEarlierSession(used, bodyHash);
}
