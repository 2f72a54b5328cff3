import type pg from "pg";
import { invalidRequest } from "../domain/errors.ts";
import { stateRunning } from "../domain/events.ts";
import type { UserMessage } from "../domain/messages.ts";
import { isTerminal, mustMove } from "../domain/session-state.ts";
import { announce, type Engine } from "../engine.ts";
import type { SessionRow } from "../postgres/session-row.ts";
import { type SessionUpdate, updateSession } from "../postgres/update-session.ts";
import { insertMessages } from "../postgres/waiting-messages.ts";
import type { SessionKey } from "../queries/sessions.ts";
import { admitIfQueued, mustQueue } from "./admit-sessions.ts";
import { changeSession } from "./change-session.ts";
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
  const change = await changeSession(engine, input, async (tx, session) => {
    await insertMessages(tx, session.id, input.messages);
    const update = await toUpdate(tx, engine, session);
    return update && updateSession(tx, session, update);
  });
  if (!change) return;
  await announce(engine, change);
  await admitIfQueued(engine, input.organizationId);
}

async function toUpdate(
  tx: pg.ClientBase,
  engine: Engine,
  session: SessionRow,
): Promise<SessionUpdate | null> {
  if (isTerminal(session.status)) {
    return toRestart(session.status, { isFull: await mustQueue(tx, engine, session) });
  }
  const resumed = toResumed(session, "message");
  return activeStatus(session) === "idle" ? takeUpWork(resumed?.events ?? []) : resumed;
}

/** An idle session has answered; what comes now is a task of its own. */
function takeUpWork(events: SessionUpdate["events"]): SessionUpdate {
  return {
    patch: { ...TASK_START, status: mustMove("idle", "message_sent") },
    events: [...events, stateRunning()],
    due: "now",
    answerIsOld: true,
  };
}
