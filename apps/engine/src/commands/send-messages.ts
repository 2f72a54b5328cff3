import { invalidRequest, TandemError } from "../domain/errors.ts";
import type { UserMessage } from "../domain/messages.ts";
import { isTerminal } from "../domain/session-state.ts";
import { announce, type Engine } from "../engine.ts";
import { lockSession } from "../postgres/lock-session.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { updateSession } from "../postgres/update-session.ts";
import { insertMessages } from "../postgres/waiting-messages.ts";
import { toRestart } from "./restart.ts";

/**
 * Stores messages for the session's next step boundary. A session that has ended starts again with its whole
 * history; its earlier answer stays the latest one until there is a new one.
 *
 * @throws {TandemError} `session_not_found`
 */
export async function sendMessages(
  engine: Engine,
  input: { organizationId: string; sessionId: string; messages: UserMessage[] },
): Promise<void> {
  if (input.messages.length === 0)
    throw invalidRequest(["body", "messages"], "at least one message is needed");
  const restarted = await inTransaction(engine.pool, async (tx) => {
    const session = await lockSession(tx, input.organizationId, input.sessionId);
    if (!session) throw new TandemError("session_not_found", `There is no session ${input.sessionId}.`);
    await insertMessages(tx, session.id, input.messages);
    if (!isTerminal(session.status)) return null;
    await updateSession(tx, session, { ...toRestart(session.status), events: [] });
    return { fence: session.fence };
  });
  await announce(engine, input.sessionId, restarted ?? undefined);
}
