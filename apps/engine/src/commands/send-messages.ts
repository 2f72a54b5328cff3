import { invalidRequest } from "../domain/errors.ts";
import { stateRunning } from "../domain/events.ts";
import type { UserMessage } from "../domain/messages.ts";
import { isTerminal, mustMove } from "../domain/session-state.ts";
import { announce, type Engine } from "../engine.ts";
import type { SessionRow } from "../postgres/session-row.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { type SessionChange, type SessionUpdate, updateSession } from "../postgres/update-session.ts";
import { insertMessages } from "../postgres/waiting-messages.ts";
import { getStatus, type SessionKey } from "../queries/sessions.ts";
import { admitIfQueued, holdSlots, mustQueue } from "./admit-sessions.ts";
import { getLockedSession } from "./change-session.ts";
import { activeStatus } from "./pause-session.ts";
import { TASK_START, toRestart } from "./restart.ts";
import { toResumed } from "./resume-session.ts";

/**
 * Stores messages for the session's next step boundary. An idle session takes up work before this returns, a paused one
 * is resumed, and one that has ended starts again with its whole history, when it has a slot; its earlier answer stays the
 * latest one until there is a new one.
 *
 * @throws {TandemError} `session_not_found`, or `session_limit` when an ended session finds no slot and does not queue
 */
export async function sendMessages(
  engine: Engine,
  input: SessionKey & { messages: UserMessage[] },
): Promise<void> {
  if (input.messages.length === 0)
    throw invalidRequest(["body", "messages"], "at least one message is needed");
  for (;;) {
    const change = await storeMessages(engine, input);
    if (change === "ended_meanwhile") continue;
    if (!change) return;
    await announce(engine, change);
    return admitIfQueued(engine, input.organizationId);
  }
}

/**
 * Who admits sessions holds the admission lock and then locks sessions, so whoever restarts an ended session takes the
 * locks in that order too: with a limit it looks at the session first, and once more when the session ended between.
 */
async function storeMessages(
  engine: Engine,
  input: SessionKey & { messages: UserMessage[] },
): Promise<SessionChange | null | "ended_meanwhile"> {
  const seen = engine.maxActiveSessions > 0 ? await getStatus(engine, input) : null;
  const mayRestart = seen === null || isTerminal(seen.status);
  return inTransaction(engine.pool, async (tx) => {
    if (mayRestart) await holdSlots(tx, engine, input.organizationId);
    const session = await getLockedSession(tx, input);
    const isEnded = isTerminal(session.status);
    if (isEnded && !mayRestart) return "ended_meanwhile";
    await insertMessages(tx, session.id, input.messages);
    const update = isEnded
      ? toRestart(session.status, { isFull: await mustQueue(tx, engine, session) })
      : toLiveUpdate(session);
    return update && updateSession(tx, session, update);
  });
}

function toLiveUpdate(session: SessionRow): SessionUpdate | null {
  const resumed = toResumed(session, "message");
  return activeStatus(session) === "idle" ? takeUpWork(session, resumed?.events ?? []) : resumed;
}

/** An idle session has answered; what comes now is a task of its own. */
function takeUpWork(session: SessionRow, events: SessionUpdate["events"]): SessionUpdate {
  return {
    patch: { ...TASK_START, status: mustMove(session, "message_sent") },
    events: [...events, stateRunning()],
    due: "now",
    answerIsOld: true,
  };
}
