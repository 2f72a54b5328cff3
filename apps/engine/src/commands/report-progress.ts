import { TandemError } from "../domain/errors.ts";
import { toolCallProgress } from "../domain/events.ts";
import type { SessionKey } from "../domain/ids.ts";
import type { JsonValue } from "../domain/json.ts";
import { toPending } from "../domain/plan-calls.ts";
import { refuseTools, type TokenScope } from "../domain/session-tokens.ts";
import { announce, type Engine } from "../engine.ts";
import { databaseNowMs } from "../postgres/session-row.ts";
import { pickOpen, readToolCalls, toToolRequest } from "../postgres/tool-calls.ts";
import { updateSession } from "../postgres/update-session.ts";
import { changeSession, refuseFinished } from "./change-session.ts";
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
    const row = calls.find(({ id }) => id === callId);
    if (!row) throw new TandemError("call_not_found", `Session ${session.id} has no tool call ${callId}.`);
    refuseTools(scope, [row.toolName]);
    if (row.state === "awaiting_approval")
      throw new TandemError("approval_required", `Call ${callId} waits for an approval; it runs after that.`);
    if (row.state !== "pending") {
      const settled = `Call ${callId} is settled (${row.state}); nobody waits for it.`;
      throw new TandemError("call_not_pending", settled, { extra: { state: row.state } });
    }
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
