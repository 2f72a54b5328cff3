import type { CallState } from "../domain/call-states.ts";
import { TandemError } from "../domain/errors.ts";
import { refuseTools, type TokenScope } from "../domain/session-tokens.ts";

/** A call as those need it who want to run it. */
export interface NamedCall {
  toolName: string;
  state: CallState;
}

/**
 * Refuses what has its place at a pending call alone.
 *
 * @param found the call; null or undefined when the session has none of this id
 * @throws {TandemError} `call_not_found`, `token_scope`, `approval_required`, or `call_not_pending` with the call's state
 */
export function refuseUnpending<Call extends NamedCall>(
  found: Call | null | undefined,
  { sessionId, callId, scope }: { sessionId: string; callId: string; scope?: TokenScope | undefined },
): Call {
  if (!found) throw new TandemError("call_not_found", `Session ${sessionId} has no tool call ${callId}.`);
  refuseTools(scope, [found.toolName]);
  if (found.state === "awaiting_approval")
    throw new TandemError("approval_required", `Call ${callId} waits for an approval; it runs after that.`);
  if (found.state === "pending") return found;
  const settled = `Call ${callId} is settled (${found.state}); nobody needs to run it.`;
  throw new TandemError("call_not_pending", settled, { extra: { state: found.state } });
}
