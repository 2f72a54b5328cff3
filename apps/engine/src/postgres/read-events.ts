// Reading a history. Event data is passed on as the JSON text that was stored, never parsed on the way.
import type { StoredEvent } from "../domain/events.ts";
import type { SessionKey } from "../domain/ids.ts";
import { toText } from "../domain/text.ts";
import type { Queryable } from "./pool.ts";

/** Bytes that one reply holds at most, the last event not counted: a text of the database ends at 1 GB. */
export const PAGE_BYTES = 100_000_000;

/**
 * Bytes of a history that a model is asked about at most. No model takes as much, and reading more could end a worker.
 */
const TRANSCRIPT_BYTES = 128_000_000;

/** JSON text of one event in the wire's shape. */
export const EVENT_JSON = `'{"timestamp":"' || to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
  || '","type":' || to_json(type)::text || ',"data":' || data::text || '}'`;

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

const HISTORY = `SELECT CASE WHEN purged_at IS NULL THEN next_index ELSE 0 END AS total
  FROM sessions WHERE id = $1 AND organization_id = $2`;
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
