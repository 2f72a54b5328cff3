// Claims: who runs a pending call, for as long as they say. They stand on the call's row alone.
import type { CallState } from "../domain/call-states.ts";
import type { SessionKey } from "../domain/ids.ts";
import type { SessionStatus } from "../domain/session-state.ts";
import { toText } from "../domain/text.ts";
import type { Queryable } from "./pool.ts";

/** A claim as it is asked for. */
export interface CallClaim extends SessionKey {
  callId: string;
  claimant: string;
  /** Seconds; 0 gives the call back. */
  leaseS: number;
  /** Tools whose calls may be claimed; null: all. */
  tools: string[] | null;
}

/** What became of a claim, and what it found: the call as it was before, or null where there is none. */
export interface ClaimOutcome {
  sessionStatus: SessionStatus;
  agentName: string;
  isWritten: boolean;
  /** When the claim that was written lapses; null when it gave the call back. */
  claimedUntil: Date | null;
  call: FoundCall | null;
}

/** A call that somebody wants to claim. */
export interface FoundCall {
  toolName: string;
  state: CallState;
  claimant: string | null;
  heldUntil: Date | null;
  /** How long its claim lasts, in milliseconds by the database's clock; null when it has none. */
  leftMs: number | null;
}

/**
 * Claims a pending call that nobody else holds, in one statement: of two at once, one waits for the other's and is decided
 * by what that wrote. What the outcome tells of the call is older then.
 *
 * @returns null when the organization has no such session
 */
export async function writeClaim(db: Queryable, claim: CallClaim): Promise<ClaimOutcome | null> {
  const { rows } = await db.query<
    Omit<ClaimOutcome, "call"> & { [K in keyof FoundCall]: FoundCall[K] | null }
  >({
    name: "write-claim",
    text: `WITH session AS MATERIALIZED (
             SELECT id, status, agent_name FROM sessions WHERE id = $1 AND organization_id = $2
           ), claimed AS (
             UPDATE tool_calls
                SET claimant = CASE WHEN $5::float8 > 0 THEN $4::text END,
                    claimed_until = CASE WHEN $5 > 0 THEN clock_timestamp() + $5 * interval '1 second' END
               FROM session
              WHERE session_id = session.id AND tool_calls.id = $3 AND state = 'pending'
                AND ($6::text[] IS NULL OR tool_name = ANY ($6))
                AND (claimed_until IS NULL OR claimed_until <= clock_timestamp() OR claimant = $4)
             RETURNING tool_calls.claimed_until
           )
           SELECT status AS "sessionStatus", agent_name AS "agentName", EXISTS (SELECT FROM claimed) AS "isWritten",
                  (SELECT claimed_until FROM claimed) AS "claimedUntil", tool_name AS "toolName", state, claimant,
                  claimed_until AS "heldUntil",
                  (extract(epoch FROM claimed_until - clock_timestamp()) * 1000)::float8 AS "leftMs"
             FROM session LEFT JOIN tool_calls ON session_id = session.id AND tool_calls.id = $3`,
    values: [
      claim.sessionId,
      claim.organizationId,
      toText(claim.callId),
      claim.claimant,
      claim.leaseS,
      claim.tools,
    ],
  });
  const [row] = rows;
  if (!row) return null;
  const { sessionStatus, agentName, isWritten, claimedUntil } = row;
  const { toolName, state, claimant, heldUntil, leftMs } = row;
  const call = toolName === null || state === null ? null : { toolName, state, claimant, heldUntil, leftMs };
  return { sessionStatus, agentName, isWritten, claimedUntil, call };
}
