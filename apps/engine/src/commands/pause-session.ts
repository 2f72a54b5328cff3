// A pause lies over a session's state: nothing runs, results are still taken, and resuming goes on where it was.
import { flowEvent, runStatus } from "../domain/events.ts";
import type { SessionKey } from "../domain/ids.ts";
import { isTerminal, mustMove, type SessionHappening, type SessionStatus } from "../domain/session-state.ts";
import { announce, type Engine } from "../engine.ts";
import type { SessionPatch, SessionRow } from "../postgres/session-row.ts";
import { type SessionUpdate, updateSession } from "../postgres/update-session.ts";
import { changeSession, refuseFinished } from "./change-session.ts";

/**
 * Pauses a session: at once, or, while a worker runs its step, when that step is through. Pausing twice does nothing.
 *
 * @throws {TandemError} `session_not_found`, `session_finished`
 */
export async function pauseSession(engine: Engine, key: SessionKey): Promise<void> {
  const change = await changeSession(engine, key, async (tx, session) => {
    refuseFinished(session, "cannot be paused");
    if (session.status === "paused" || (session.pauseRequested && session.isLeased)) return null;
    // A pause that waited for a worker that is gone was told already.
    const flow = session.pauseRequested ? [] : [flowEvent("pause", "user")];
    if (session.isLeased) {
      return updateSession(tx, session, {
        patch: { pauseRequested: true },
        events: flow,
        due: "unchanged",
      });
    }
    return updateSession(tx, session, {
      patch: { status: mustMove(session, "pause"), pausedFrom: session.status, pauseRequested: false },
      events: [...flow, runStatus("paused")],
      due: "hold",
      releaseLease: true,
    });
  });
  if (change) await announce(engine, change);
}

/** A change at a step's boundary, turned into a pause when one was asked for. An end comes before a pause. */
export function pauseAtBoundary(session: SessionRow, update: SessionUpdate): SessionUpdate {
  const next = update.patch.status ?? session.status;
  if (!session.pauseRequested || isTerminal(next)) return update;
  return {
    ...update,
    patch: {
      ...update.patch,
      status: mustMove({ status: next, pausedFrom: null }, "pause"),
      pausedFrom: next,
      pauseRequested: false,
    },
    events: [...update.events, runStatus("paused")],
    due: typeof update.due === "object" && "inMs" in update.due ? { holdInMs: update.due.inMs } : "not",
  };
}

type StatusRow = Pick<SessionRow, "status" | "pausedFrom">;

/** The state that a session has or, while it is paused, goes back to. */
export function activeStatus(session: StatusRow): SessionStatus {
  return session.pausedFrom ?? session.status;
}

/**
 * What a happening makes of a session that may be paused: a pause that it leaves stays over the state that it moves.
 */
export function moveActive(session: StatusRow, happening: SessionHappening): SessionPatch {
  const status = mustMove(session, happening);
  if (status !== "paused") return { status };
  return { pausedFrom: mustMove({ status: activeStatus(session), pausedFrom: null }, happening) };
}
