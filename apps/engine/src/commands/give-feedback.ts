import { TandemError } from "../domain/errors.ts";
import type { Engine } from "../engine.ts";
import { type GivenFeedback, upsertFeedback } from "../postgres/feedback.ts";
import { refuseMissing, refuseRemoved } from "./change-session.ts";

/** The highest index that the database can hold; no session has an event of it. */
const MAX_INDEX = 2_147_483_647;

/**
 * Stores what a user thinks of a session or of one of its events, in place of what the same user said before. The
 * session itself does not change: no event, no wake-up, in any state.
 *
 * @throws {TandemError} `session_not_found`, `content_removed`, or `event_not_found` for an index at or past the end
 */
export async function giveFeedback(engine: Engine, given: GivenFeedback): Promise<void> {
  const { eventIndex } = given;
  const missing = await upsertFeedback(engine.pool, {
    ...given,
    eventIndex: eventIndex === null ? null : Math.min(eventIndex, MAX_INDEX),
  });
  if (missing === "session") refuseMissing(given);
  if (missing === "content") refuseRemoved(given);
  if (missing === "event")
    throw new TandemError("event_not_found", `The session has no event ${eventIndex}; they count from 0.`);
}
