// Reading one session as it is shown, and its status.
import type { AnswerOutcome } from "../domain/events.ts";
import type { JsonValue } from "../domain/json.ts";
import type { ModelUsage } from "../domain/metrics.ts";
import type { EndReason, SessionErrorCode } from "../domain/session-end.ts";
import type { SessionRequest } from "../domain/session-request.ts";
import type { SessionTimes } from "../domain/waiting-on.ts";
import type { Queryable } from "./pool.ts";
import { prepared } from "./prepared.ts";
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
