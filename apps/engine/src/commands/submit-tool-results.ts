import { TandemError } from "../domain/errors.ts";
import { errorEvent, lateToolResult, type NewEvent, toolResult } from "../domain/events.ts";
import type { JsonObject } from "../domain/json.ts";
import type { OpenCall } from "../domain/plan-calls.ts";
import { isCut } from "../domain/tool-result-forms.ts";
import {
  judgeResults,
  type PostedResult,
  type Receipt,
  type Settlement,
  type Verdict,
} from "../domain/tool-results.ts";
import type { Engine } from "../engine.ts";
import type { HashedCall } from "../postgres/call-changes.ts";
import {
  pickOpen,
  readSessionWithCalls,
  readToolCalls,
  type SessionWithCalls,
  type ToolCallRow,
  toToolRequest,
} from "../postgres/tool-calls.ts";
import { type SessionUpdate, updateSession } from "../postgres/update-session.ts";
import { type AssignedChange, announceAssigned, assignPresumed, updateAndAssign } from "./assign-step.ts";
import { changeSession, refuseFinished, refuseMissing } from "./change-session.ts";
import { presumeCalls, presumeSession } from "./presume-calls.ts";
import { type SettledSession, toSettled } from "./settle-calls.ts";

/** The answer to a body of results: one receipt per entry, the calls that remain, and whether the session goes on. */
export interface SubmitReceipt {
  receipts: Receipt[];
  /** Calls that wait for a result. */
  pending: string[];
  /** Calls that wait for an approval; absent when none does. */
  pending_approvals?: string[];
  resumed: boolean;
}

/** A body of results, already checked for its form. `locOf` names an entry's place in it. */
export interface SubmittedResults {
  organizationId: string;
  sessionId: string;
  /** Whose key it came with. */
  userName: string;
  entries: PostedResult[];
  locOf: (index: number) => (string | number)[];
}

/**
 * Settles calls with posted results. The first valid answer to a call wins; the same again is a harmless repeat. When
 * the last pending call is settled, the next step is due, exactly once: whatever was decided on a state that has
 * changed meanwhile is not written, and is decided anew under the row's lock.
 *
 * @throws {TandemError} `session_not_found`, `session_finished`, `calls_unknown`, `result_conflict`,
 *   `approval_required`, or `invalid_request` with the place of each fault; in all of these no call was settled
 */
export async function submitToolResults(engine: Engine, input: SubmittedResults): Promise<SubmitReceipt> {
  const { receipt, written } = await submit(engine, input);
  if (written) await announceAssigned(engine, written);
  refuseUseless(receipt);
  return receipt;
}

/** A receipt, and what was written for it; nothing when nothing was new. */
interface Submitted {
  receipt: SubmitReceipt;
  written: AssignedChange | null;
}

async function submit(engine: Engine, input: SubmittedResults): Promise<Submitted> {
  const presumed = await submitPresumed(engine, input);
  if (presumed?.submitted) return presumed.submitted;
  return (
    (await submitUnlocked(engine, input, presumed?.found ?? null)) ?? (await submitLocked(engine, input))
  );
}

/**
 * One statement, for a body that says all that there is to know of its calls: that they are all that the session waits
 * for is presumed. Null when the body does not, or no worker is known that could be given the step.
 */
async function submitPresumed(
  engine: Engine,
  input: SubmittedResults,
): Promise<{ submitted: Submitted | null; found: SessionWithCalls | null } | null> {
  const calls = presumeCalls(input.entries);
  if (!calls) return null;
  const { receipt, update } = decide(input, presumeSession(input.sessionId), calls);
  const place = update && engine.queue.reserve({ isSparing: true });
  if (!place) return null;
  const requests = calls.map(toToolRequest);
  const outcome = await assignPresumed(engine, place, { ...input, calls: requests }, update);
  if (!outcome) return refuseMissing(input);
  const { written, found } = outcome;
  return { submitted: written && { receipt, written }, found };
}

/** Two statements and no lock in between; null when somebody else was there meanwhile. */
async function submitUnlocked(
  engine: Engine,
  input: SubmittedResults,
  known: SessionWithCalls | null,
): Promise<Submitted | null> {
  const found = known ?? (await readSessionWithCalls(engine.pool, input, namedBy(input.entries)));
  if (!found) return refuseMissing(input);
  const { receipt, update } = decide(input, found.session, found.calls);
  if (!update) return { receipt, written: null };
  const written = await updateAndAssign(engine, found.session, update, found);
  return written && { receipt, written };
}

async function submitLocked(engine: Engine, input: SubmittedResults): Promise<Submitted> {
  return changeSession(engine, input, async (tx, session) => {
    const calls = await readToolCalls(tx, session.id, namedBy(input.entries));
    const { receipt, update } = decide(input, session, calls);
    const change = update && (await updateSession(tx, session, update));
    return { receipt, written: change && { change, give: null } };
  });
}

function decide(
  { entries, locOf, userName }: SubmittedResults,
  session: SettledSession,
  calls: readonly ToolCallRow[],
): { receipt: SubmitReceipt; update: SessionUpdate | null } {
  refuseFinished(session, "takes no more results");
  const verdict = judgeResults(entries, calls.map(toKnownCall), locOf);
  refuseFaults(verdict);
  const remaining = remainingCalls(calls, verdict);
  const written = toUpdate(session, { verdict, remaining, calls });
  const update = written && { ...written, answeredBy: userName };
  const idsOf = (state: OpenCall["state"]) =>
    remaining.filter((call) => call.state === state).map(({ request }) => request.id);
  const approvals = idsOf("awaiting_approval");
  const receipt = {
    receipts: verdict.receipts,
    pending: idsOf("pending"),
    ...(approvals.length > 0 ? { pending_approvals: approvals } : {}),
    resumed: update?.due === "now",
  };
  return { receipt, update };
}

/** A paused session takes results too; it goes on when it is resumed. */
function toUpdate(
  session: SettledSession,
  settled: { verdict: Verdict; remaining: readonly OpenCall[]; calls: readonly ToolCallRow[] },
): SessionUpdate | null {
  const { verdict, remaining } = settled;
  const lateEvents = verdict.late.map(toLateEvent);
  const late = verdict.late.map(toHashedCall);
  const unchanged = { patch: {}, due: "unchanged" } as const;
  if (verdict.settlements.length === 0) {
    return lateEvents.length > 0 ? { ...unchanged, events: lateEvents, late } : null;
  }
  const rows = new Map(settled.calls.map((call) => [call.id, call]));
  const results = verdict.settlements.map(({ call, posted }) => toResultEvent(posted, rows.get(call.id)));
  const after = toSettled(session, remaining);
  const answered = verdict.settlements.map(toHashedCall);
  return { ...after, events: [...lateEvents, ...results, ...after.events], answered, late };
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

function remainingCalls(calls: readonly ToolCallRow[], verdict: Verdict): OpenCall[] {
  const settled = new Set(verdict.settlements.map(({ call }) => call.id));
  return pickOpen(calls.filter(({ id }) => !settled.has(id)));
}

function toLateEvent({ call, posted }: Settlement): NewEvent {
  return lateToolResult(call, posted.kind === "tool_result" ? posted.result : { error: posted.error });
}

/** What the model is told of a result follows from the event alone: how much of it, and with which arguments it ran. */
function toResultEvent(posted: PostedResult, row: ToolCallRow | undefined): NewEvent {
  if (!row) throw new Error("A result was settled for a call that was not read.");
  const call = toToolRequest(row);
  const maxTokens = row.maxResultTokens;
  const internal: JsonObject = {
    ...(maxTokens === null ? {} : { max_result_tokens: maxTokens }),
    ...(row.isEdited ? { edited: true } : {}),
  };
  const withInternal = (event: NewEvent) =>
    Object.keys(internal).length > 0 ? { ...event, internal } : event;
  if (posted.kind === "error_event") return withInternal(errorEvent(posted.error, posted.origin, call));
  const { result, output_artifact_path } = posted;
  const truncated = posted.truncated || (maxTokens !== null && isCut(result, maxTokens));
  return withInternal(toolResult({ tool_req: call, result, truncated, output_artifact_path }));
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
    ...(receipt.pending_approvals ? { pending_approvals: receipt.pending_approvals } : {}),
    resumed: receipt.resumed,
  };
  const pending =
    receipt.pending.length > 0 ? `Pending calls: ${receipt.pending.join(", ")}.` : "No call is pending.";
  if (statuses.every((status) => status === "unknown")) {
    throw new TandemError("calls_unknown", `No result fits a call of this session. ${pending}`, { extra });
  }
  if (statuses.includes("approval_required")) {
    const what = "The call waits for an approval; a result cannot stand in for it.";
    throw new TandemError("approval_required", `${what} ${pending}`, { extra });
  }
  const why = statuses.every((status) => status === "late")
    ? "The calls were withdrawn before, or their time was over; their results are kept, and not used."
    : "The calls were settled before, with other content, or withdrawn.";
  throw new TandemError("result_conflict", `${why} ${pending}`, { extra });
}
