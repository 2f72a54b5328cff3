// The frame of every change that somebody asks of a session: find it, lock it, change it, in one transaction.
import type pg from "pg";
import { TandemError } from "../domain/errors.ts";
import type { SessionKey } from "../domain/ids.ts";
import { isTerminal } from "../domain/session-state.ts";
import type { Engine } from "../engine.ts";
import { lockSession } from "../postgres/lock-session.ts";
import type { SessionRow } from "../postgres/session-row.ts";
import { inTransaction } from "../postgres/transaction.ts";

/**
 * Runs `work` on the locked session.
 *
 * @param lockBefore takes the locks that must be held before the session's row is
 * @throws {TandemError} `session_not_found`, and what `work` throws; then nothing has changed
 */
export async function changeSession<T>(
  engine: Engine,
  key: SessionKey,
  work: (tx: pg.ClientBase, session: SessionRow) => Promise<T>,
  lockBefore?: (tx: pg.ClientBase) => Promise<void>,
): Promise<T> {
  return inTransaction(engine.pool, async (tx) => {
    await lockBefore?.(tx);
    const session = await lockSession(tx, key.organizationId, key.sessionId);
    return work(tx, session ?? refuseMissing(key));
  });
}

/**
 * Refuses a session that the organization does not have.
 *
 * @throws {TandemError} `session_not_found`
 */
export function refuseMissing({ sessionId }: SessionKey): never {
  throw new TandemError("session_not_found", `There is no session ${sessionId}.`);
}

/**
 * Refuses what needs the content of an ephemeral session after that is gone.
 *
 * @throws {TandemError} `content_removed`
 */
export function refuseRemoved({ sessionId }: Pick<SessionKey, "sessionId">): never {
  const gone = `Session ${sessionId} was ephemeral; its content has been removed, and only its status remains.`;
  throw new TandemError("content_removed", gone);
}

/**
 * Refuses what an ended session cannot take.
 *
 * @param what completes the sentence "…; it"
 * @throws {TandemError} `session_finished`
 */
export function refuseFinished(session: Pick<SessionRow, "id" | "status">, what: string): void {
  if (!isTerminal(session.status)) return;
  throw new TandemError(
    "session_finished",
    `Session ${session.id} has ended (${session.status}); it ${what}.`,
  );
}
