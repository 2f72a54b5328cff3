import { TandemError } from "../domain/errors.ts";
import type { SessionKey } from "../domain/ids.ts";
import { isTerminal } from "../domain/session-state.ts";
import type { TokenScope } from "../domain/session-tokens.ts";
import type { Engine } from "../engine.ts";
import { type ClaimOutcome, type FoundCall, writeClaim } from "../postgres/call-claims.ts";
import { tellOfCalls } from "../wake/call-notes.ts";
import { refuseMissing } from "./change-session.ts";
import { refuseUnpending } from "./refuse-unpending.ts";

/** Who wants to run a call, and for how long. */
export interface ClaimRequest extends SessionKey {
  callId: string;
  claimant: string;
  /** Seconds from now; 0 gives the call back. */
  leaseS: number;
  /** Of a session token: it claims calls of its tools alone. */
  scope?: TokenScope | undefined;
}

/** A claim that was taken, prolonged, or given back. */
export interface TakenClaim {
  claimedUntil: Date | null;
  /** Who claimed the call last before this, and has not given it back: the call may have run. */
  previousClaimant: string | null;
}

/**
 * Claims a pending call, so that no other claimant runs it too. The same claimant again prolongs its claim; one that has
 * lapsed is anybody's. Nothing else changes: results are taken from whoever posts them.
 *
 * @returns when the claim lapses, null once it is given back, and who held the call before
 * @throws {TandemError} `session_not_found`, `session_finished`, `call_not_found`, `token_scope`, `approval_required`,
 *   `call_not_pending` with the call's state, or `call_claimed` with its claimant; then nothing has changed
 */
export async function claimCall(engine: Engine, request: ClaimRequest): Promise<TakenClaim> {
  const { scope, ...claim } = request;
  for (;;) {
    const outcome = await writeClaim(engine.pool, { ...claim, tools: scope?.tools ?? null });
    if (!outcome) return refuseMissing(request);
    if (outcome.isWritten) {
      tellOfEarlierLapse(engine, request, outcome);
      return { claimedUntil: outcome.claimedUntil, previousClaimant: outcome.call?.claimant ?? null };
    }
    refuseUnclaimable(request, outcome);
    // Free as it was read, and taken since: the next look sees by whom, or that it is free again.
  }
}

/** Who waits for the call knows when its claim lapses, and must hear of it when that is sooner. */
function tellOfEarlierLapse(
  { wake }: Engine,
  { organizationId }: ClaimRequest,
  { agentName, claimedUntil, call }: ClaimOutcome,
): void {
  if (!call?.heldUntil || (claimedUntil !== null && claimedUntil >= call.heldUntil)) return;
  tellOfCalls(wake, { organizationId, agentName, toolNames: [call.toolName] });
}

function refuseUnclaimable(
  { sessionId, callId, claimant, scope }: ClaimRequest,
  outcome: ClaimOutcome,
): void {
  const { sessionStatus: status, call } = outcome;
  if (isTerminal(status)) {
    const ended = `Session ${sessionId} has ended (${status}); its calls can be claimed no more.`;
    throw new TandemError("session_finished", ended);
  }
  const pending = refuseUnpending(call, { sessionId, callId, scope });
  if (pending.claimant !== claimant) refuseHeld(callId, pending);
}

function refuseHeld(callId: string, { claimant, heldUntil, leftMs }: FoundCall): void {
  if (heldUntil === null || leftMs === null || leftMs <= 0) return;
  const until = heldUntil.toISOString();
  throw new TandemError("call_claimed", `Call ${callId} is claimed by ${claimant} until ${until}.`, {
    extra: { claimant, claimed_until: until },
    retryAfterMs: leftMs,
  });
}
