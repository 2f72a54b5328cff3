// Calls that get no result any more: each is settled by the server, with words that the model can understand.
import type { CallState } from "../domain/call-states.ts";
import { errorEvent, type NewEvent, toolCallCancelled, type WithdrawalReason } from "../domain/events.ts";
import type { OpenCall } from "../domain/plan-calls.ts";
import type { CallChange } from "../postgres/call-changes.ts";
import type { Queryable } from "../postgres/pool.ts";
import { pickOpen, readOpenCalls } from "../postgres/tool-calls.ts";

/** Why there is no result, for the model. */
const WORDS: Record<WithdrawalReason, string> = {
  cancelled: "The session was cancelled before a result came.",
  force_answer: "An answer was asked for before a result came.",
  max_time: "The session's time was over before a result came.",
  timed_out: "The call's time was over before a result came.",
  session_failed: "The session failed before a result came.",
};

const OUTCOME_UNKNOWN = "Whether the tool ran is unknown.";
const NOT_STARTED = "The call was not approved by then, so the tool did not run.";

/** Calls that the server settles: the events that say so, and what becomes of the rows. */
export interface Withdrawals {
  events: NewEvent[];
  changedCalls: CallChange[];
}

/** Settles every open call of a locked session. */
export async function withdrawCalls(
  tx: Queryable,
  sessionId: string,
  reason: WithdrawalReason,
): Promise<Withdrawals> {
  return toWithdrawals(pickOpen(await readOpenCalls(tx, sessionId)), reason);
}

/** Settles these open calls. */
export function toWithdrawals(calls: readonly OpenCall[], reason: WithdrawalReason): Withdrawals {
  const state: CallState = reason === "timed_out" ? "timed_out" : "withdrawn";
  return {
    events: calls.flatMap((call) => toEvents(call, { reason, settled: state })),
    changedCalls: calls.map(({ request }) => ({
      id: request.id,
      state,
      deadlineAt: null,
      settledBy: SERVER,
      reason,
    })),
  };
}

/** Who settles calls that nobody answered. */
export const SERVER = "server";

/** The error is the call's result. `settled` tells apart what is a failure of the tool. */
function toEvents(
  { request, state, maxResultTokens, isEdited }: OpenCall,
  { reason, settled }: { reason: WithdrawalReason; settled: string },
): NewEvent[] {
  const error = `${WORDS[reason]} ${state === "pending" ? OUTCOME_UNKNOWN : NOT_STARTED}`;
  const internal = {
    settled,
    ...(maxResultTokens === null ? {} : { max_result_tokens: maxResultTokens }),
    ...(isEdited ? { edited: true } : {}),
  };
  return [toolCallCancelled(request, reason), { ...errorEvent(error, "server", request), internal }];
}
