import type { Engine } from "../engine.ts";
import { findAdvanced as findAdvancedSessions } from "../postgres/read-events.ts";

/**
 * Which of the waited-for sessions have events past their waiter's cursor, or are gone. One statement, however many
 * wait.
 */
export async function findAdvanced(
  engine: Engine,
  waiting: readonly { sessionId: string; cursor: number }[],
): Promise<string[]> {
  return findAdvancedSessions(engine.pool, waiting);
}
