import type { Engine } from "../engine.ts";
import { countActive, countQueued } from "../postgres/admission.ts";

/** The largest limit that the wire can say: it stands for no limit. */
const NO_LIMIT = 2_147_483_647;

/** How many sessions an organization may have active at once, has, and could still start. */
export interface Quota {
  limit: number;
  active: number;
  available: number;
  queued: number;
}

/** Reads an organization's quota of active sessions. */
export async function readQuota(engine: Engine, organizationId: string): Promise<Quota> {
  const active = await countActive(engine.pool, organizationId);
  const queued = await countQueued(engine.pool, organizationId);
  const limit = engine.maxActiveSessions || NO_LIMIT;
  return { limit, active, queued, available: Math.max(0, limit - active) };
}
