import { TandemError } from "../domain/errors.ts";
import type { Engine } from "../engine.ts";
import { type CallPageOptions, type CallRow, readCallPage } from "../postgres/read-call-page.ts";
import { refusePage } from "./refuse-page.ts";

/**
 * One page of a session's tool calls in the order in which the model asked, and how many there are in all.
 *
 * @throws {TandemError} `session_not_found`, or `invalid_request` when the page is more than one reply holds
 */
export async function listCalls(
  engine: Engine,
  options: CallPageOptions,
): Promise<{ rows: CallRow[]; total: number }> {
  const page = await readCallPage(engine.pool, options);
  if (!page) throw new TandemError("session_not_found", `There is no session ${options.sessionId}.`);
  return { rows: page.rows ?? refusePage(), total: page.total };
}
