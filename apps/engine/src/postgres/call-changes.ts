// What a change of a session does to its calls: parts of the one statement that writes it.
import type { CallState } from "../domain/call-states.ts";
import { type JsonObject, stringifyJson } from "../domain/json.ts";
import type { CallTerms } from "../domain/plan-calls.ts";
import { toText } from "../domain/text.ts";
import type { Decision, ToolRequest } from "../domain/tools.ts";
import type { AddValue } from "./prepared.ts";

/** A call as it is first written. */
export interface NewCall extends Partial<CallTerms> {
  request: ToolRequest;
  /** Its place among the calls of its step. */
  position: number;
  state: CallState;
  deadlineAt?: Date | null;
  /** Who settled it at once, and why; absent while it is open. */
  settledBy?: string;
  reason?: string;
}

/** A call, and a hash of what was answered to it. */
export interface HashedCall {
  id: string;
  contentHash: Buffer;
}

/** What becomes of an open call, but for an answer. */
export interface CallChange {
  id: string;
  state: CallState;
  deadlineAt: Date | null;
  /** Other arguments than those the model gave. */
  args?: JsonObject;
  decision?: Decision;
  /** Null when nobody decided in time. */
  decisionHash?: Buffer | null;
  decisionMessage?: string | null;
  decidedBy?: string;
  settledBy?: string;
  reason?: string;
  /** Its tool, when the call is offered from now on: those who serve the tool are told. */
  offeredTool?: string;
}

/** What an update does to calls. */
export interface CallUpdates {
  calls?: readonly NewCall[];
  answered?: readonly HashedCall[];
  answeredBy?: string;
  late?: readonly HashedCall[];
  changedCalls?: readonly CallChange[];
}

/** Parts of a statement, each `name AS (…)`. The session is the row of `target`. */
export function toCallParts(update: CallUpdates, step: number, add: AddValue): string[] {
  const { calls, answered, answeredBy, late, changedCalls } = update;
  return [
    ...(calls?.length ? [`asked AS (${toInsert(calls, step, add)})`] : []),
    ...(answered?.length ? [`answered AS (${toAnswers(answered, answeredBy, add)})`] : []),
    ...(late?.length ? [`late AS (${toLateHashes(late, add)})`] : []),
    ...(changedCalls?.length ? [`changed AS (${toChanges(changedCalls, add)})`] : []),
  ];
}

/** The tools of calls that wait for a result from now on. */
export function toOfferedTools({ calls = [], changedCalls = [] }: CallUpdates): string[] {
  const asked = calls.flatMap(({ state, request }) => (state === "pending" ? [request.tool_name] : []));
  const allowed = changedCalls.flatMap(({ offeredTool }) => offeredTool ?? []);
  return [...new Set([...asked, ...allowed])];
}

/** A list of columns that are unnested together: names, the types of their values, and the values. */
type Columns<Row> = [name: string, type: string, value: (row: Row) => unknown][];

const NEW_CALL: Columns<NewCall> = [
  ["id", "text", ({ request }) => request.id],
  ["tool_name", "text", ({ request }) => toText(request.tool_name)],
  ["args", "text", ({ request }) => stringifyJson(request.args)],
  ["position", "int", ({ position }) => position],
  ["state", "text", ({ state }) => state],
  ["capability", "text", ({ capability = "read" }) => capability],
  ["timeout_ms", "float8", ({ timeoutMs = null }) => timeoutMs],
  ["on_timeout", "text", ({ onTimeout = "error" }) => onTimeout],
  ["max_result_tokens", "int", ({ maxResultTokens = null }) => maxResultTokens],
  ["deadline_at", "timestamptz", ({ deadlineAt = null }) => deadlineAt],
  ["approval_reason", "text", ({ approvalReason = null }) => approvalReason],
  ["on_approval_timeout", "text", ({ onApprovalTimeout = "deny" }) => onApprovalTimeout],
  ["settled_by", "text", ({ settledBy = null }) => settledBy],
  ["reason", "text", ({ reason }) => (reason === undefined ? null : toText(reason))],
];

function toInsert(calls: readonly NewCall[], step: number, add: AddValue): string {
  const stored = NEW_CALL.map(([name]) => (name === "args" ? "args::json" : name));
  return `INSERT INTO tool_calls
           (session_id, organization_id, step, settled_at, ${NEW_CALL.map(([name]) => name).join(", ")})
    SELECT target_id, target_organization_id, ${add(step)}::int, CASE WHEN settled_by IS NOT NULL THEN clock_timestamp() END,
           ${stored.join(", ")}
      FROM target, ${unnest(calls, NEW_CALL, "call", add)}`;
}

function toAnswers(calls: readonly HashedCall[], by: string | undefined, add: AddValue): string {
  return `UPDATE tool_calls
      SET state = 'answered', content_hash = answer.content_hash, settled_at = clock_timestamp(),
          settled_by = ${add(by ?? null)}::text, deadline_at = NULL
     FROM target, ${unnest(calls, HASHED_CALL, "answer", add)}
    WHERE session_id = target_id AND tool_calls.id = answer.id AND state = 'pending'`;
}

function toLateHashes(calls: readonly HashedCall[], add: AddValue): string {
  return `UPDATE tool_calls SET content_hash = result.content_hash
     FROM target, ${unnest(calls, HASHED_CALL, "result", add)}
    WHERE session_id = target_id AND tool_calls.id = result.id`;
}

const HASHED_CALL: Columns<HashedCall> = [
  ["id", "text", ({ id }) => id],
  ["content_hash", "bytea", ({ contentHash }) => contentHash],
];

const CHANGE: Columns<CallChange> = [
  ["id", "text", ({ id }) => id],
  ["state", "text", ({ state }) => state],
  ["deadline_at", "timestamptz", ({ deadlineAt }) => deadlineAt],
  ["args", "text", ({ args }) => (args === undefined ? null : stringifyJson(args))],
  ["decision", "text", ({ decision = null }) => decision],
  ["decision_hash", "bytea", ({ decisionHash = null }) => decisionHash],
  ["decision_message", "text", ({ decisionMessage }) => (decisionMessage ? toText(decisionMessage) : null)],
  ["decided_by", "text", ({ decidedBy = null }) => decidedBy],
  ["settled_by", "text", ({ settledBy = null }) => settledBy],
  ["reason", "text", ({ reason }) => (reason === undefined ? null : toText(reason))],
];

function toChanges(changes: readonly CallChange[], add: AddValue): string {
  return `UPDATE tool_calls
      SET state = change.state, deadline_at = change.deadline_at,
          asked_args = CASE WHEN change.args IS NULL THEN asked_args ELSE tool_calls.args END,
          args = coalesce(change.args::json, tool_calls.args),
          decision = coalesce(change.decision, tool_calls.decision),
          decision_hash = coalesce(change.decision_hash, tool_calls.decision_hash),
          decision_message = coalesce(change.decision_message, tool_calls.decision_message),
          decided_by = coalesce(change.decided_by, tool_calls.decided_by),
          decided_at = CASE WHEN change.decision IS NULL THEN decided_at ELSE clock_timestamp() END,
          settled_by = change.settled_by, reason = change.reason,
          settled_at = CASE WHEN change.settled_by IS NULL THEN NULL ELSE clock_timestamp() END
     FROM target, ${unnest(changes, CHANGE, "change", add)}
    WHERE session_id = target_id AND tool_calls.id = change.id
      AND tool_calls.state IN ('pending', 'awaiting_approval')`;
}

function unnest<Row>(rows: readonly Row[], columns: Columns<Row>, alias: string, add: AddValue): string {
  const arrays = columns.map(([, type, value]) => `${add(rows.map(value))}::${type}[]`);
  return `unnest(${arrays.join(", ")}) AS ${alias} (${columns.map(([name]) => name).join(", ")})`;
}
