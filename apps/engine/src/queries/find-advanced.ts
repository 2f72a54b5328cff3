import type { Engine } from "../engine.ts";
import { findAdvanced as findAdvancedSessions } from "../postgres/read-changes.ts";
import { noteSwept } from "../telemetry/note-swept.ts";

/** Most waiters that one statement looks at: a few milliseconds of the database's time. */
const MAX_LOOKED_AT = 1_000;

/** Which of the waited-for sessions have events past their waiter's cursor, or are gone. */
export async function findAdvanced(
  engine: Engine,
  waiting: readonly { sessionId: string; cursor: number }[],
): Promise<string[]> {
  const advanced = new Set<string>();
  for (let start = 0; start < waiting.length; start += MAX_LOOKED_AT) {
    const some = waiting.slice(start, start + MAX_LOOKED_AT);
    for (const id of await findAdvancedSessions(engine.pool, some)) advanced.add(id);
  }
  noteSwept(engine.telemetry, "wake_ups", advanced.size);
  return [...advanced];
}
