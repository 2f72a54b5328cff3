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

/** What a poll asks for. */
export interface ChangesKey {
  organizationId: string;
  sessionId: string;
  /** The number of events already seen. */
  fromIndex: number;
  /** Most events; null for as many as one reply holds. */
  limit: number | null;
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
                WHERE before < ${PAGE_BYTES}
             ) AS page
            WHERE sessions.id = $1 AND organization_id = $2`,
    values: [key.sessionId, key.organizationId, key.fromIndex, key.limit],
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
