import type { Engine } from "../engine.ts";
import { readSessionPage, type SessionFilter, type SessionSummaryRow } from "../postgres/read-sessions.ts";
import { refusePage } from "./refuse-page.ts";

export type { SessionFilter } from "../postgres/read-sessions.ts";

/**
 * One page of the organization's sessions, and how many there are in all.
 *
 * @throws {TandemError} `invalid_request` when the page is more than one reply holds
 */
export async function listSessions(
  engine: Engine,
  options: { filter: SessionFilter; oldestFirst: boolean; offset: number; limit: number },
): Promise<{ rows: SessionSummaryRow[]; total: number }> {
  const { rows, total } = await readSessionPage(engine.pool, options);
  return { rows: rows ?? refusePage(), total };
}
