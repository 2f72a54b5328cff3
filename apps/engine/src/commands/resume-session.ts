import { flowEvent, runStatus } from "../domain/events.ts";
import type { SessionKey } from "../domain/ids.ts";
import { mustMove, type SessionStatus } from "../domain/session-state.ts";
import { announce, type Engine } from "../engine.ts";
import type { SessionRow } from "../postgres/session-row.ts";
import { type SessionUpdate, updateSession } from "../postgres/update-session.ts";
import { admitIfQueued } from "./admit-sessions.ts";
import { changeSession, refuseFinished } from "./change-session.ts";

/**
 * Resumes a paused session, or takes back a pause that waits for the step's end. A session that is not paused stays as
 * it is.
 *
 * @throws {TandemError} `session_not_found`, `session_finished`
 */
export async function resumeSession(engine: Engine, key: SessionKey): Promise<void> {
  const change = await changeSession(engine, key, async (tx, session) => {
    refuseFinished(session, "cannot be resumed");
    const update = toResumed(session, "user");
    return update && updateSession(tx, session, update);
  });
  if (!change) return;
  await announce(engine, change);
  await admitIfQueued(engine, key.organizationId);
}

/** The states in which a step is due. */
const DUE: ReadonlySet<SessionStatus> = new Set(["pending", "running"]);

/** The change that resumes a session; null when there is no pause. */
export function toResumed(session: SessionRow, origin: "user" | "message"): SessionUpdate | null {
  const flow = flowEvent("resume", origin);
  if (session.pauseRequested) return { patch: { pauseRequested: false }, events: [flow], due: "unchanged" };
  if (session.pausedFrom === null) return null;
  const status = mustMove(session, "resume");
  return {
    patch: { status },
    events: [flow, runStatus("running")],
    due: DUE.has(status) ? "resume" : "not",
  };
}
