import type { Engine } from "../engine.ts";
import { readNews, toKnownStep } from "../handover/step-news.ts";
import { readHeldStep } from "../postgres/claim-session.ts";
import type { Assignment } from "../queue/assignment.ts";
import { type ClaimedStep, readHistory, readOrReturn } from "./claim-step.ts";

/**
 * Takes a step up that was claimed for this worker when it became due.
 *
 * @returns null when that claim is over. That is no error.
 */
export async function takeStep(engine: Engine, assignment: Assignment): Promise<ClaimedStep | null> {
  const { pool } = engine;
  const { sessionId, fence, news } = assignment;
  const claim = { sessionId, fence };
  const recalled = toKnownStep(engine.knownSessions.take(sessionId), readNews(news));
  if (recalled) return { ...recalled, isRecalled: true };
  const held = await readOrReturn(pool, claim, () => readHeldStep(pool, claim));
  if (!held) return null;
  const session = { ...held.session, receivedMs: performance.now() };
  return { session, events: held.history ?? (await readHistory(engine, session)) };
}
