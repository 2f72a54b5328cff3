import { isLeaseHeld, renewLease } from "@tandem/engine/commands/keep-lease";
import type { Engine } from "@tandem/engine/engine";

/** A session whose step is about to be claimed, or is. */
export interface KeptLease {
  /** Aborted when the claim is lost: the session was cancelled, or another worker took over. */
  signal: AbortSignal;
  /** Prolongs the claim's lease from now on. */
  keep(claim: { fence: number; leaseMs: number }): void;
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
  let isWoken = false;

  const check = async (isHeld: () => Promise<boolean>) => {
    try {
      if (!(await isHeld())) lost.abort(new LostClaimError(sessionId));
    } catch (error) {
      // Not a lost claim: if the database stays away, whoever finds the lapsed lease takes the step.
      engine.log.warn({ err: error, session: sessionId }, "a lease could not be looked at");
    }
  };
  const look = () => {
    isWoken = true;
    const held = claim;
    if (held) void check(() => isLeaseHeld(engine, held));
  };
  const stops = [engine.wake.subscribe(look, sessionId), engine.wake.onReopen(look)];
  const unsubscribe = () => {
    for (const stop of stops) stop();
  };
  return {
    signal: lost.signal,
    keep({ fence, leaseMs }) {
      const kept = { sessionId, fence, leaseMs };
      claim = kept;
      timer = setInterval(() => void check(() => renewLease(engine, kept)), leaseMs / 3);
      if (isWoken) look();
    },
    listenNoMore: unsubscribe,
    stop() {
      clearInterval(timer);
      unsubscribe();
    },
  };
}

/** The step belongs to somebody else now, or to nobody. Nothing of it may be written. */
class LostClaimError extends Error {
  constructor(sessionId: string) {
    super(`The claim on session ${sessionId} was lost.`);
    this.name = "LostClaimError";
  }
}
