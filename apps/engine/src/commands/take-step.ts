import type { Engine } from "../engine.ts";
import { readNews, toKnownStep } from "../handover/step-news.ts";
import { readHeldStep } from "../postgres/claim-session.ts";
import type { Assignment } from "../queue/assignment.ts";
import { type ClaimedStep, readHistory, readOrReturn } from "./claim-step.ts";

/**
 * Takes a step up that was claimed for this worker when it became due: from memory, where it was told of it a moment ago and
 * remembers the rest, else as it reads it. A claim that has ended within that moment shows when its lease is prolonged.
 *
 * @returns null when that claim is over. That is no error.
 */
export async function takeStep(engine: Engine, assignment: Assignment): Promise<ClaimedStep | null> {
  const { pool } = engine;
  const { sessionId, fence, news } = assignment;
  const claim = { sessionId, fence };
  const recalled = toKnownStep(engine.knownSessions.take(sessionId), readNews(news));
  if (recalled) return recalled;
  const held = await readOrReturn(pool, claim, () => readHeldStep(pool, claim));
  if (!held) return null;
  const session = { ...held.session, receivedMs: performance.now() };
  return { session, events: held.history ?? (await readHistory(engine, session)) };
}
