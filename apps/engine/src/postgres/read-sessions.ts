// Reading sessions as they are shown: one, its status, and pages of many.
import type { AnswerOutcome } from "../domain/events.ts";
import type { JsonValue } from "../domain/json.ts";
import type { UserMessage } from "../domain/messages.ts";
import type { ModelUsage } from "../domain/metrics.ts";
import type { EndReason, SessionErrorCode } from "../domain/session-end.ts";
import type { SessionRequest } from "../domain/session-request.ts";
import type { SessionStatus } from "../domain/session-state.ts";
import { toText } from "../domain/text.ts";
import type { SessionTimes } from "../domain/waiting-on.ts";
import type { Queryable } from "./pool.ts";
import { prepared } from "./prepared.ts";
import { PAGE_BYTES } from "./read-events.ts";
import { TIMER_AT } from "./session-row.ts";

/** A session's status with what it used, what it waits for and why it ended. */
export interface StatusRow extends SessionTimes {
  error: string | null;
  errorCode: SessionErrorCode | null;
  outcome: AnswerOutcome | null;
  reason: EndReason | null;
  steps: number;
  usage: ModelUsage[];
}

/** A whole session. */
export interface SessionView extends StatusRow {
  id: string;
  request: SessionRequest;
  latestAnswer: JsonValue;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
}

const STATUS_COLUMNS = `
  status, error, error_code AS "errorCode", outcome, reason, steps, usage, state_since AS "stateSince",
  due_at AS "dueAt", coalesce(due_at > clock_timestamp(), false) AS "isDueLater", lease_until AS "leaseUntil",
  coalesce(lease_until > clock_timestamp(), false) AS "isLeased", claimed_at AS "claimedAt",
  heartbeat_at AS "heartbeatAt", queued_at AS "queuedAt", ${TIMER_AT} AS "timerAt"`;

/** Columns of {@link SessionView}, but for what may be long: the request and the answer. */
export const VIEW_COLUMNS = `id, ${STATUS_COLUMNS}, created_at AS "createdAt", started_at AS "startedAt",
  finished_at AS "finishedAt"`;

/** Reads a session's status; null when the organization has no such session. */
export async function readStatus(
  db: Queryable,
  organizationId: string,
  sessionId: string,
): Promise<StatusRow | null> {
  const { rows } = await db.query<StatusRow>({
    name: "read-status",
    text: `SELECT ${STATUS_COLUMNS} FROM sessions WHERE id = $1 AND organization_id = $2`,
    values: [sessionId, organizationId],
  });
  return rows[0] ?? null;
}

/** Reads a session; null when the organization has no such session. */
export async function readSession(
  db: Queryable,
  organizationId: string,
  sessionId: string,
): Promise<SessionView | null> {
  const { rows } = await db.query<SessionView>(
    prepared(
      `SELECT ${VIEW_COLUMNS}, request, coalesce(answer::text, previous_answer::text)::json AS "latestAnswer"
         FROM sessions WHERE id = $1 AND organization_id = $2`,
      [sessionId, organizationId],
    ),
  );
  return rows[0] ?? null;
}

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
}

/** What a list of sessions is narrowed by. Absent means any. */
export interface SessionFilter {
  organizationId: string;
  userName?: string;
  statuses?: readonly SessionStatus[];
  agentNames?: readonly string[];
  groupId?: string;
  parentSessionId?: string;
  /** Text that the first message or the answer holds, ignoring case. */
  search?: string;
  createdBefore?: string;
  createdAfter?: string;
  finishedBefore?: string;
  finishedAfter?: string;
}

/** Reads one page of sessions and how many there are in all; no rows when they are more than one reply holds. */
export async function readSessionPage(
  db: Queryable,
  options: { filter: SessionFilter; oldestFirst: boolean; offset: number; limit: number },
): Promise<{ rows: SessionSummaryRow[] | null; total: number }> {
  const { where, values } = toWhere(options.filter);
  const order = options.oldestFirst ? "ASC" : "DESC";
  const page = await db.query<SessionSummaryRow & { isTooLarge: boolean }>(
    `SELECT id, "agentName", status, CASE WHEN bytes < ${PAGE_BYTES} THEN "firstMessage" END AS "firstMessage",
            "createdAt", "startedAt", "finishedAt", "lastActivityAt", bytes >= ${PAGE_BYTES} AS "isTooLarge"
       FROM (SELECT *, coalesce(sum(octet_length("firstMessage"::text)) OVER (), 0) AS bytes
               FROM (SELECT id, agent_name AS "agentName", status, first_message AS "firstMessage",
                            created_at AS "createdAt", started_at AS "startedAt", finished_at AS "finishedAt",
                            last_activity_at AS "lastActivityAt"
                       FROM sessions WHERE ${where} ORDER BY created_at ${order}, id ${order}
                     OFFSET $${values.length + 1} LIMIT $${values.length + 2}) AS page) AS sized
      ORDER BY "createdAt" ${order}, id ${order}`,
    [...values, options.offset, options.limit],
  );
  const count = await db.query<{ total: number }>(
    `SELECT count(*)::int AS total FROM sessions WHERE ${where}`,
    values,
  );
  const rows = page.rows[0]?.isTooLarge ? null : page.rows.map(({ isTooLarge: _, ...row }) => row);
  return { rows, total: count.rows[0]?.total ?? 0 };
}

function toWhere(filter: SessionFilter): { where: string; values: unknown[] } {
  const values: unknown[] = [filter.organizationId];
  const parts = ["organization_id = $1"];
  const add = (value: unknown, toSql: (parameter: string) => string) => {
    if (value === undefined) return;
    if (!isStorable(value)) {
      parts.push("false");
      return;
    }
    values.push(value);
    parts.push(toSql(`$${values.length}`));
  };
  add(filter.userName, (p) => `user_name = ${p}`);
  add(filter.statuses, (p) => `status = ANY(${p}::text[])`);
  add(filter.agentNames, (p) => `agent_name = ANY(${p}::text[])`);
  add(filter.groupId, (p) => `group_id = ${p}`);
  add(filter.parentSessionId, (p) => `parent_session_id = ${p}`);
  add(toLikePattern(filter.search), (p) => `(first_text ILIKE ${p} OR answer_text ILIKE ${p})`);
  add(filter.createdBefore, (p) => `created_at < ${p}::timestamptz`);
  add(filter.createdAfter, (p) => `created_at > ${p}::timestamptz`);
  add(filter.finishedBefore, (p) => `finished_at < ${p}::timestamptz`);
  add(filter.finishedAfter, (p) => `finished_at > ${p}::timestamptz`);
  return { where: parts.join(" AND "), values };
}

/** What no column can hold matches nothing, and is no error. */
function isStorable(value: unknown): boolean {
  const texts = Array.isArray(value) ? value : [value];
  return !texts.some((text) => typeof text === "string" && text.includes("\u0000"));
}

function toLikePattern(search: string | undefined): string | undefined {
  // The columns that are searched hold NUL as another character.
  return search === undefined ? undefined : `%${toText(search).replace(/[\\%_]/g, "\\$&")}%`;
}
