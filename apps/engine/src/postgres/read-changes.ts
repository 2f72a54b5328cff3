// What polls read: a session's state and its events past a cursor, for one poll or for many at once.
import type { AnswerOutcome } from "../domain/events.ts";
import type { EndReason, SessionErrorCode } from "../domain/session-end.ts";
import type { SessionStatus } from "../domain/session-state.ts";
import type { Queryable } from "./pool.ts";
import { EVENT_JSON, PAGE_BYTES } from "./read-events.ts";

/** What a poll sees: the state, and the events past its cursor, all of one moment. */
export interface ChangesRow {
  status: SessionStatus;
  startedAt: Date | null;
  finishedAt: Date | null;
  error: string | null;
  errorCode: SessionErrorCode | null;
  outcome: AnswerOutcome | null;
  reason: EndReason | null;
  steps: number;
  /** JSON text. */
  usage: string;
  /** JSON text, or null. */
  answer: string | null;
  nextIndex: number;
  /** JSON text of the events, comma-separated; null when there are none. */
  events: string | null;
  eventCount: number;
}

/** What a poll asks for. */
export interface ChangesKey {
  organizationId: string;
  sessionId: string;
  /** The number of events already seen. */
  fromIndex: number;
  /** Most events; null for as many as one reply holds. */
  limit: number | null;
  /** About how many bytes of events at most; one is read whatever its size. Default: as many as one reply holds. */
  maxBytes?: number;
}

const CHANGES_COLUMNS = `status, started_at AS "startedAt", finished_at AS "finishedAt", error,
  error_code AS "errorCode", outcome, reason, steps, usage::text AS usage, next_index AS "nextIndex"`;

/**
 * Reads a session's state and the events from a cursor on, as many as one reply holds. Null when the organization has
 * no such session.
 */
export async function readChanges(db: Queryable, key: ChangesKey): Promise<ChangesRow | null> {
  const { rows } = await db.query<ChangesRow>({
    name: "read-changes",
    text: `SELECT ${CHANGES_COLUMNS}, answer::text AS answer, page.events, page.count AS "eventCount"
             FROM sessions, LATERAL (
               SELECT string_agg(${EVENT_JSON}, ',' ORDER BY index) AS events, count(*)::int AS count
                 FROM (SELECT index, created_at, type, data,
                              sum(octet_length(data::text)) OVER (ORDER BY index) - octet_length(data::text) AS before
                         FROM events
                        WHERE session_id = sessions.id AND index >= $3 AND $3 < sessions.next_index
                        ORDER BY index LIMIT $4) AS event
                WHERE before < $5
             ) AS page
            WHERE sessions.id = $1 AND organization_id = $2`,
    values: [key.sessionId, key.organizationId, key.fromIndex, key.limit, key.maxBytes ?? PAGE_BYTES],
  });
  return rows[0] ?? null;
}

/**
 * What one poll among many may take: events to look at, bytes as they are stored, and bytes of the reply. More is too
 * large, which is found before anything is unpacked.
 */
const SHARE = { events: 500, storedBytes: 65_536, replyBytes: 131_072 };

/**
 * The same for many polls by one statement, as of one moment: in order, null where there is no such session, and
 * "too large" where the reply is more than a statement for many should hold. Those have to be read alone.
 */
export async function readManyChanges(
  db: Queryable,
  keys: readonly ChangesKey[],
): Promise<(ChangesRow | null | "too large")[]> {
  const { rows } = await db.query<ChangesRow & { position: number; isTooLarge: boolean }>({
    name: "read-many-changes",
    text: MANY_CHANGES,
    values: [
      keys.map(({ sessionId }) => sessionId),
      keys.map(({ organizationId }) => organizationId),
      keys.map(({ fromIndex }) => fromIndex),
      keys.map(({ limit }) => limit),
    ],
  });
  const found: (ChangesRow | null | "too large")[] = keys.map(() => null);
  for (const { position, isTooLarge, ...row } of rows) found[position - 1] = isTooLarge ? "too large" : row;
  return found;
}

/**
 * A look by key for each poll, however many they are: `OFFSET 0` leaves no other way, and what stands in a SELECT of its
 * own is no constant to the planner, which makes one plan for all numbers then. Events are looked at where there are
 * some past the cursor, and unpacked where they are few and small.
 */
const MANY_CHANGES = `
  SELECT position::int, ${CHANGES_COLUMNS}, answer::text AS answer, page.events, page.count AS "eventCount",
         size.is_too_large OR coalesce(octet_length(page.events), 0) + coalesce(octet_length(answer::text), 0)
           > ${SHARE.replyBytes} AS "isTooLarge"
    FROM unnest((SELECT $1::uuid[]), (SELECT $2::uuid[]), (SELECT $3::int[]), (SELECT $4::int[]))
           WITH ORDINALITY AS poll (session_id, organization_id, from_index, most, position)
   CROSS JOIN LATERAL (
     SELECT * FROM sessions WHERE id = poll.session_id AND organization_id = poll.organization_id OFFSET 0
   ) AS session
   CROSS JOIN LATERAL (SELECT least(poll.most, session.next_index - poll.from_index) AS news) AS past
   CROSS JOIN LATERAL (
     SELECT past.news > ${SHARE.events} OR coalesce(pg_column_size(session.answer), 0)
              + coalesce(sum(pg_column_size(data)), 0) > ${SHARE.storedBytes} AS is_too_large
       FROM events
      WHERE session_id = session.id AND index >= poll.from_index AND index < poll.from_index + past.news
        AND past.news BETWEEN 1 AND ${SHARE.events}
   ) AS size
   CROSS JOIN LATERAL (
     SELECT string_agg(${EVENT_JSON}, ',' ORDER BY index) AS events, count(*)::int AS count
       FROM events
      WHERE session_id = session.id AND index >= poll.from_index AND index < poll.from_index + past.news
        AND past.news > 0 AND NOT size.is_too_large
   ) AS page`;

/** Which of these sessions have events past a cursor, or are gone. For waiters whose wake-up was lost. */
export async function findAdvanced(
  db: Queryable,
  waiting: readonly { sessionId: string; cursor: number }[],
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: "find-advanced",
    // The parts in a SELECT of their own and `OFFSET 0` are for the same plan as of the polls: one look by key for each.
    text: `SELECT DISTINCT waiting.id
             FROM unnest((SELECT $1::uuid[]), (SELECT $2::int[])) AS waiting (id, cursor)
             LEFT JOIN LATERAL (SELECT next_index FROM sessions WHERE id = waiting.id OFFSET 0) AS session ON true
            WHERE next_index IS NULL OR next_index > waiting.cursor`,
    values: [waiting.map((entry) => entry.sessionId), waiting.map((entry) => entry.cursor)],
  });
  return rows.map((row) => row.id);
}
