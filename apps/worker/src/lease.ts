import type { Engine } from "@tandem/engine/engine";
import { renewLease } from "@tandem/engine/postgres/leases";
import { isDatabaseUnavailable } from "@tandem/engine/postgres/pool";

/** A lease that is being kept. */
export interface KeptLease {
  /** Aborted when the claim is lost: the session was cancelled, or another worker took over. */
  signal: AbortSignal;
  stop(): void;
}

/**
 * Prolongs a claim's lease while its step runs. Besides its own rhythm it looks at every wake-up of the session, so
 * that a cancelled model request is aborted at once.
 */
export function keepLease(
  engine: Engine,
  claim: { sessionId: string; fence: number; leaseMs: number },
): KeptLease {
  const lost = new AbortController();
  const renew = async () => {
    try {
      if (!(await renewLease(engine.pool, claim))) lost.abort(new LostClaimError(claim.sessionId));
    } catch (error) {
      // Not a lost claim: if the database stays away, whoever finds the lapsed lease takes the step.
      const level = isDatabaseUnavailable(error) ? "warn" : "error";
      engine.log[level]({ err: error, session: claim.sessionId }, "a lease was not prolonged");
    }
  };
  const timer = setInterval(renew, claim.leaseMs / 3);
  const unsubscribe = engine.wake.subscribe((sessionId) => {
    if (sessionId === claim.sessionId) void renew();
  });
  return {
    signal: lost.signal,
    stop() {
      clearInterval(timer);
      unsubscribe();
    },
  };
}

/** The step belongs to somebody else now, or to nobody. Nothing of it may be written. */
export class LostClaimError extends Error {
  constructor(sessionId: string) {
    super(`The claim on session ${sessionId} was lost.`);
    this.name = "LostClaimError";
  }
}
