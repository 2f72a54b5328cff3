import { isLeaseHeld, renewLease } from "@tandem/engine/commands/keep-lease";
import type { Engine } from "@tandem/engine/engine";
import type { RenewedLease } from "@tandem/engine/postgres/leases";
import { TAKE_UP_MS } from "@tandem/engine/queue/assignment";

/** A session whose step is about to be claimed, or is. */
export interface KeptLease {
  /** Aborted when the claim is lost: the session was cancelled, or another worker took over. */
  signal: AbortSignal;
  /** The row's version, as far as it has changed by prolonging the lease alone. */
  readonly version: string;
  /** Prolongs a claim's lease that somebody else has made for this worker, and soon: who did waits for a sign of it. */
  takeUp(claim: { fence: number; leaseMs: number }): void;
  /** Prolongs the claim's lease from now on, unless that has begun. */
  keep(session: { fence: number; version: string }, leaseMs: number): void;
  /** The model has answered: its request cannot be aborted any more. The lease is prolonged until the step is written. */
  listenNoMore(): void;
  stop(): void;
}

/**
 * Listens to a session, from before its step is claimed so that nothing is missed. Once there is a claim, its lease is
 * prolonged, and every wake-up is a reason to look whether it still holds: a cancelled model request is aborted at once.
 */
export function watchLease(engine: Engine, sessionId: string): KeptLease {
  const lost = new AbortController();
  let claim: { sessionId: string; fence: number; leaseMs: number } | null = null;
  let timer: NodeJS.Timeout | undefined;
  let version = "";
  let renewed: RenewedLease | null = null;
  let isWoken = false;

  /** False when it could not be seen. */
  const check = async (isHeld: () => Promise<boolean>): Promise<boolean> => {
    try {
      if (!(await isHeld())) lost.abort(new LostClaimError(sessionId));
      return true;
    } catch (error) {
      // Not a lost claim: if the database stays away, whoever finds the lapsed lease takes the step.
      engine.log.warn({ err: error, session: sessionId }, "a lease could not be looked at");
      return false;
    }
  };
  const look = () => {
    isWoken = true;
    const held = claim;
    if (held) void check(() => isLeaseHeld(engine, held));
  };
  const renew = async () => {
    if (!claim) return true;
    renewed = await renewLease(engine, claim);
    // Whatever else has changed the row meanwhile is still to be seen.
    if (renewed?.before === version) version = renewed.after;
    return renewed !== null;
  };
  const start = (fence: number, leaseMs: number, firstMs: number) => {
    claim = { sessionId, fence, leaseMs };
    const renewAfter = (ms: number) => {
      timer = setTimeout(async () => {
        const isSeen = await check(renew);
        if (claim && !lost.signal.aborted) renewAfter(isSeen ? leaseMs / 3 : Math.min(RETRY_MS, leaseMs / 3));
      }, ms);
    };
    renewAfter(firstMs);
  };
  const stops = [engine.wake.subscribe(look, sessionId), engine.wake.onReopen(look)];
  const unsubscribe = () => {
    for (const stop of stops) stop();
  };
  return {
    signal: lost.signal,
    get version() {
      return version;
    },
    takeUp({ fence, leaseMs }) {
      start(fence, leaseMs, Math.min(TAKE_UP_MS, leaseMs / 3));
    },
    keep(session, leaseMs) {
      // It may have been prolonged since the session was read.
      version = renewed?.before === session.version ? renewed.after : session.version;
      if (!claim) start(session.fence, leaseMs, leaseMs / 3);
      if (isWoken) look();
    },
    listenNoMore: unsubscribe,
    stop() {
      claim = null;
      clearTimeout(timer);
      unsubscribe();
    },
  };
}

/** How soon a lease that could not be prolonged is tried again, in milliseconds. */
const RETRY_MS = 500;

/** The step belongs to somebody else now, or to nobody. Nothing of it may be written. */
class LostClaimError extends Error {
  constructor(sessionId: string) {
    super(`The claim on session ${sessionId} was lost.`);
    this.name = "LostClaimError";
  }
}
