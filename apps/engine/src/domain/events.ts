// The events of a session's history: their types and how each is made. An event is immutable once written.
import type { JsonObject, JsonValue } from "./json.ts";
import { toMessageContent, type UserMessage } from "./messages.ts";
import type { Metrics } from "./metrics.ts";
import type { ApprovalReason, Capability, Decision, ToolRequest } from "./tools.ts";

/** An event before it has an index and a time. `internal` is for the worker only and never shown. */
export interface NewEvent {
  type: string;
  data: JsonObject;
  internal?: JsonObject;
}

/** An event as it stands in the history. */
export interface StoredEvent {
  index: number;
  type: string;
  data: JsonObject;
  internal: JsonObject | null;
}

/** How good a final answer is, in the reference's words. */
export const ANSWER_OUTCOMES = ["success", "partial", "infeasible", "blocked"] as const;

/** An outcome of {@link ANSWER_OUTCOMES}. */
export type AnswerOutcome = (typeof ANSWER_OUTCOMES)[number];

/** Where a recoverable error comes from. `client` errors are results of the caller's tools. */
export type ErrorOrigin = "server" | "model" | "answer" | "agent" | "environment" | "approval";

/** The request was accepted. */
export const requestStart = (): NewEvent => ({ type: "RequestStartEvent", data: {} });

/** A session that waited for a slot got one. */
export const requestDispatched = (status: string): NewEvent => ({
  type: "RequestStartDispatchedEvent",
  data: { status },
});

/** A worker took the session up. */
export const agentStarted = (): NewEvent => ({ type: "AgentStartedEvent", data: {} });

/** A user's message entered the history. */
export const messageEvent = (message: UserMessage): NewEvent =>
  agentEvent({
    kind: "message_event",
    caller_id: message.caller_id,
    content: toMessageContent(message) as unknown as JsonValue,
  });

/** The session works. */
export const stateRunning = (): NewEvent => ({
  type: "ActiveStateChangeEvent",
  data: { state: "running", pending_tool_calls: null },
});

/** The session has answered and waits for a message. */
export const stateIdle = (): NewEvent => ({
  type: "ActiveStateChangeEvent",
  data: { state: "idle", pending_tool_calls: null },
});

/** The session was paused, or goes on. */
export const runStatus = (status: "paused" | "running"): NewEvent => ({
  type: "AgentRunStatusChangeEvent",
  data: { status },
});

/** Somebody steers the session. */
export const flowEvent = (flow: "pause" | "resume" | "force_answer", origin: "user" | "message"): NewEvent =>
  agentEvent({ kind: "flow_event", flow, origin });

/** A call that waits for its result. */
export interface PendingCall extends ToolRequest {
  /** RFC 3339; null when it may wait for ever. */
  deadline: string | null;
  capability: Capability;
}

/** A call that waits for an approval. */
export interface PendingApproval extends PendingCall {
  /** Why it needs one. */
  reason: ApprovalReason;
}

/** The calls that are open, in the order the model asked. */
export interface OpenCalls {
  results: readonly PendingCall[];
  approvals: readonly PendingApproval[];
}

/** The session waits for its caller: for results while any call waits for one, else for approvals. */
export const stateAwaiting = ({ results, approvals }: OpenCalls): NewEvent => ({
  type: "ActiveStateChangeEvent",
  data: {
    state: results.length > 0 ? "awaiting_tool_results" : "awaiting_approval",
    pending_tool_calls: results.map((call) => ({ ...call })),
    pending_approvals: approvals.map((call) => ({ ...call })),
  },
});

/** What the model said in one step. */
export interface PolicyData {
  content: string | null;
  reasoning_content: string | null;
  tool_reqs: ToolRequest[];
  validation_errors: string[];
}

/** One reply of the model; `internal` holds it as the provider needs it back. */
export const policyEvent = (data: PolicyData, internal: JsonObject): NewEvent => ({
  ...agentEvent({
    kind: "policy_event",
    reasoning_content: data.reasoning_content,
    content: data.content,
    tool_reqs: data.tool_reqs.map((call) => ({ ...call })),
    validation_errors: data.validation_errors,
  }),
  internal,
});

/** Steps and tokens so far. */
export const metricsUpdate = (metrics: Metrics): NewEvent => ({
  type: "MetricsUpdateEvent",
  data: { metrics: metrics as unknown as JsonObject },
});

/** What a caller says of a tool's run besides the value. */
export interface ToolResultData {
  tool_req: ToolRequest;
  result: JsonValue;
  truncated: boolean;
  output_artifact_path: string | null;
}

/** A call came back with a value. */
export const toolResult = (data: ToolResultData): NewEvent =>
  agentEvent({
    kind: "tool_result",
    tool_req: { ...data.tool_req },
    result: data.result,
    truncated: data.truncated,
    output_artifact_path: data.output_artifact_path,
  });

/** A result that came after its call had been withdrawn. Kept for the record; the model does not see it. */
export const lateToolResult = (toolReq: ToolRequest, result: JsonValue): NewEvent => ({
  type: "LateToolResultEvent",
  data: { tool_req: { ...toolReq }, result },
});

/** Why the server settled a call itself. */
export type WithdrawalReason = "cancelled" | "force_answer" | "max_time" | "timed_out" | "session_failed";

/** A call that will not be used any more: its handler can stop. */
export const toolCallCancelled = (toolReq: ToolRequest, reason: WithdrawalReason): NewEvent => ({
  type: "ToolCallCancelledEvent",
  data: { tool_req: { ...toolReq }, reason },
});

/** A caller's handler told how far it is. */
export const toolCallProgress = (
  toolReq: ToolRequest,
  progress: JsonValue,
  deadline: string | null,
): NewEvent => ({ type: "ToolCallProgressEvent", data: { tool_req: { ...toolReq }, progress, deadline } });

/** Somebody decided on a call that needed approval, or nobody did in time. */
export interface ApprovalData {
  tool_req: ToolRequest;
  decision: Decision;
  message: string | null;
  /** Whether it counts for all later calls of the tool too. */
  remember: boolean;
  /** Whether the arguments are others than those the model gave. */
  edited: boolean;
  /** The user whose key it came with; null when the time was over. */
  decided_by: string | null;
}

/** A decision on a call. */
export const toolApproval = (data: ApprovalData): NewEvent => ({
  type: "ToolApprovalEvent",
  data: { ...data, tool_req: { ...data.tool_req } },
});

/** A call that was not approved: its result, for the model. */
export const denial = (toolReq: ToolRequest, message: string | null): NewEvent =>
  errorEvent(
    `The call was denied, and not run${message === null || message.trim() === "" ? "." : `: ${message}`}`,
    "approval",
    toolReq,
  );

/** An error that the session survives. With `toolReq` it is the result of that call. */
export const errorEvent = (error: string, origin: ErrorOrigin | string, toolReq?: ToolRequest): NewEvent =>
  agentEvent({ kind: "error_event", error, origin, tool_req: toolReq ? { ...toolReq } : null });

/** The final answer. */
export const answerEvent = (answer: JsonValue, outcome: AnswerOutcome | null): NewEvent =>
  agentEvent({ kind: "answer_event", answer, outcome });

/** The end of a run that did not fail. */
export const agentCompletion = (reason: "finished" | "stopped" | "timed_out"): NewEvent => ({
  type: "AgentCompletionEvent",
  data: { reason },
});

/** The end of a run that failed. */
export const agentError = (error: string, info: JsonObject): NewEvent => ({
  type: "AgentErrorEvent",
  data: { error, trace: "", info },
});

function agentEvent(data: JsonObject): NewEvent {
  return { type: "AgentEvent", data };
}
