import type { UserMessage } from "../domain/messages.ts";
import type { SessionStatus } from "../domain/session-state.ts";
import { COUNTED, countMatching, countOwned } from "./count-sessions.ts";
import type { Queryable } from "./pool.ts";
import { PAGE_BYTES } from "./read-events.ts";
import { isOwnerAlone, type Matching, type SessionFilter, toEnd, toMatching } from "./session-filter.ts";

/** A session in a list. */
export interface SessionSummaryRow {
  id: string;
  agentName: string;
  status: SessionStatus;
  firstMessage: UserMessage | null;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  lastActivityAt: Date;
  /** When the content of an ephemeral session was removed. */
  purgedAt: Date | null;
}

/** Which sessions make up a page. */
export interface SessionPageOptions {
  filter: SessionFilter;
  oldestFirst: boolean;
  offset: number;
  limit: number;
  /** How far sessions that fit are counted. Default {@link COUNTED}. */
  counted?: number;
  /** How many sessions a search looks at. Default `SEARCHED`. */
  searched?: number;
}

/** Sessions of a list, and how many it has. */
export interface SessionPageRows {
  /** Null when they are more than one reply holds. */
  rows: SessionSummaryRow[] | null;
  /** Exact for an owner's whole list, and for others up to the bound; never less than the page itself proves. */
  total: number;
}

/** Reads one page of sessions. */
export async function readSessionPage(db: Queryable, options: SessionPageOptions): Promise<SessionPageRows> {
  const { filter, offset } = options;
  if (!isOwnerAlone(filter)) {
    const matching = toMatching(filter, options.searched);
    const page = await readPage(db, matching, options);
    const total = toProven(page, options) ?? (await countMatching(db, matching, options.counted ?? COUNTED));
    return { rows: page.rows, total: toPossible(total, page, options) };
  }
  const total = await countOwned(db, filter);
  // Past the end there is nothing to pass over.
  if (offset >= total) return { rows: [], total };
  const page = await readPage(db, toMatching(filter), options);
  return { rows: page.rows, total: toProven(page, options) ?? toPossible(total, page, options) };
}

interface Page {
  rows: SessionSummaryRow[] | null;
  /** How many sessions are on the page, also when they are too large to be read. */
  count: number;
  hasMore: boolean;
}

/** The number of sessions in all, where the page is the last one. */
function toProven(page: Page, { offset }: SessionPageOptions): number | null {
  if (page.hasMore || (page.count === 0 && offset > 0)) return null;
  return offset + page.count;
}

/** A number that others have changed since, or that is an estimate, as what the page allows: clients stop at it. */
function toPossible(total: number, page: Page, { offset }: SessionPageOptions): number {
  if (page.hasMore) return Math.max(total, offset + page.count + 1);
  return page.count === 0 ? Math.min(total, offset) : total;
}

/** Passes over sessions by the index alone, and reads the rows of the page. */
async function readPage(db: Queryable, matching: Matching, options: SessionPageOptions): Promise<Page> {
  const { offset, limit } = options;
  const order = options.oldestFirst ? "ASC" : "DESC";
  const fitting = matching.toSql({ order, limit: offset + limit + 1 });
  const { rows } = await db.query<SessionSummaryRow & { isTooLarge: boolean; hasMore: boolean }>(
    `WITH found AS MATERIALIZED (
       SELECT id, created_at FROM (${fitting}) AS matching ${toEnd({ order, limit: limit + 1 })} OFFSET ${offset}
     )
     SELECT id, "agentName", status, CASE WHEN bytes < ${PAGE_BYTES} THEN "firstMessage" END AS "firstMessage",
            "createdAt", "startedAt", "finishedAt", "lastActivityAt", "purgedAt", bytes >= ${PAGE_BYTES} AS "isTooLarge",
            (SELECT count(*) > ${limit} FROM found) AS "hasMore"
       FROM (SELECT id, agent_name AS "agentName", status, first_message AS "firstMessage",
                    sessions.created_at AS "createdAt", started_at AS "startedAt", finished_at AS "finishedAt",
                    last_activity_at AS "lastActivityAt", purged_at AS "purgedAt",
                    coalesce(sum(octet_length(first_message::text)) OVER (), 0) AS bytes
               FROM (SELECT id FROM found ${toEnd({ order, limit })}) AS page
               JOIN sessions USING (id)) AS sized
      ORDER BY "createdAt" ${order}, id ${order}`,
    matching.values,
  );
  const [first] = rows;
  return {
    rows: first?.isTooLarge ? null : rows.map(({ isTooLarge: _, hasMore: __, ...row }) => row),
    count: rows.length,
    hasMore: first?.hasMore ?? false,
  };
}
