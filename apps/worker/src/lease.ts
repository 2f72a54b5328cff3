import { isLeaseHeld, renewLease } from "@tandem/engine/commands/keep-lease";
import type { Engine } from "@tandem/engine/engine";

/** A lease that is being kept. */
export interface KeptLease {
  /** Aborted when the claim is lost: the session was cancelled, or another worker took over. */
  signal: AbortSignal;
  stop(): void;
}

/**
 * Prolongs a claim's lease while its step runs. At every wake-up of the session it looks whether the claim still
 * holds, so that a cancelled model request is aborted at once.
 */
export function keepLease(
  engine: Engine,
  claim: { sessionId: string; fence: number; leaseMs: number },
): KeptLease {
  const lost = new AbortController();
  const check = async (isHeld: () => Promise<boolean>) => {
    try {
      if (!(await isHeld())) lost.abort(new LostClaimError(claim.sessionId));
    } catch (error) {
      // Not a lost claim: if the database stays away, whoever finds the lapsed lease takes the step.
      engine.log.warn({ err: error, session: claim.sessionId }, "a lease could not be looked at");
    }
  };
  const timer = setInterval(() => void check(() => renewLease(engine, claim)), claim.leaseMs / 3);
  const unsubscribe = engine.wake.subscribe(
    () => void check(() => isLeaseHeld(engine, claim)),
    claim.sessionId,
  );
  // A cancel between the claim and the subscription has woken nobody here.
  void check(() => isLeaseHeld(engine, claim));
  return {
    signal: lost.signal,
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
