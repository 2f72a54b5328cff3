import { invalidRequest } from "../domain/errors.ts";
import { stateRunning } from "../domain/events.ts";
import type { SessionKey } from "../domain/ids.ts";
import type { UserMessage } from "../domain/messages.ts";
import { isTerminal, mustMove } from "../domain/session-state.ts";
import { announce, type Engine } from "../engine.ts";
import { isContentRemoved } from "../postgres/remove-content.ts";
import type { SessionRow } from "../postgres/session-row.ts";
import { type SessionChange, type SessionUpdate, updateSession } from "../postgres/update-session.ts";
import { insertMessages } from "../postgres/waiting-messages.ts";
import { admitIfQueued, holdSlots, mustQueue } from "./admit-sessions.ts";
import { changeSession, refuseRemoved } from "./change-session.ts";
import { activeStatus } from "./pause-session.ts";
import { TASK_START, toRestart } from "./restart.ts";
import { toResumed } from "./resume-session.ts";

/**
 * Stores messages for the session's next step boundary. An idle session takes up work before this returns, a paused
 * one is resumed, and one that has ended starts again with its whole history, when it has a slot; its earlier answer
 * stays the latest one until there is a new one.
 *
 * @throws {TandemError} `session_not_found`, `session_limit` when an ended session finds no slot and does not queue, or
 *   `content_removed` when it was ephemeral and its history is gone
 */
export async function sendMessages(
  engine: Engine,
  input: SessionKey & { messages: UserMessage[] },
): Promise<void> {
  if (input.messages.length === 0)
    throw invalidRequest(["body", "messages"], "at least one message is needed");
  let change = await storeMessages(engine, input, { mayRestart: engine.maxActiveSessions === 0 });
  if (change === "ended") change = await storeMessages(engine, input, { mayRestart: true });
  if (change === null || change === "ended") return;
  await announce(engine, change);
  await admitIfQueued(engine, input.organizationId);
}

/**
 * Stores the messages with what follows from them. Where slots are limited, whoever gives them on holds the admission
 * lock and waits for rows; so a restart, which asks for a slot, takes that lock before the row's, or the two would wait
 * for each other.
 *
 * @returns `ended` when the session has ended and must not restart; nothing was written
 */
async function storeMessages(
  engine: Engine,
  input: SessionKey & { messages: UserMessage[] },
  { mayRestart }: { mayRestart: boolean },
): Promise<SessionChange | null | "ended"> {
  return changeSession(
    engine,
    input,
    async (tx, session) => {
      if (isTerminal(session.status) && !mayRestart) return "ended";
      if (isTerminal(session.status) && (await isContentRemoved(tx, session.id))) refuseRemoved(input);
      await insertMessages(tx, session.id, input.messages);
      const update = isTerminal(session.status)
        ? toRestart(session.status, { isFull: await mustQueue(tx, engine, session) })
        : toLiveUpdate(session);
      if (update) return updateSession(tx, session, update);
      // Whoever decides on what it has read must see that the session is not what it was.
      await updateSession(tx, session, { patch: {}, events: [], due: "unchanged" });
      return null;
    },
    mayRestart ? (tx) => holdSlots(tx, engine, input.organizationId) : undefined,
  );
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
