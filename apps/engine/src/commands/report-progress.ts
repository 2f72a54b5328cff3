import { toolCallProgress } from "../domain/events.ts";
import type { SessionKey } from "../domain/ids.ts";
import type { JsonValue } from "../domain/json.ts";
import { toPending } from "../domain/plan-calls.ts";
import type { TokenScope } from "../domain/session-tokens.ts";
import { announce, type Engine } from "../engine.ts";
import { databaseNowMs } from "../postgres/session-row.ts";
import { pickOpen, readToolCalls, toToolRequest } from "../postgres/tool-calls.ts";
import { updateSession } from "../postgres/update-session.ts";
import { changeSession, refuseFinished } from "./change-session.ts";
import { refuseUnpending } from "./refuse-unpending.ts";
import { toDeadlinePatch } from "./settle-calls.ts";

/**
 * Tells how far a pending call is: an event for whoever watches, and the call's time begins anew.
 *
 * @returns the call's new deadline, RFC 3339; null when it may wait for ever
 * @throws {TandemError} `session_not_found`, `session_finished`, `call_not_found`, `token_scope`, `approval_required`, or
 *   `call_not_pending` with the call's state
 */
export async function reportProgress(
  engine: Engine,
  input: SessionKey & { callId: string; progress: JsonValue; scope?: TokenScope | undefined },
): Promise<string | null> {
  const { callId, progress, scope } = input;
  const { deadline, change } = await changeSession(engine, input, async (tx, session) => {
    refuseFinished(session, "takes no more progress");
    const ids = callId.includes("\u0000") ? [] : [callId];
    const calls = await readToolCalls(tx, session.id, { ids, toolNames: [] });
    const found = calls.find(({ id }) => id === callId);
    const row = refuseUnpending(found, { sessionId: session.id, callId, scope });
    const nowMs = databaseNowMs(session);
    const open = pickOpen(calls).map((call) => (call.request.id === callId ? toPending(call, nowMs) : call));
    const deadlineAt = open.find(({ request }) => request.id === callId)?.deadlineAt ?? null;
    const deadline = deadlineAt?.toISOString() ?? null;
    const change = await updateSession(tx, session, {
      patch: toDeadlinePatch(session, open),
      events: [toolCallProgress(toToolRequest(row), progress, deadline)],
      changedCalls: [{ id: callId, state: "pending", deadlineAt }],
      due: "unchanged",
    });
    return { deadline, change };
  });
  await announce(engine, change);
  return deadline;
}
