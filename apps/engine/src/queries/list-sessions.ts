import type { Engine } from "../engine.ts";
import { readSessionPage, type SessionFilter, type SessionSummaryRow } from "../postgres/read-sessions.ts";

export type { SessionFilter } from "../postgres/read-sessions.ts";

/** One page of the organization's sessions, and how many there are in all. */
export async function listSessions(
  engine: Engine,
  options: { filter: SessionFilter; oldestFirst: boolean; offset: number; limit: number },
): Promise<{ rows: SessionSummaryRow[]; total: number }> {
  return readSessionPage(engine.pool, options);
}
