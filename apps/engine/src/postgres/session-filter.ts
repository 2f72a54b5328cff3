// What a list of sessions is narrowed by, as SQL that an index answers in the order of the list.
import type { SessionStatus } from "../domain/session-state.ts";
import { toText } from "../domain/text.ts";

/** What a list of sessions is narrowed by. Absent means any. */
export interface SessionFilter {
  organizationId: string;
  userName?: string;
  statuses?: readonly SessionStatus[];
  agentNames?: readonly string[];
  groupId?: string;
  parentSessionId?: string;
  /** Text that the first message or the answer holds, ignoring case. Looks at the {@link SEARCHED} newest sessions. */
  search?: string;
  createdBefore?: string;
  createdAfter?: string;
  finishedBefore?: string;
  finishedAfter?: string;
}

/** How many sessions a search looks at: no index finds a text within texts, and each has to be read. */
export const SEARCHED = 100_000;

/** Which end of a list is wanted, and how much of it. */
export interface ListEnd {
  order: "ASC" | "DESC";
  limit: number;
}

/** The sessions that fit a filter. */
export interface Matching {
  /** A query of the columns `id` and `created_at`, in no promised order: of all that fit, or of those at an end. */
  toSql(end?: ListEnd): string;
  /** Its parameters. */
  values: unknown[];
}

/** Finds the sessions that fit a filter. */
export function toMatching(filter: SessionFilter, searched = SEARCHED): Matching {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const arms = toArms(filter, bind);
  if (filter.search === undefined) return { values, toSql: (end) => toUnion("id, created_at", arms, end) };
  const pattern = bind(toLikePattern(filter.search));
  const newest = { order: "DESC", limit: searched } as const;
  const fitting = toUnion("id, created_at, first_text, answer_text", arms, newest);
  const searchedSql = `SELECT id, created_at FROM (SELECT * FROM (${fitting}) AS fitting ${toEnd(newest)}) AS searched
    WHERE first_text ILIKE ${pattern} OR answer_text ILIKE ${pattern}`;
  return { values, toSql: () => searchedSql };
}

/** One of several conditions, of which no session fits two. */
interface Arm {
  where: string[];
  /** True when what fits is few: then it is found first and sorted, and not looked for in the order of the list. */
  isFew: boolean;
}

/**
 * What fits any of the arms. Each has its own order and limit: so the database reads that end of each by an index, and
 * does not sort them all.
 */
function toUnion(columns: string, arms: Arm[], end?: ListEnd): string {
  const queries = arms.map(({ where, isFew }) => {
    const query = `SELECT ${columns} FROM sessions WHERE ${where.join(" AND ")}`;
    if (!end) return query;
    // OFFSET 0 keeps the planner from looking behind it.
    return isFew ? `(SELECT * FROM (${query} OFFSET 0) AS few ${toEnd(end)})` : `(${query} ${toEnd(end)})`;
  });
  return queries.join(" UNION ALL ");
}

/** The clauses that take an end of a list. */
export function toEnd({ order, limit }: ListEnd): string {
  return `ORDER BY created_at ${order}, id ${order} LIMIT ${limit}`;
}

/** True when a filter is an owner alone, whose sessions are counted as they come and go. */
export function isOwnerAlone(filter: SessionFilter): boolean {
  const { organizationId: _, userName: __, ...others } = filter;
  return Object.values(others).every((value) => value === undefined);
}

type Bind = (value: unknown) => string;

function toConditions(filter: SessionFilter, bind: Bind): string[] {
  const { finishedBefore } = filter;
  const compare = (value: string | undefined, toSql: (parameter: string) => string) => {
    if (value === undefined) return [];
    return isStorable(value) ? [toSql(bind(value))] : ["false"];
  };
  return [
    ...compare(filter.organizationId, (p) => `organization_id = ${p}`),
    ...compare(filter.userName, (p) => `user_name = ${p}`),
    ...compare(filter.groupId, (p) => `group_id = ${p}`),
    ...compare(filter.parentSessionId, (p) => `parent_session_id = ${p}`),
    ...compare(filter.createdBefore, (p) => `created_at < ${p}::timestamptz`),
    ...compare(filter.createdAfter, (p) => `created_at > ${p}::timestamptz`),
    // What has ended was created before: that takes a list to its place at once, which is in the order of creation.
    ...compare(finishedBefore, (p) => `finished_at < ${p}::timestamptz AND created_at < ${p}::timestamptz`),
  ];
}

/** More alternatives than this are one condition: planning each by itself would take longer than it saves. */
const MAX_ARMS = 20;

/** An arm for each status, agent and time that is asked for: of one of each, an index has the sessions in order. */
function toArms(filter: SessionFilter, bind: Bind): Arm[] {
  const rest = toConditions(filter, bind);
  const byStatus = toAlternatives("status", filter.statuses, bind, MAX_ARMS);
  const byAgent = toAlternatives("agent_name", filter.agentNames, bind, MAX_ARMS / byStatus.length);
  const byTime = toTimes(filter, bind);
  return byStatus.flatMap((status) =>
    byAgent.flatMap((agent) =>
      byTime.map(({ where, isFew }) => ({ where: [...rest, ...status, ...agent, ...where], isFew })),
    ),
  );
}

/**
 * What ended after a moment: nearly all that was created after it, and few that were created before it. Looked for in
 * the order of the list, those few would be looked for among all that had ended by then.
 */
function toTimes({ finishedAfter }: SessionFilter, bind: Bind): Arm[] {
  if (finishedAfter === undefined) return [{ where: [], isFew: false }];
  const moment = `${bind(finishedAfter)}::timestamptz`;
  return [
    { where: [`finished_at > ${moment}`, `created_at > ${moment}`], isFew: false },
    { where: [`finished_at > ${moment}`, `created_at <= ${moment}`], isFew: true },
  ];
}

function toAlternatives(
  column: string,
  wanted: readonly string[] | undefined,
  bind: Bind,
  limit: number,
): string[][] {
  if (wanted === undefined) return [[]];
  const values = [...new Set(wanted)].filter(isStorable);
  if (values.length === 0) return [["false"]];
  if (values.length > limit) return [[`${column} = ANY(${bind(values)}::text[])`]];
  return values.map((value) => [`${column} = ${bind(value)}`]);
}

/** What no column can hold matches nothing, and is no error. */
function isStorable(text: string): boolean {
  return !text.includes("\u0000");
}

function toLikePattern(search: string): string {
  // The columns that are searched hold NUL as another character.
  return `%${toText(search).replace(/[\\%_]/g, "\\$&")}%`;
}
