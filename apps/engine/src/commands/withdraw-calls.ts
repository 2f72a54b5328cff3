// Calls that get no result any more: each is settled by the server, with words that the model can understand.
import type pg from "pg";
import { errorEvent, type NewEvent, toolCallCancelled, type WithdrawalReason } from "../domain/events.ts";
import { readPendingCalls, toToolRequest, withdrawToolCalls } from "../postgres/tool-calls.ts";

/** What the model reads in place of a result that never came. */
const WORDS: Record<WithdrawalReason, string> = {
  cancelled: "The session was cancelled before a result came. Whether the tool ran is unknown.",
  force_answer: "An answer was asked for before a result came. Whether the tool ran is unknown.",
  max_time: "The session's time was over before a result came. Whether the tool ran is unknown.",
};

/** Settles every pending call of a locked session, and returns the events that say so. */
export async function withdrawCalls(
  tx: pg.ClientBase,
  sessionId: string,
  reason: WithdrawalReason,
): Promise<NewEvent[]> {
  const pending = await readPendingCalls(tx, sessionId);
  if (pending.length === 0) return [];
  await withdrawToolCalls(
    tx,
    sessionId,
    pending.map((call) => call.id),
  );
  return pending
    .map(toToolRequest)
    .flatMap((call) => [toolCallCancelled(call, reason), errorEvent(WORDS[reason], "server", call)]);
}
