// Reading a history. Event data is passed on as the JSON text that was stored, never parsed on the way.
import type { AnswerOutcome, StoredEvent } from "../domain/events.ts";
import type { SessionKey } from "../domain/ids.ts";
import type { EndReason, SessionErrorCode } from "../domain/session-end.ts";
import type { SessionStatus } from "../domain/session-state.ts";
import { toText } from "../domain/text.ts";
import type { Queryable } from "./pool.ts";

/** Bytes that one reply holds at most, the last event not counted: a text of the database ends at 1 GB. */
export const PAGE_BYTES = 100_000_000;

/**
 * Bytes of a history that a model is asked about at most. No model takes as much, and reading more could end a worker.
 */
const TRANSCRIPT_BYTES = 128_000_000;

/** JSON text of one event in the wire's shape. */
const EVENT_JSON = `'{"timestamp":"' || to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
  || '","type":' || to_json(type)::text || ',"data":' || data::text || '}'`;

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

/**
 * Reads a session's state and the events from a cursor on, as many as one reply holds. Null when the organization has
 * no such session.
 */
export async function readChanges(
  db: Queryable,
  options: { organizationId: string; sessionId: string; fromIndex: number; limit: number | null },
): Promise<ChangesRow | null> {
  const { rows } = await db.query<ChangesRow>({
    name: "read-changes",
    text: `SELECT status, started_at AS "startedAt", finished_at AS "finishedAt", error, error_code AS "errorCode",
                  outcome, reason, steps, usage::text AS usage, answer::text AS answer, next_index AS "nextIndex",
                  page.events, page.count AS "eventCount"
             FROM sessions, LATERAL (
               SELECT string_agg(${EVENT_JSON}, ',' ORDER BY index) AS events, count(*)::int AS count
                 FROM (SELECT index, created_at, type, data,
                              sum(octet_length(data::text)) OVER (ORDER BY index) - octet_length(data::text) AS before
                         FROM events
                        WHERE session_id = sessions.id AND index >= $3 AND $3 < sessions.next_index
                        ORDER BY index LIMIT $4) AS event
                WHERE before < ${PAGE_BYTES}
             ) AS page
            WHERE sessions.id = $1 AND organization_id = $2`,
    values: [options.sessionId, options.organizationId, options.fromIndex, options.limit],
  });
  return rows[0] ?? null;
}

/** A page of a history: JSON text of the events, and how many there are in all. */
export interface EventPageRow {
  events: string | null;
  total: number;
  /** True when the page is more than one reply holds; then it has no events. */
  isTooLarge: boolean;
}

/** Which events make up a page. */
export interface EventPageOptions {
  type: string | null;
  newestFirst: boolean;
  offset: number;
  limit: number;
  /** Longer data is cut, and told as `{"cut": <its first characters>}`. Default: nothing is. */
  maxCharacters?: number;
}

/**
 * Reads one page of a session's events; null when the organization has no such session. Without a type nothing is counted
 * or passed over: events are numbered without gaps. With one, the session's events are looked through.
 */
export async function readEventPage(
  db: Queryable,
  options: EventPageOptions & SessionKey,
): Promise<EventPageRow | null> {
  const { type, newestFirst } = options;
  const order = newestFirst ? "DESC" : "ASC";
  const onPage = `FROM page, events WHERE session_id = $1 AND ${type === null ? IS_ON_PAGE : IS_ON_TYPED_PAGE}`;
  const { rows } = await db.query<EventPageRow>(
    `WITH history AS MATERIALIZED (${type === null ? HISTORY : HISTORY_OF_TYPE}),
          page AS MATERIALIZED (SELECT *, ${newestFirst ? "total - $3::int - $4::int" : "$3::int"} AS start FROM history),
          size AS MATERIALIZED (SELECT sum(least(octet_length(data::text), 4::bigint * $5::int)) AS bytes ${onPage})
     SELECT total, coalesce(bytes >= ${PAGE_BYTES}, false) AS "isTooLarge", CASE WHEN bytes < ${PAGE_BYTES} THEN (
              SELECT string_agg(${EVENT_JSON}, ',' ORDER BY index ${order})
                FROM (SELECT index, created_at, type, CASE WHEN length(data::text) > $5::int
                             THEN '{"cut":' || to_json(left(data::text, $5::int))::text || '}' ELSE data::text END AS data
                        ${onPage}) AS event) END AS events
       FROM history, size`,
    [
      options.sessionId,
      options.organizationId,
      options.offset,
      options.limit,
      options.maxCharacters ?? MAX_INTEGER,
      ...(type === null ? [] : [toText(type)]),
    ],
  );
  return rows[0] ?? null;
}

const HISTORY = "SELECT next_index AS total FROM sessions WHERE id = $1 AND organization_id = $2";
const IS_ON_PAGE = "index >= page.start AND index < page.start + $4::int";

const HISTORY_OF_TYPE = `
  SELECT cardinality(indexes) AS total, indexes
    FROM (SELECT ARRAY(SELECT index FROM events WHERE session_id = $1 AND type = $6 ORDER BY index) AS indexes
            FROM sessions WHERE id = $1 AND organization_id = $2 OFFSET 0) AS typed`;
/** Arrays count from 1. */
const IS_ON_TYPED_PAGE = "index = ANY (page.indexes[greatest(page.start, 0) + 1 : page.start + $4::int])";

/** The largest number of an `integer` of the database. */
const MAX_INTEGER = 2_147_483_647;

/**
 * The events that make up the model's view of a session, in order; null when they are more than a worker should read.
 */
export async function readTranscriptEvents(db: Queryable, sessionId: string): Promise<StoredEvent[] | null> {
  const { rows } = await db.query<StoredEvent & { isTooLarge: boolean }>(
    `SELECT index, type, CASE WHEN "isTooLarge" THEN NULL ELSE data END AS data,
            CASE WHEN "isTooLarge" THEN NULL ELSE internal END AS internal, "isTooLarge"
       FROM (SELECT index, type, data, internal,
                    sum(octet_length(data::text) + coalesce(octet_length(internal::text), 0)) OVER ()
                      > ${TRANSCRIPT_BYTES} AS "isTooLarge"
               FROM events WHERE session_id = $1 AND type = 'AgentEvent') AS event
      ORDER BY index`,
    [sessionId],
  );
  if (rows[0]?.isTooLarge) return null;
  return rows.map(({ isTooLarge: _, ...event }) => event);
}

/** Which of these sessions have events past a cursor, or are gone. For waiters whose wake-up was lost. */
export async function findAdvanced(
  db: Queryable,
  waiting: readonly { sessionId: string; cursor: number }[],
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT DISTINCT waiting.id FROM unnest($1::uuid[], $2::int[]) AS waiting (id, cursor)
       LEFT JOIN sessions ON sessions.id = waiting.id
      WHERE sessions.id IS NULL OR sessions.next_index > waiting.cursor`,
    [waiting.map((entry) => entry.sessionId), waiting.map((entry) => entry.cursor)],
  );
  return rows.map((row) => row.id);
}
