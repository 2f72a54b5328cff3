import type { Engine } from "../engine.ts";
import { countStepsBefore as count } from "../postgres/count-steps.ts";

/** How many of a session's steps have said what they have to say before an index of its history. */
export function countStepsBefore(engine: Engine, sessionId: string, index: number): Promise<number> {
  return count(engine.pool, sessionId, index);
}
