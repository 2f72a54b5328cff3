import { type Static, Type } from "@sinclair/typebox";
import { type PostedResult, RECEIPT_STATUSES } from "@tandem/engine/domain/tool-results";
import { APPROVAL_REASONS, CAPABILITIES } from "@tandem/engine/domain/tools";
import { anyJson, nullable, openObject, ref, stringEnum, timestamp } from "./typebox.ts";

export const ToolRequest = Type.Object(
  {
    tool_name: Type.String(),
    args: Type.Optional(openObject("The arguments.")),
    id: Type.Optional(nullable(Type.String(), { description: "The call's id." })),
  },
  { $id: "ToolRequest" },
);

/** A call as the server says it: complete, with an id of its own. */
export const ToolCall = Type.Object(
  {
    tool_name: Type.String(),
    args: openObject("The arguments."),
    id: Type.String({ description: "The call's id: unique, and the same wherever the call shows." }),
  },
  { $id: "ToolCall" },
);

const openCall = {
  tool_name: Type.String(),
  args: openObject("The arguments."),
  id: Type.String({ description: "The call's id." }),
  // Absent in events that older versions wrote.
  deadline: Type.Optional(
    nullable(timestamp(), { description: "When the call waits no longer; null: it may wait for ever." }),
  ),
  capability: Type.Optional(stringEnum(CAPABILITIES)),
};

/** A call that waits for its result. */
export const PendingToolCall = Type.Object(openCall, { $id: "PendingToolCall" });

/** A call that waits for an approval. */
export const PendingApproval = Type.Object(
  {
    ...openCall,
    reason: stringEnum(APPROVAL_REASONS, {
      description:
        "Why it needs one: its `tool` says so, or the agent says so of tools that are an `actuator`, or of all (`agent`).",
    }),
  },
  { $id: "PendingApproval" },
);

export const ToolResultEvent = Type.Object(
  {
    kind: Type.Optional(Type.Literal("tool_result", { default: "tool_result" })),
    tool_req: ref(ToolRequest),
    result: Type.Optional(anyJson("What the tool returned: any JSON. Missing means null.")),
    truncated: Type.Optional(Type.Boolean({ default: false })),
    output_artifact_path: Type.Optional(nullable(Type.String())),
  },
  {
    $id: "ToolResultEvent",
    examples: [
      {
        kind: "tool_result",
        tool_req: { tool_name: "get_order_status", args: { order_id: "A-1001" }, id: "call_…" },
        result: { status: "shipped" },
      },
    ],
  },
);

export const ErrorEvent = Type.Object(
  {
    kind: Type.Optional(Type.Literal("error_event", { default: "error_event" })),
    error: Type.String({ description: "What went wrong, for the model." }),
    origin: Type.String({ description: "Where it went wrong; clients say `client`." }),
    tool_req: Type.Optional(nullable(ref(ToolRequest))),
  },
  { $id: "ErrorEvent" },
);

export const ToolResultBatch = Type.Object(
  {
    type: Type.Optional(Type.Literal("batch", { default: "batch" })),
    results: Type.Array(Type.Union([ref(ToolResultEvent), ref(ErrorEvent)]), {
      minItems: 1,
      maxItems: 1_000,
    }),
  },
  { $id: "ToolResultBatch", additionalProperties: false },
);

export const Receipt = Type.Object(
  {
    id: nullable(Type.String(), { description: "The call that the entry was for." }),
    status: stringEnum(RECEIPT_STATUSES, {
      description:
        "`accepted`: it settled its call. `duplicate`: the same answer was there. `conflict`: another answer was " +
        "there. `late`: the call had been withdrawn, or its time was over. `unknown`: no such call. " +
        "`approval_required`: the call waits for an approval.",
    }),
  },
  { $id: "Receipt" },
);

export const ToolResultsReceipt = Type.Object(
  {
    receipts: Type.Array(ref(Receipt), { description: "One per entry, in order." }),
    pending: Type.Array(Type.String(), { description: "Ids of the calls that still wait." }),
    pending_approvals: Type.Optional(
      Type.Array(Type.String(), { description: "Ids of the calls that wait for an approval, if any does." }),
    ),
    resumed: Type.Boolean({
      description: "Whether this body settled the last call, so that the session goes on.",
    }),
  },
  {
    $id: "ToolResultsReceipt",
    examples: [{ receipts: [{ id: "call_…", status: "accepted" }], pending: [], resumed: true }],
  },
);

type Entry = Static<typeof ToolResultEvent> | Static<typeof ErrorEvent>;

/** A posted entry with its defaults filled in; null for an error that names no call. */
export function toPostedResult(entry: Entry): PostedResult | null {
  if (!entry.tool_req) return null;
  const { tool_name, args = {}, id = null } = entry.tool_req;
  const tool_req = { tool_name, args, id };
  if (isErrorEvent(entry)) return { kind: "error_event", tool_req, error: entry.error, origin: entry.origin };
  const { result = null, truncated = false, output_artifact_path = null } = entry;
  return { kind: "tool_result", tool_req, result, truncated, output_artifact_path };
}

/** Without a `kind` an entry is what its fields say: a text as `error` and no `result` make an error. */
function isErrorEvent(entry: Entry): entry is Static<typeof ErrorEvent> {
  if (entry.kind !== undefined) return entry.kind === "error_event";
  return "error" in entry && typeof entry.error === "string" && "origin" in entry && !("result" in entry);
}

export const toolResultSchemas = [
  ToolRequest,
  ToolCall,
  PendingToolCall,
  PendingApproval,
  ToolResultEvent,
  ErrorEvent,
  ToolResultBatch,
  Receipt,
  ToolResultsReceipt,
];
