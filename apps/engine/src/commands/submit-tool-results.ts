import type pg from "pg";
import { TandemError } from "../domain/errors.ts";
import {
  errorEvent,
  lateToolResult,
  type NewEvent,
  stateAwaitingToolResults,
  stateRunning,
  toolResult,
} from "../domain/events.ts";
import { judgeResults, type PostedResult, type Receipt, type Verdict } from "../domain/tool-results.ts";
import type { ToolRequest } from "../domain/tools.ts";
import { announce, type Engine } from "../engine.ts";
import type { SessionRow } from "../postgres/session-row.ts";
import {
  keepLateHash,
  readToolCalls,
  settleToolCalls,
  type ToolCallRow,
  toToolRequest,
} from "../postgres/tool-calls.ts";
import { type SessionUpdate, updateSession } from "../postgres/update-session.ts";
import { changeSession, refuseFinished } from "./change-session.ts";
import { moveActive } from "./pause-session.ts";

/** The answer to a body of results: one receipt per entry, the calls that remain, and whether the session goes on. */
export interface SubmitReceipt {
  receipts: Receipt[];
  pending: string[];
  resumed: boolean;
}

/** A body of results, already checked for its form. `locOf` names an entry's place in it. */
export interface SubmittedResults {
  organizationId: string;
  sessionId: string;
  entries: PostedResult[];
  locOf: (index: number) => (string | number)[];
}

/**
 * Settles calls with posted results, in one transaction. The first valid answer to a call wins; the same again is a
 * harmless repeat. When the last pending call is settled, the next step is due, exactly once: the row is locked, so
 * one poster alone sees the list become empty.
 *
 * @throws {TandemError} `session_not_found`, `session_finished`, `calls_unknown`, `result_conflict`, or
 *   `invalid_request` with the place of each fault; in all of these no call was settled
 */
export async function submitToolResults(engine: Engine, input: SubmittedResults): Promise<SubmitReceipt> {
  const { receipt, change } = await changeSession(engine, input, async (tx, session) => {
    refuseFinished(session, "takes no more results");
    const calls = await readToolCalls(tx, session.id, namedBy(input.entries));
    const verdict = judgeResults(input.entries, calls.map(toKnownCall), input.locOf);
    const remaining = remainingCalls(calls, verdict);
    refuseFaults(verdict);
    await settle(tx, session.id, verdict);
    const isLast = verdict.settlements.length > 0 && remaining.length === 0;
    const update = toUpdate(session, { events: toEvents(verdict, remaining), isLast });
    return {
      receipt: {
        receipts: verdict.receipts,
        pending: remaining.map((call) => call.id),
        resumed: update?.due === "now",
      },
      change: update && (await updateSession(tx, session, update)),
    };
  });
  if (change) await announce(engine, change);
  refuseUseless(receipt);
  return receipt;
}

async function settle(tx: pg.ClientBase, sessionId: string, verdict: Verdict): Promise<void> {
  if (verdict.settlements.length > 0) {
    const settled = verdict.settlements.map(({ call, contentHash }) => ({ id: call.id, contentHash }));
    await settleToolCalls(tx, sessionId, "answered", settled);
  }
  for (const { call, contentHash } of verdict.late) await keepLateHash(tx, sessionId, call.id, contentHash);
}

/** A paused session takes results too; it goes on when it is resumed. */
function toUpdate(
  session: SessionRow,
  { events, isLast }: { events: NewEvent[]; isLast: boolean },
): SessionUpdate | null {
  if (events.length === 0) return null;
  if (!isLast) return { patch: {}, events, due: "unchanged" };
  const patch = moveActive(session, "last_call_settled");
  return { patch, events, due: session.status === "paused" ? "not" : "now" };
}

function namedBy(entries: readonly PostedResult[]): { ids: string[]; toolNames: string[] } {
  return {
    ids: entries.flatMap((entry) => entry.tool_req.id ?? []).filter((id) => !id.includes("\u0000")),
    toolNames: entries
      .filter((entry) => entry.tool_req.id === null && !entry.tool_req.tool_name.includes("\u0000"))
      .map((entry) => entry.tool_req.tool_name),
  };
}

function toKnownCall(call: ToolCallRow) {
  return { request: toToolRequest(call), state: call.state, contentHash: call.contentHash };
}

function remainingCalls(calls: readonly ToolCallRow[], verdict: Verdict): ToolRequest[] {
  const settled = new Set(verdict.settlements.map(({ call }) => call.id));
  return calls.filter((call) => call.state === "pending" && !settled.has(call.id)).map(toToolRequest);
}

function toEvents(verdict: Verdict, remaining: ToolRequest[]): NewEvent[] {
  const late = verdict.late.map(({ call, posted }) =>
    lateToolResult(call, posted.kind === "tool_result" ? posted.result : { error: posted.error }),
  );
  if (verdict.settlements.length === 0) return late;
  const results = verdict.settlements.map(({ call, posted }) => toResultEvent(call, posted));
  return [...late, ...results, remaining.length > 0 ? stateAwaitingToolResults(remaining) : stateRunning()];
}

function toResultEvent(call: ToolRequest, posted: PostedResult): NewEvent {
  if (posted.kind === "error_event") return errorEvent(posted.error, posted.origin, call);
  const { result, truncated, output_artifact_path } = posted;
  return toolResult({ tool_req: call, result, truncated, output_artifact_path });
}

function refuseFaults(verdict: Verdict): void {
  const [first] = verdict.faults;
  if (first) throw new TandemError("invalid_request", first.msg, { faults: verdict.faults });
}

/** A body of which nothing was accepted or known is an error, with the receipts that say why. */
function refuseUseless(receipt: SubmitReceipt): void {
  const statuses = receipt.receipts.map((entry) => entry.status);
  if (statuses.some((status) => status === "accepted" || status === "duplicate")) return;
  const extra = {
    receipts: receipt.receipts.map((entry) => ({ ...entry })),
    pending: receipt.pending,
    resumed: receipt.resumed,
  };
  const pending =
    receipt.pending.length > 0 ? `Pending calls: ${receipt.pending.join(", ")}.` : "No call is pending.";
  if (statuses.every((status) => status === "unknown")) {
    throw new TandemError("calls_unknown", `No result fits a call of this session. ${pending}`, { extra });
  }
  const why = statuses.every((status) => status === "late")
    ? "The calls were withdrawn before; their results are kept, and not used."
    : "The calls were settled before, with other content, or withdrawn.";
  throw new TandemError("result_conflict", `${why} ${pending}`, { extra });
}
