import type { Engine } from "../engine.ts";
import { isLeaseHeld as isHeld, type RenewedLease, renewLease as renew } from "../postgres/leases.ts";

/** Prolongs a claim's lease; null when the claim is gone. */
export async function renewLease(
  engine: Engine,
  claim: { sessionId: string; fence: number; leaseMs: number },
): Promise<RenewedLease | null> {
  return renew(engine.pool, claim);
}

/** Whether a claim still holds. Writes nothing. */
export async function isLeaseHeld(
  engine: Engine,
  claim: { sessionId: string; fence: number },
): Promise<boolean> {
  return isHeld(engine.pool, claim);
}
