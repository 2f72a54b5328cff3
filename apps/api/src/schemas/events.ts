// The events of a history, as the reference has them, and ours. Replies carry them as they were stored.
import { type TSchema, Type } from "@sinclair/typebox";
import { ANSWER_OUTCOMES } from "@tandem/engine/domain/events";
import { DECISIONS } from "@tandem/engine/domain/tools";
import { ImageContent } from "./messages.ts";
import { PendingApproval, PendingToolCall, ToolCall } from "./tool-results.ts";
import { anyJson, nullable, openObject, ref, stringEnum, timestamp } from "./typebox.ts";

const open = { additionalProperties: true } as const;

export const AnswerOutcome = stringEnum(ANSWER_OUTCOMES, {
  $id: "AnswerOutcome",
  description: "How good the answer is; set with the final answer.",
});

const tokens = {
  name: Type.String({ description: "The model." }),
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer({ description: "Reasoning tokens included." }),
  reasoning_tokens: Type.Integer(),
};

export const ModelUsage = Type.Object(tokens, { $id: "ModelUsage" });
export const ModelCost = Type.Object(tokens, { $id: "ModelCost", ...open });
export const Metrics = Type.Object(
  { steps: Type.Integer(), cost_per_model: Type.Array(ref(ModelCost)) },
  { $id: "Metrics", ...open },
);

export const PolicyEvent = Type.Object(
  {
    kind: Type.Literal("policy_event"),
    reasoning_content: nullable(Type.String()),
    content: nullable(Type.String(), { description: "What the model said." }),
    tool_reqs: Type.Array(ref(ToolCall), { description: "Every call that the model asked for." }),
    validation_errors: Type.Array(Type.String(), { description: "What was wrong with the reply." }),
  },
  { $id: "PolicyEvent" },
);

/** A posted result in the history: its defaults are filled in. */
export const ToolResultRecord = Type.Object(
  {
    kind: Type.Literal("tool_result"),
    tool_req: ref(ToolCall),
    result: anyJson("What the tool returned."),
    truncated: Type.Boolean(),
    output_artifact_path: nullable(Type.String()),
  },
  { $id: "ToolResultRecord" },
);

/** An error in the history that the session survived. With a `tool_req` it is the result of that call. */
export const ErrorRecord = Type.Object(
  {
    kind: Type.Literal("error_event"),
    error: Type.String(),
    origin: Type.String({
      description: "Where it comes from: `client`, `server`, `model`, `answer`, `agent`, …",
    }),
    tool_req: nullable(ref(ToolCall)),
  },
  { $id: "ErrorRecord" },
);

export const AnswerEvent = Type.Object(
  {
    kind: Type.Literal("answer_event"),
    answer: Type.Union([Type.String(), openObject("A structured answer.")]),
    outcome: nullable(ref(AnswerOutcome)),
  },
  { $id: "AnswerEvent" },
);
export const MessageEvent = Type.Object(
  {
    kind: Type.Literal("message_event"),
    caller_id: Type.String(),
    content: Type.Array(Type.Union([Type.String(), ref(ImageContent)])),
  },
  { $id: "MessageEvent" },
);

export const FlowEvent = Type.Object(
  {
    kind: Type.Literal("flow_event"),
    flow: Type.String({ description: "`pause`, `resume` or `force_answer`." }),
    origin: Type.String({ description: "`user`, or `message` when a message resumed the session." }),
  },
  { $id: "FlowEvent" },
);

export const AgentEvent = typed(
  "AgentEvent",
  Type.Union([
    ref(PolicyEvent),
    ref(ToolResultRecord),
    ref(AnswerEvent),
    ref(ErrorRecord),
    ref(MessageEvent),
    ref(FlowEvent),
  ]),
  "What the agent, its tools and its user said. `data.kind` tells them apart.",
);

export const RequestStartEvent = typed(
  "RequestStartEvent",
  Type.Object({}, open),
  "The request was accepted.",
);
export const RequestStartDispatchedEvent = typed(
  "RequestStartDispatchedEvent",
  Type.Object({ status: Type.String() }, open),
  "A session that waited for a slot got one.",
);
export const AgentStartedEvent = typed(
  "AgentStartedEvent",
  Type.Object({}, open),
  "A worker took the session up.",
);
export const ActiveStateChangeEvent = typed(
  "ActiveStateChangeEvent",
  Type.Object(
    {
      state: stringEnum(["running", "idle", "awaiting_tool_results", "awaiting_approval"] as const),
      pending_tool_calls: Type.Optional(
        nullable(Type.Array(ref(PendingToolCall)), { description: "Every call that waits for the caller." }),
      ),
      pending_approvals: Type.Optional(
        Type.Array(ref(PendingApproval), { description: "Every call that waits for an approval." }),
      ),
    },
    open,
  ),
  "The session's state changed, or the list of its pending calls did.",
);
export const AgentRunStatusChangeEvent = typed(
  "AgentRunStatusChangeEvent",
  Type.Object({ status: stringEnum(["running", "paused"] as const) }, open),
  "The session was paused, or goes on.",
);
export const MetricsUpdateEvent = typed(
  "MetricsUpdateEvent",
  Type.Object({ metrics: ref(Metrics) }, open),
  "Steps and tokens so far.",
);
export const AgentCompletionEvent = typed(
  "AgentCompletionEvent",
  Type.Object({ reason: stringEnum(["finished", "stopped", "timed_out"] as const) }, open),
  "The run ended.",
);
export const AgentErrorEvent = typed(
  "AgentErrorEvent",
  Type.Object(
    {
      error: Type.String(),
      trace: Type.Optional(Type.String()),
      info: Type.Optional(nullable(openObject("The error's code and reason."))),
    },
    open,
  ),
  "The run failed.",
);
export const LateToolResultEvent = typed(
  "LateToolResultEvent",
  Type.Object({ tool_req: ref(ToolCall), result: anyJson("The result.") }, open),
  "A result that came after its call had been withdrawn. The model does not see it.",
);
export const ToolCallCancelledEvent = typed(
  "ToolCallCancelledEvent",
  Type.Object(
    {
      tool_req: ref(ToolCall),
      reason: Type.String({
        description: "`cancelled`, `force_answer`, `max_time`, `timed_out` or `session_failed`.",
      }),
    },
    open,
  ),
  "A call was withdrawn: its handler can stop.",
);
export const ToolCallProgressEvent = typed(
  "ToolCallProgressEvent",
  Type.Object(
    {
      tool_req: ref(ToolCall),
      progress: anyJson("What the caller's handler said."),
      deadline: nullable(timestamp(), { description: "The call's new deadline." }),
    },
    open,
  ),
  "A caller's handler told how far it is.",
);
export const ToolApprovalEvent = typed(
  "ToolApprovalEvent",
  Type.Object(
    {
      tool_req: ref(ToolCall),
      decision: stringEnum(DECISIONS),
      message: nullable(Type.String()),
      remember: Type.Boolean({ description: "Whether it counts for all later calls of the tool." }),
      edited: Type.Boolean({ description: "Whether the arguments are others than those the model gave." }),
      decided_by: nullable(Type.String(), { description: "Null when nobody decided in time." }),
    },
    open,
  ),
  "It was decided whether a call may run.",
);

const typedEvents = [
  RequestStartEvent,
  RequestStartDispatchedEvent,
  AgentStartedEvent,
  AgentEvent,
  ActiveStateChangeEvent,
  AgentRunStatusChangeEvent,
  MetricsUpdateEvent,
  AgentCompletionEvent,
  AgentErrorEvent,
  LateToolResultEvent,
  ToolCallCancelledEvent,
  ToolCallProgressEvent,
  ToolApprovalEvent,
];

export const SessionEvent = Type.Union(
  typedEvents.map((schema) => ref(schema)),
  {
    $id: "SessionEvent",
    description: "One line of a session's history. `type` tells them apart.",
  },
);

function typed<T extends TSchema>(type: string, data: T, description: string) {
  return Type.Object(
    { timestamp: timestamp(), type: Type.Literal(type), data },
    { $id: type, description, ...open },
  );
}

export const eventSchemas = [
  AnswerOutcome,
  ModelUsage,
  ModelCost,
  Metrics,
  PolicyEvent,
  ToolResultRecord,
  ErrorRecord,
  AnswerEvent,
  MessageEvent,
  FlowEvent,
  ...typedEvents,
  SessionEvent,
];
