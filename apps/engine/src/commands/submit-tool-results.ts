import { TandemError } from "../domain/errors.ts";
import {
  errorEvent,
  lateToolResult,
  type NewEvent,
  stateAwaitingToolResults,
  stateRunning,
  toolResult,
} from "../domain/events.ts";
import {
  judgeResults,
  type PostedResult,
  type Receipt,
  type Settlement,
  type Verdict,
} from "../domain/tool-results.ts";
import type { ToolRequest } from "../domain/tools.ts";
import { announce, type Engine } from "../engine.ts";
import type { SessionRow } from "../postgres/session-row.ts";
import {
  readSessionWithCalls,
  readToolCalls,
  type ToolCallRow,
  toToolRequest,
} from "../postgres/tool-calls.ts";
import {
  type HashedCall,
  type SessionChange,
  type SessionUpdate,
  updateSession,
  updateUnchanged,
} from "../postgres/update-session.ts";
import { changeSession, refuseFinished, refuseMissing } from "./change-session.ts";
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
 * Settles calls with posted results. The first valid answer to a call wins; the same again is a harmless repeat. When
 * the last pending call is settled, the next step is due, exactly once: whatever was decided on a state that has
 * changed meanwhile is not written, and is decided anew under the row's lock.
 *
 * @throws {TandemError} `session_not_found`, `session_finished`, `calls_unknown`, `result_conflict`, or
 *   `invalid_request` with the place of each fault; in all of these no call was settled
 */
export async function submitToolResults(engine: Engine, input: SubmittedResults): Promise<SubmitReceipt> {
  const { receipt, change } = (await submitUnlocked(engine, input)) ?? (await submitLocked(engine, input));
  if (change) await announce(engine, change);
  refuseUseless(receipt);
  return receipt;
}

/** A receipt, and what was written for it; nothing when nothing was new. */
interface Submitted {
  receipt: SubmitReceipt;
  change: SessionChange | null;
}

/** Two statements and no lock in between; null when somebody else was there meanwhile. */
async function submitUnlocked({ pool }: Engine, input: SubmittedResults): Promise<Submitted | null> {
  const found = await readSessionWithCalls(pool, input, namedBy(input.entries));
  if (!found) return refuseMissing(input);
  const { receipt, update } = decide(input, found.session, found.calls);
  if (!update) return { receipt, change: null };
  const written = await updateUnchanged(pool, found.session, update);
  return written && { receipt, change: written.change };
}

async function submitLocked(engine: Engine, input: SubmittedResults): Promise<Submitted> {
  return changeSession(engine, input, async (tx, session) => {
    const calls = await readToolCalls(tx, session.id, namedBy(input.entries));
    const { receipt, update } = decide(input, session, calls);
    return { receipt, change: update && (await updateSession(tx, session, update)) };
  });
}

function decide(
  { entries, locOf }: SubmittedResults,
  session: SessionRow,
  calls: readonly ToolCallRow[],
): { receipt: SubmitReceipt; update: SessionUpdate | null } {
  refuseFinished(session, "takes no more results");
  const verdict = judgeResults(entries, calls.map(toKnownCall), locOf);
  refuseFaults(verdict);
  const remaining = remainingCalls(calls, verdict);
  const update = toUpdate(session, verdict, remaining);
  const receipt = {
    receipts: verdict.receipts,
    pending: remaining.map((call) => call.id),
    resumed: update?.due === "now",
  };
  return { receipt, update };
}

/** A paused session takes results too; it goes on when it is resumed. */
function toUpdate(session: SessionRow, verdict: Verdict, remaining: ToolRequest[]): SessionUpdate | null {
  const events = toEvents(verdict, remaining);
  if (events.length === 0) return null;
  const answered = verdict.settlements.map(toHashedCall);
  const written = { events, answered, late: verdict.late.map(toHashedCall) };
  const isLast = answered.length > 0 && remaining.length === 0;
  if (!isLast) return { ...written, patch: {}, due: "unchanged" };
  const patch = moveActive(session, "last_call_settled");
  return { ...written, patch, due: session.status === "paused" ? "not" : "now" };
}

function toHashedCall({ call, contentHash }: Settlement): HashedCall {
  return { id: call.id, contentHash };
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
