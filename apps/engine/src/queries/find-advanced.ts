import type { Engine } from "../engine.ts";
import { findAdvanced as findAdvancedSessions } from "../postgres/read-events.ts";
import { noteSwept } from "../telemetry/note-swept.ts";

/**
 * Which of the waited-for sessions have events past their waiter's cursor, or are gone. One statement, however many
 * wait.
 */
export async function findAdvanced(
  engine: Engine,
  waiting: readonly { sessionId: string; cursor: number }[],
): Promise<string[]> {
  const advanced = await findAdvancedSessions(engine.pool, waiting);
  noteSwept(engine.telemetry, "wake_ups", advanced.length);
  return advanced;
}
