import type { SessionKey } from "../domain/ids.ts";
import type { Engine } from "../engine.ts";
import { type FeedbackRow, readFeedback } from "../postgres/feedback.ts";
import { getStatus } from "./sessions.ts";

/**
 * All feedback on a session and its events.
 *
 * @throws {TandemError} `session_not_found`
 */
export async function listFeedback(engine: Engine, key: SessionKey): Promise<FeedbackRow[]> {
  await getStatus(engine, key);
  return readFeedback(engine.pool, key.sessionId);
}
