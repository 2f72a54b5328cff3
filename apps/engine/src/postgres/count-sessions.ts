// How many sessions a list has. Owners are counted as sessions come and go; whatever else is asked for is counted up to a
// bound, so that a list costs the same however long it is.
import type { Queryable } from "./pool.ts";
import { type Matching, type SessionFilter, toEnd } from "./session-filter.ts";

/** How far sessions that fit a filter are counted; of more, the number is an estimate. */
export const COUNTED = 10_000;

/** The exact number of an owner's sessions. */
export async function countOwned(
  db: Queryable,
  { organizationId, userName }: Pick<SessionFilter, "organizationId" | "userName">,
): Promise<number> {
  const sum = "SELECT coalesce(sum(count), 0)::int AS total FROM session_counts WHERE organization_id = $1";
  const { rows } = await db.query<{ total: number }>(
    userName === undefined
      ? { name: "count-organization-sessions", text: sum, values: [organizationId] }
      : {
          name: "count-user-sessions",
          text: `${sum} AND user_name = $2`,
          values: [organizationId, userName],
        },
  );
  return rows[0]?.total ?? 0;
}

/** The number of sessions that fit: exact up to the bound, and above it an estimate that is above it too. */
export async function countMatching(db: Queryable, matching: Matching, counted = COUNTED): Promise<number> {
  // In the order of the list: by the same index as its pages.
  const end = { order: "DESC", limit: counted + 1 } as const;
  const { rows } = await db.query<{ total: number }>(
    `SELECT count(*)::int AS total FROM (SELECT FROM (${matching.toSql(end)}) AS matching ${toEnd(end)}) AS counted`,
    matching.values,
  );
  const total = rows[0]?.total ?? 0;
  return total <= counted ? total : Math.max(total, await estimate(db, matching));
}

interface Explained {
  "QUERY PLAN": [{ Plan: { "Plan Rows": number } }];
}

/** What the database's planner expects, which takes the statistics of its last ANALYZE and reads no rows. */
async function estimate(db: Queryable, matching: Matching): Promise<number> {
  const { rows } = await db.query<Explained>(`EXPLAIN (FORMAT JSON) ${matching.toSql()}`, matching.values);
  return Math.round(rows[0]?.["QUERY PLAN"][0].Plan["Plan Rows"] ?? 0);
}

/** From how many rows on an owner's are folded, and most rows of all that one statement folds. */
const FOLD_FROM = 32;
const FOLD_LIMIT = 10_000;

/** Folds the differences that statements have left, into one row for each owner. Nobody waits for this. */
export async function foldSessionCounts(db: Queryable): Promise<void> {
  await db.query(
    `WITH owner AS (
       SELECT organization_id, user_name FROM session_counts GROUP BY organization_id, user_name
       HAVING count(*) >= ${FOLD_FROM} OR sum(count) = 0
     ), found AS MATERIALIZED (
       SELECT session_counts.organization_id, session_counts.user_name, id
         FROM session_counts JOIN owner USING (organization_id, user_name) LIMIT ${FOLD_LIMIT}
          FOR UPDATE OF session_counts SKIP LOCKED
     ), folded AS (
       DELETE FROM session_counts USING found
        WHERE session_counts.organization_id = found.organization_id AND session_counts.user_name = found.user_name
          AND session_counts.id = found.id
       RETURNING session_counts.organization_id, session_counts.user_name, session_counts.count
     )
     INSERT INTO session_counts (organization_id, user_name, count)
     SELECT organization_id, user_name, sum(count) FROM folded
      GROUP BY organization_id, user_name HAVING sum(count) <> 0`,
  );
}
