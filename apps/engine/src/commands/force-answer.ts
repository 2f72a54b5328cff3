import { flowEvent, stateRunning } from "../domain/events.ts";
import type { SessionKey } from "../domain/ids.ts";
import { isAwaiting } from "../domain/session-state.ts";
import { announce, type Engine } from "../engine.ts";
import { updateSession } from "../postgres/update-session.ts";
import { changeSession, refuseFinished } from "./change-session.ts";
import { activeStatus, moveActive } from "./pause-session.ts";
import { withdrawCalls } from "./withdraw-calls.ts";

/**
 * Asks for an answer now: pending calls are withdrawn, and the next step has no tools and must answer. A step that
 * runs may still answer by itself; the calls that it asks for are not made. A paused session stays paused, and answers
 * when it is resumed. A session that has answered, or whose last step is due already, stays as it is.
 *
 * @throws {TandemError} `session_not_found`, `session_finished`
 */
export async function forceAnswer(engine: Engine, key: SessionKey): Promise<void> {
  const change = await changeSession(engine, key, async (tx, session) => {
    refuseFinished(session, "cannot be asked for an answer");
    const active = activeStatus(session);
    if (active === "idle" || session.lastStep !== null) return null;
    const { events: withdrawals, changedCalls } = await withdrawCalls(tx, session.id, "force_answer");
    const wasAwaiting = isAwaiting(active);
    return updateSession(tx, session, {
      patch: { lastStep: "force_answer", ...moveActive(session, "answer_forced") },
      events: [flowEvent("force_answer", "user"), ...withdrawals, ...(wasAwaiting ? [stateRunning()] : [])],
      changedCalls,
      due: wasAwaiting && session.status !== "paused" ? "now" : "unchanged",
    });
  });
  if (change) await announce(engine, change);
}
