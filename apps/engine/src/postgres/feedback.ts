// What people think of a session and of its events: one row for each user and place.
import type { Queryable } from "./pool.ts";

/** Stands for the session as a whole in the table's key. */
const WHOLE_SESSION = -1;

/** Feedback as it is given. */
export interface GivenFeedback {
  organizationId: string;
  sessionId: string;
  /** The event that it is about; null for the session as a whole. */
  eventIndex: number | null;
  userName: string;
  success: boolean;
  message: string | null;
}

/**
 * Stores feedback in place of the user's earlier one. The session's row is kept from being deleted meanwhile, and no
 * column of it changes.
 *
 * @returns what was missing, if anything was: then nothing is stored
 */
export async function upsertFeedback(
  db: Queryable,
  given: GivenFeedback,
): Promise<"session" | "content" | "event" | null> {
  const { rows } = await db.query<{ isStored: boolean; isRemoved: boolean }>(
    `WITH session AS (
       SELECT id, next_index, purged_at FROM sessions WHERE id = $1 AND organization_id = $2 FOR KEY SHARE
     ), stored AS (
       INSERT INTO feedback (session_id, event_index, user_name, success, message)
       SELECT id, $3, $4, $5, $6 FROM session WHERE $3 < next_index AND purged_at IS NULL
       ON CONFLICT (session_id, event_index, user_name) DO UPDATE
          SET success = excluded.success, message = excluded.message, updated_at = now()
       RETURNING session_id
     )
     SELECT EXISTS (SELECT FROM stored) AS "isStored", purged_at IS NOT NULL AS "isRemoved" FROM session`,
    [
      given.sessionId,
      given.organizationId,
      given.eventIndex ?? WHOLE_SESSION,
      given.userName,
      given.success,
      given.message,
    ],
  );
  const [found] = rows;
  if (!found) return "session";
  if (found.isRemoved) return "content";
  return found.isStored ? null : "event";
}

/** Stored feedback. */
export interface FeedbackRow {
  eventIndex: number | null;
  success: boolean;
  message: string | null;
  userName: string;
  updatedAt: Date;
}

/** All feedback on a session: first that on the whole, then by event. The caller has checked whose session it is. */
export async function readFeedback(db: Queryable, sessionId: string): Promise<FeedbackRow[]> {
  const { rows } = await db.query<FeedbackRow>(
    `SELECT nullif(event_index, $2) AS "eventIndex", success, message, user_name AS "userName",
            updated_at AS "updatedAt"
       FROM feedback WHERE session_id = $1 ORDER BY event_index, user_name`,
    [sessionId, WHOLE_SESSION],
  );
  return rows;
}
