import type { Engine } from "../engine.ts";
import {
  readSessionPage,
  type SessionPageOptions,
  type SessionSummaryRow,
} from "../postgres/read-session-page.ts";
import { refusePage } from "./refuse-page.ts";

export type { SessionSummaryRow } from "../postgres/read-session-page.ts";
export type { SessionFilter } from "../postgres/session-filter.ts";

/**
 * One page of the organization's sessions, and how many there are in all: exact for an owner's whole list, and up to a
 * bound when a filter narrows it.
 *
 * @throws {TandemError} `invalid_request` when the page is more than one reply holds
 */
export async function listSessions(
  engine: Engine,
  options: SessionPageOptions,
): Promise<{ rows: SessionSummaryRow[]; total: number }> {
  const { rows, total } = await readSessionPage(engine.pool, options);
  return { rows: rows ?? refusePage(), total };
}
