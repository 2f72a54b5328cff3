import { agentCompletion, messageEvent } from "../domain/events.ts";
import type { SessionKey } from "../domain/ids.ts";
import { nextStatus } from "../domain/session-state.ts";
import type { Engine } from "../engine.ts";
import { updateSession } from "../postgres/update-session.ts";
import { readMessages } from "../postgres/waiting-messages.ts";
import { announceAndAdmit } from "./admit-sessions.ts";
import { changeSession } from "./change-session.ts";
import { withdrawCalls } from "./withdraw-calls.ts";

/**
 * Cancels a session and settles its pending calls in the same transaction, so that a message is accepted right
 * after. A running model request is aborted by its worker, which is woken. Cancelling twice does nothing.
 *
 * @throws {TandemError} `session_not_found`
 */
export async function cancelSession(engine: Engine, key: SessionKey): Promise<void> {
  const change = await changeSession(engine, key, async (tx, session) => {
    const status = nextStatus(session, "cancelled");
    if (status === "refused") return null;
    const { events: withdrawals, changedCalls } = await withdrawCalls(tx, session.id, "cancelled");
    // What was said and not yet taken up stays in the history, in sight of whoever starts the session again.
    const unheard = await readMessages(tx, session.id);
    const said = unheard.map(({ message }) => messageEvent(message));
    return updateSession(tx, session, {
      patch: { status, reason: "cancelled" },
      events: [...withdrawals, ...said, agentCompletion("stopped")],
      changedCalls,
      takenMessages: unheard.map(({ id }) => id),
      due: "not",
      releaseLease: true,
      finished: "now",
    });
  });
  if (change) await announceAndAdmit(engine, change);
}
