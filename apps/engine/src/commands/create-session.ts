import { createHash } from "node:crypto";
import type pg from "pg";
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
import { insertSession, type SessionInsert, toSessionInsert } from "../postgres/insert-session.ts";
import { readSession, type SessionView } from "../postgres/read-sessions.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { admitIfQueued, mustQueue } from "./admit-sessions.ts";

/** A key under which a create request may be repeated, with the body it came with. */
export interface IdempotencyKey {
  key: string;
  body: JsonValue;
}

/**
 * Creates a session: one statement writes it with its first event and messages; then its first step is queued. When the
 * organization has no free slot, the session waits for one.
 *
 * @param input.agent what runs, after overrides; checked by the caller
 * @param input.idempotency the same key with the same body gives the session that it made before, for 24 hours
 * @returns the session as it is shown
 * @throws {TandemError} `invalid_request` when the key came with another body before, `session_deleted` when its
 *   session is gone, `idempotency_in_flight` when another request with it is under way, `session_limit` when there is
 *   no free slot and the session does not queue; in all of these no session was created
 */
export async function createSession(
  engine: Engine,
  input: {
    principal: Principal;
    request: SessionRequest;
    agent: AgentDefinition;
    idempotency?: IdempotencyKey | undefined;
  },
): Promise<SessionView> {
  const { tools, ...agent } = input.agent;
  const { organizationId } = input.principal;
  const session = toSessionInsert({
    id: newSessionId(),
    organizationId,
    userName: input.principal.userName,
    request: input.request,
    agent,
    tools: tools ?? [],
    messages: input.request.messages ?? [],
    events: [requestStart()],
  });
  const inserted = input.idempotency
    ? await insertOnce(engine, session, input.idempotency)
    : await insert(engine, session);
  if (typeof inserted === "string") return readCreated(engine, organizationId, inserted);
  await announceNew(engine, session, inserted);
  // Whoever waited for a slot may have got one meanwhile.
  return inserted.status === "queued" ? readCreated(engine, organizationId, session.id) : inserted;
}

async function readCreated(engine: Engine, organizationId: string, id: string): Promise<SessionView> {
  return (await readSession(engine.pool, organizationId, id)) ?? refuseDeleted(id);
}

/** Without a limit one statement is enough; with one, the count and the insert are under the admission lock. */
async function insert(engine: Engine, session: SessionInsert): Promise<SessionView> {
  if (engine.maxActiveSessions > 0) return inTransaction(engine.pool, (tx) => place(tx, engine, session));
  return insertSession(engine.pool, session, "pending");
}

async function place(tx: pg.ClientBase, engine: Engine, session: SessionInsert): Promise<SessionView> {
  const { organizationId, request } = session;
  const isQueued = await mustQueue(tx, engine, { organizationId, queues: request.queue });
  return insertSession(tx, session, isQueued ? "queued" : "pending");
}

async function announceNew(engine: Engine, session: SessionInsert, { status }: SessionView): Promise<void> {
  const { id: sessionId, organizationId } = session;
  const isQueued = status === "queued";
  const due = isQueued ? null : "now";
  engine.telemetry.metrics.created.inc();
  await announce(engine, { sessionId, organizationId, fence: 0, due, timer: null, isEnded: false });
  // A slot that became free while this one was counted has looked for queued sessions in vain.
  if (isQueued) await admitIfQueued(engine, organizationId);
}

/**
 * The session that an earlier request with this key made; null when there was none.
 *
 * @throws {TandemError} `invalid_request` when the key came with another body, `session_deleted` when its session is
 *   gone
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
    refuseDeleted(used.sessionId);
  }
  const msg = "this Idempotency-Key was used with another body before; a new request needs a new key";
  throw invalidRequest(["header", "idempotency-key"], msg, "idempotency_key_reused");
}

/** Another session would do the work a second time, which is what the key is to prevent. */
function refuseDeleted(id: string): never {
  const gone = `The session ${id} that this Idempotency-Key made has been deleted; to run it again, use a new key.`;
  throw new TandemError("session_deleted", gone);
}

/** Inserts the session together with its key; the id of the earlier session when the key was used before. */
async function insertOnce(
  engine: Engine,
  session: SessionInsert,
  idempotency: IdempotencyKey,
): Promise<string | SessionView> {
  const { key, body } = idempotency;
  const bodyHash = hashBody(body);
  const { organizationId, id: sessionId } = session;
  const made = await inTransaction(engine.pool, async (tx) => {
    const claim = { organizationId, key, bodyHash, sessionId };
    const used = await takeIdempotencyKey(tx, claim).catch((error: unknown) => {
      if (!isLockTimeout(error)) throw error;
      const message = "Another request with this Idempotency-Key is under way; try again shortly.";
      throw new TandemError("idempotency_in_flight", message, { cause: error });
    });
    return used === null ? { placed: await place(tx, engine, session) } : { used, placed: null };
  });
  return made.placed ?? toEarlierSession(made.used, bodyHash);
}
