// A change that is written on a presumption, by the statement that looks whether it holds: the read before is spared,
// and where it does not hold, the same statement has been that read.
import type { SessionKey } from "../domain/ids.ts";
import { stringifyJson } from "../domain/json.ts";
import type { ToolRequest } from "../domain/tools.ts";
import type { Queryable } from "./pool.ts";
import { type AddValue, prepared } from "./prepared.ts";
import { type JsonSessionRow, SESSION_JSON, TIMER_AT, toSessionRow } from "./session-row.ts";
import { IS_OPEN, type JsonCall, type SessionWithCalls, toCallsQuery, toToolCallRow } from "./tool-calls.ts";
import { type SessionUpdate, toWritten, type WrittenChange } from "./update-session.ts";
import { toUpdateStatement, type UpdatedRow } from "./update-statement.ts";

/** The status that is presumed. */
export const PRESUMED_STATUS = "awaiting_tool_results" as const;

/**
 * A session that waits for the results of these calls and for nothing else: no other call is open, no message waits, no
 * pause was asked for, and it has time. The calls are as the model made them, and their results are taken whole.
 */
export interface PresumedSession extends SessionKey {
  calls: readonly ToolRequest[];
}

/** What came of a presumption. Neither: somebody else was there meanwhile. */
export interface PresumedOutcome {
  /** The change, when it held, and the row's version before. */
  written: (WrittenChange & { fromVersion: string }) | null;
  /** The session as it is, with its open calls and those that were named, when it did not hold. */
  found: SessionWithCalls | null;
}

type PresumedRow = { [Field in keyof UpdatedRow]: UpdatedRow[Field] | null } & {
  fromVersion: string;
  stateMs: number;
  timerBefore: Date | null;
  found: { session: JsonSessionRow; calls: JsonCall[] | null; messageWaits: boolean } | null;
};

/**
 * Changes a session if it is as presumed, in one statement like `updateUnchanged`, and reads it if it is not.
 *
 * @returns null when there is no such session
 */
export async function updatePresumed(
  db: Queryable,
  presumed: PresumedSession,
  update: SessionUpdate,
): Promise<PresumedOutcome | null> {
  const { text, values } = toStatement(presumed, update);
  const { rows } = await db.query<PresumedRow>(prepared(text, values));
  const [row] = rows;
  if (!row) return null;
  if (row.found) {
    const { session, calls, messageWaits } = row.found;
    const found = { session: toSessionRow(session), calls: (calls ?? []).map(toToolCallRow), messageWaits };
    return { written: null, found };
  }
  if (!isWritten(row)) return { written: null, found: null };
  const { sessionId: id, organizationId } = presumed;
  // No session ends by its results, which is all that the counts of its steps would tell of.
  const before = { id, organizationId, status: PRESUMED_STATUS, steps: 0, runSteps: 0 };
  const { stateMs, timerBefore: timerAt, fromVersion } = row;
  return {
    written: { ...toWritten({ ...before, stateMs, timerAt }, update, row), fromVersion },
    found: null,
  };
}

const isWritten = (row: PresumedRow): row is PresumedRow & UpdatedRow => row.version !== null;

/**
 * What is seen is of one moment, calls and messages too. Only a row of just that version is locked: of a newer one, the
 * calls would still be the old ones.
 */
function toStatement(presumed: PresumedSession, update: SessionUpdate): { text: string; values: unknown[] } {
  const { sessionId, organizationId, calls } = presumed;
  const values: unknown[] = [sessionId, organizationId, calls.map(({ id }) => id), []];
  const add = (value: unknown) => `$${values.push(value)}`;
  const fit = toFit(calls, add);
  const { parts, text } = toUpdateStatement(update, 0, add);
  return {
    values,
    text: `WITH seen AS MATERIALIZED (
      SELECT id AS seen_id, xmin AS seen_version, ${TIMER_AT} AS timer_before,
             (extract(epoch FROM clock_timestamp() - state_since) * 1000)::float8 AS state_ms, (${fit}) AS is_fit
        FROM sessions WHERE id = $1 AND organization_id = $2),
    target AS MATERIALIZED (
      SELECT id AS target_id, organization_id AS target_organization_id, next_index AS start
        FROM sessions JOIN seen ON id = seen_id AND xmin = seen_version
       WHERE is_fit FOR NO KEY UPDATE OF sessions SKIP LOCKED),
    ${[...parts, `written AS (${text})`].join(",\n")}
    SELECT written.*, seen_version::text AS "fromVersion", state_ms AS "stateMs", timer_before AS "timerBefore",
           CASE WHEN NOT is_fit THEN (${FOUND}) END AS found
      FROM seen LEFT JOIN written ON true`,
  };
}

/** Whether the session is as presumed. */
function toFit(calls: readonly ToolRequest[], add: AddValue): string {
  const names = add(calls.map(({ tool_name }) => tool_name));
  const args = add(calls.map((call) => stringifyJson(call.args)));
  return `status = '${PRESUMED_STATUS}' AND NOT pause_requested
    AND coalesce(time_limit_at > clock_timestamp(), true)
    AND NOT EXISTS (SELECT FROM waiting_messages WHERE session_id = $1)
    AND (SELECT count(*) = cardinality($3) AND bool_and(coalesce(
                  state = 'pending' AND call.tool_name = presumed.tool_name AND args::text = presumed.args_text
                  AND asked_args IS NULL AND max_result_tokens IS NULL, false))
           FROM tool_calls AS call
           LEFT JOIN unnest($3::text[], ${names}::text[], ${args}::text[]) AS presumed (id, tool_name, args_text)
                  USING (id)
          WHERE session_id = $1 AND ${IS_OPEN})`;
}

const FOUND = `SELECT json_build_object('session', ${SESSION_JSON}, 'calls', (${toCallsQuery(3)}),
    'messageWaits', EXISTS (SELECT FROM waiting_messages WHERE session_id = $1)) FROM sessions WHERE id = $1`;
