// Who decides on the calls of planned sessions, and tells how far they are: as often as it likes, beside others who do the
// same.

import { fateOf, toDecisions } from "./call-fates.ts";
import type { CallerOptions } from "./caller.ts";
import type { PendingCall } from "./wire.ts";

/** Decides on one call as its fate is, sometimes twice; several decisions at the same moment. */
export async function decideAll(sessionId: string, call: PendingCall, options: CallerOptions): Promise<void> {
  const decisions = toDecisions(String(call.args.key));
  const bodies = decisions.map((decision) => ({ call_id: call.id, ...decision }));
  const twice = options.postsTwice?.() ? bodies : [];
  await Promise.all([...bodies, ...twice].map((body) => decide(sessionId, call, { ...options, body })));
}

async function decide(
  sessionId: string,
  call: PendingCall,
  { wire, onReceipt, body: decision }: CallerOptions & { body: object },
): Promise<void> {
  const path = `/sessions/${sessionId}/approvals`;
  const { status, body } = await wire.send("POST", path, { body: decision });
  const isLost = body.code === "approval_conflict" && fateOf(String(call.args.key)) === "contested";
  if (status === 409 && (isLost || body.code === "session_finished"))
    return onReceipt?.(`approval ${body.code}`);
  if (status !== 202) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
  for (const receipt of body.receipts) onReceipt?.(`approval ${receipt.status}`);
}

/** Tells that a call is under way; another caller may have settled it. */
export async function report(sessionId: string, call: PendingCall, { wire }: CallerOptions): Promise<void> {
  const path = `/sessions/${sessionId}/tool_calls/${call.id}/progress`;
  const { status, body } = await wire.send("POST", path, { body: { progress: "under way" } });
  const isSettled = body.code === "call_not_pending" || body.code === "session_finished";
  if (status !== 202 && !isSettled) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
}
