import { TandemError } from "../domain/errors.ts";
import { agentCompletion, errorEvent, type NewEvent, toolCallCancelled } from "../domain/events.ts";
import { nextStatus } from "../domain/session-state.ts";
import type { ToolRequest } from "../domain/tools.ts";
import { announce, type Engine } from "../engine.ts";
import { lockSession } from "../postgres/lock-session.ts";
import { readPendingCalls, settleToolCalls, toToolRequest } from "../postgres/tool-calls.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { updateSession } from "../postgres/update-session.ts";

/** What the model reads, after a restart, in place of a result that never came. */
const WITHDRAWN = "The session was cancelled before a result came. Whether the tool ran is unknown.";

/**
 * Cancels a session and settles its pending calls in the same transaction, so that a message is accepted right
 * after. A running model request is aborted by its worker, which is woken. Cancelling twice does nothing.
 *
 * @throws {TandemError} `session_not_found`
 */
export async function cancelSession(
  engine: Engine,
  input: { organizationId: string; sessionId: string },
): Promise<void> {
  const isCancelled = await inTransaction(engine.pool, async (tx) => {
    const session = await lockSession(tx, input.organizationId, input.sessionId);
    if (!session) throw new TandemError("session_not_found", `There is no session ${input.sessionId}.`);
    const status = nextStatus(session.status, "cancelled");
    if (status === "refused") return false;
    const pending = (await readPendingCalls(tx, session.id)).filter((call) => call.state === "pending");
    if (pending.length > 0) {
      const withdrawn = pending.map((call) => ({ id: call.id, contentHash: null }));
      await settleToolCalls(tx, session.id, "withdrawn", withdrawn);
    }
    await updateSession(tx, session, {
      patch: { status, reason: "cancelled" },
      events: [...pending.flatMap((call) => withdraw(toToolRequest(call))), agentCompletion("stopped")],
      due: "not",
      releaseLease: true,
      finished: "now",
    });
    return true;
  });
  if (isCancelled) await announce(engine, input.sessionId);
}

function withdraw(call: ToolRequest): NewEvent[] {
  return [toolCallCancelled(call, "cancelled"), errorEvent(WITHDRAWN, "server", call)];
}
