// Reads of sessions that answer `session_not_found` for what the organization does not have.
import { TandemError } from "../domain/errors.ts";
import type { SessionKey } from "../domain/ids.ts";
import type { Engine } from "../engine.ts";
import { type EventPageOptions, type EventPageRow, readEventPage } from "../postgres/read-events.ts";
import { readSession, readStatus, type SessionView, type StatusRow } from "../postgres/read-sessions.ts";
import { refusePage } from "./refuse-page.ts";

/** The session as it is shown. */
export async function getSession(engine: Engine, key: SessionKey): Promise<SessionView> {
  return (await readSession(engine.pool, key.organizationId, key.sessionId)) ?? notFound(key);
}

/** The session's status alone. */
export async function getStatus(engine: Engine, key: SessionKey): Promise<StatusRow> {
  return (await readStatus(engine.pool, key.organizationId, key.sessionId)) ?? notFound(key);
}

/**
 * One page of the session's history.
 *
 * @throws {TandemError} `session_not_found`, or `invalid_request` when the page is more than one reply holds
 */
export async function getEventPage(
  engine: Engine,
  key: SessionKey & EventPageOptions,
): Promise<EventPageRow> {
  const page = (await readEventPage(engine.pool, key)) ?? notFound(key);
  return page.isTooLarge ? refusePage() : page;
}

function notFound(key: SessionKey): never {
  throw new TandemError("session_not_found", `There is no session ${key.sessionId}.`);
}
