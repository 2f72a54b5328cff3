import { announce, type Engine } from "../engine.ts";
import { returnLease } from "../postgres/leases.ts";

/** Gives a claimed step back unfinished, at shutdown, so that another worker takes it at once. */
export async function returnStep(engine: Engine, claim: { sessionId: string; fence: number }): Promise<void> {
  const returned = await returnLease(engine.pool, claim);
  if (!returned) return;
  const { sessionId } = claim;
  await announce(engine, { sessionId, ...returned, due: "now", timer: null, isEnded: false });
}
