// Calls that somebody may take, over all sessions of an organization: those that wait for a result, and that nobody has
// claimed. A session that is paused takes results, so its calls are among them.
import { type JsonObject, stringifyJson } from "../domain/json.ts";
import type { Capability } from "../domain/tools.ts";
import type { Queryable } from "./pool.ts";
import { prepared } from "./prepared.ts";

/** Whose calls are wanted. Names are such that a column of the database can hold them. */
export interface CallFeed {
  organizationId: string;
  toolNames: readonly string[];
  /** Names of agents; null: any. */
  agentNames: readonly string[] | null;
  /** Only sessions of this user; null: of any. */
  userName: string | null;
}

/** A call that may be taken. */
export interface OfferedCallRow {
  sessionId: string;
  agentName: string;
  id: string;
  toolName: string;
  args: JsonObject;
  deadlineAt: Date | null;
  capability: Capability;
  createdAt: Date;
}

/** The calls of a feed. */
export interface OfferedCalls {
  rows: OfferedCallRow[];
  /** Where there are none: when the first claim of one lapses, in milliseconds from now; null when none is claimed. */
  lapsesInMs: number | null;
}

/** Most bytes of arguments in one reply; a call that has more comes alone. */
const FEED_BYTES = 10_000_000;

/** Places of a feed's parts in a statement. */
interface FeedTerms {
  organization: string;
  tool: string;
  agents: string;
  user: string;
}

/** Pending calls of one tool. The session is looked up for each by its id, whatever the planner expects. */
const toPending = ({ organization, tool, agents, user }: FeedTerms) => `
  tool_calls AS call CROSS JOIN LATERAL (
    SELECT agent_name FROM sessions
     WHERE sessions.id = call.session_id AND (${agents} IS NULL OR agent_name = ANY (${agents}))
       AND (${user} IS NULL OR user_name = ${user})
       AND status NOT IN ('completed', 'failed', 'timed_out', 'interrupted') OFFSET 0
  ) AS session
  WHERE call.organization_id = ${organization} AND tool_name = ${tool} AND state = 'pending'
    AND (deadline_at IS NULL OR deadline_at > clock_timestamp())`;

const IS_FREE = "(claimed_until IS NULL OR claimed_until <= clock_timestamp())";

const ORDER = "created_at, session_id, step, position";

const OF_ONE = toPending({ organization: "$1", tool: "tool.name", agents: "$3::text[]", user: "$4::text" });

/** Each tool's oldest calls come in order from an index, and of these the oldest are taken. */
const READ_CALLS = `
  WITH found AS MATERIALIZED (
    SELECT free.* FROM unnest($2::text[]) AS tool (name) CROSS JOIN LATERAL (
      SELECT call.*, agent_name FROM ${OF_ONE} AND ${IS_FREE} ORDER BY call.created_at LIMIT $5
    ) AS free ORDER BY ${ORDER} LIMIT $5
  ), sized AS (
    SELECT found.*, octet_length(args::text) AS bytes,
           sum(octet_length(args::text)) OVER (ORDER BY ${ORDER} ROWS UNBOUNDED PRECEDING) AS bytes_so_far FROM found
  )
  SELECT lapse."lapsesInMs", session_id AS "sessionId", agent_name AS "agentName", id, tool_name AS "toolName", args,
         deadline_at AS "deadlineAt", capability, created_at AS "createdAt"
    FROM (SELECT CASE WHEN NOT EXISTS (SELECT FROM found) THEN (
            SELECT (extract(epoch FROM min(claimed_until) - clock_timestamp()) * 1000)::float8
              FROM unnest($2::text[]) AS tool (name) CROSS JOIN LATERAL (
                SELECT claimed_until FROM ${OF_ONE} AND claimed_until > clock_timestamp()
              ) AS claimed) END AS "lapsesInMs") AS lapse
    LEFT JOIN sized ON bytes_so_far <= ${FEED_BYTES} OR bytes_so_far = bytes
   ORDER BY ${ORDER}`;

/** The oldest calls of a feed. */
export async function readOfferedCalls(db: Queryable, feed: CallFeed, limit: number): Promise<OfferedCalls> {
  const { organizationId, toolNames, agentNames, userName } = feed;
  const { rows } = await db.query<Partial<OfferedCallRow> & { lapsesInMs: number | null }>(
    prepared(READ_CALLS, [organizationId, toolNames, agentNames, userName, limit]),
  );
  const found = rows.filter(({ id }) => id !== null) as (OfferedCallRow & { lapsesInMs: number | null })[];
  return {
    rows: found.map(({ lapsesInMs: _, ...row }) => row),
    lapsesInMs: rows[0]?.lapsesInMs ?? null,
  };
}

const OF_EACH = toPending({
  organization: "feed.organization",
  tool: "tool.name",
  agents: "feed.agents",
  user: "feed.owner",
});

/** In the order of the index: for one of any order the planner might hope to meet it soon in the whole table. */
const FIND_FEEDS = `
  SELECT feed.number
    FROM json_to_recordset($1::json)
         AS feed (number int, organization uuid, tools text[], agents text[], owner text)
   WHERE EXISTS (
     SELECT FROM unnest(feed.tools) AS tool (name)
       CROSS JOIN LATERAL (SELECT FROM ${OF_EACH} AND ${IS_FREE} ORDER BY call.created_at LIMIT 1) AS free)`;

/** Which of these feeds have a call that may be taken, by their places. */
export async function findOfferedFeeds(db: Queryable, feeds: readonly CallFeed[]): Promise<number[]> {
  const asked = feeds.map(({ organizationId, toolNames, agentNames, userName }, number) => ({
    ...{ number, organization: organizationId, tools: [...toolNames] },
    ...{ agents: agentNames && [...agentNames], owner: userName },
  }));
  const { rows } = await db.query<{ number: number }>(prepared(FIND_FEEDS, [stringifyJson(asked)]));
  return rows.map(({ number }) => number);
}
