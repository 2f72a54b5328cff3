// Tool calls as they are listed, and claims of them.
import { type Static, Type } from "@sinclair/typebox";
import { CALL_STATES } from "@tandem/engine/domain/call-states";
import { STORABLE_HINT, STORABLE_PATTERN } from "@tandem/engine/domain/text";
import type { CallRow } from "@tandem/engine/postgres/read-call-page";
import type { OfferedCallRow } from "@tandem/engine/postgres/read-offered-calls";
import { page, toTime } from "./sessions.ts";
import { PendingToolCall } from "./tool-results.ts";
import { anyJson, nullable, openObject, ref, stringEnum, timestamp } from "./typebox.ts";

export const ToolCallState = stringEnum(CALL_STATES, {
  $id: "ToolCallState",
  description:
    "`awaiting_approval` and `pending` are open, all others settled: `answered` by a result or an error of the caller, " +
    "`denied`, `timed_out`, `withdrawn` by the server, or `refused` before anybody was asked.",
});

export const CallApproval = Type.Object(
  {
    reason: nullable(Type.String(), { description: "Why the call needs approval." }),
    decision: nullable(Type.String(), { description: "Null while nobody has decided." }),
    message: nullable(Type.String(), { description: "What was said with the decision." }),
    decided_by: nullable(Type.String()),
    decided_at: nullable(timestamp()),
    asked_args: nullable(openObject("The arguments of the model, where the approval has changed them.")),
  },
  { $id: "CallApproval" },
);

export const StoredToolCall = Type.Object(
  {
    id: Type.String(),
    tool_name: Type.String(),
    args: openObject("The arguments, as the call runs with them."),
    step: Type.Integer({ description: "The step that asked for it, from 0." }),
    state: ref(ToolCallState),
    capability: Type.String(),
    created_at: timestamp(),
    settled_at: nullable(timestamp()),
    settled_by: nullable(Type.String(), { description: "Who settled it." }),
    reason: nullable(Type.String(), { description: "Why it came to no result." }),
    deadline: nullable(timestamp(), { description: "When it waits no longer; null: it waits on." }),
    claimant: nullable(Type.String(), { description: "Who has claimed it last." }),
    claimed_until: nullable(timestamp(), { description: "When that claim lapses, or has lapsed." }),
    approval: nullable(ref(CallApproval), { description: "Null for a call that needs none." }),
  },
  { $id: "StoredToolCall" },
);

export const StoredToolCallPage = page("Page_StoredToolCall_", ref(StoredToolCall));

export const OfferedToolCall = Type.Object(
  {
    session_id: Type.String({ format: "uuid" }),
    agent: Type.String({ description: "The name of the session's agent." }),
    call: ref(PendingToolCall),
    created_at: timestamp(),
  },
  { $id: "OfferedToolCall" },
);

export const OfferedToolCalls = Type.Object(
  { items: Type.Array(ref(OfferedToolCall)) },
  { $id: "OfferedToolCalls" },
);

/** A call of the feed in the wire's shape. */
export function toOfferedToolCall(row: OfferedCallRow): Static<typeof OfferedToolCall> {
  const { toolName, args, id, capability } = row;
  return {
    session_id: row.sessionId,
    agent: row.agentName,
    call: { tool_name: toolName, args, id, deadline: toTime(row.deadlineAt), capability },
    created_at: row.createdAt.toISOString(),
  };
}

/** The longest claim, in seconds. */
const MAX_LEASE_S = 3_600;

export const CallClaim = Type.Object(
  {
    claimant: Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: STORABLE_PATTERN,
      errorHint: STORABLE_HINT,
      description: "Who runs the call: the same name again prolongs the claim.",
    }),
    lease_s: Type.Number({
      minimum: 0,
      maximum: MAX_LEASE_S,
      description: "Seconds until the claim lapses. 0 gives the call back.",
    }),
  },
  { $id: "CallClaim", examples: [{ claimant: "worker-7", lease_s: 60 }] },
);

export const ClaimedCall = Type.Object(
  {
    claimed_until: nullable(timestamp(), { description: "When the claim lapses; null: it is given back." }),
    previous_claimant: nullable(Type.String(), {
      description: "Who claimed the call last before this, and has not given it back: the call may have run.",
    }),
  },
  { $id: "ClaimedCall" },
);

/** A call in the wire's shape. */
export function toStoredToolCall(row: CallRow): Static<typeof StoredToolCall> {
  return {
    id: row.id,
    tool_name: row.toolName,
    args: row.args,
    step: row.step,
    state: row.state,
    capability: row.capability,
    created_at: row.createdAt.toISOString(),
    settled_at: toTime(row.settledAt),
    settled_by: row.settledBy,
    reason: row.reason,
    deadline: toTime(row.deadlineAt),
    claimant: row.claimant,
    claimed_until: toTime(row.claimedUntil),
    approval: toApproval(row),
  };
}

function toApproval(row: CallRow): Static<typeof CallApproval> | null {
  if (row.approvalReason === null && row.decision === null) return null;
  return {
    reason: row.approvalReason,
    decision: row.decision,
    message: row.decisionMessage,
    decided_by: row.decidedBy,
    decided_at: toTime(row.decidedAt),
    asked_args: row.askedArgs,
  };
}

export const CallProgress = Type.Object(
  { progress: anyJson("What the handler says: any JSON.") },
  { $id: "CallProgress", examples: [{ progress: { done: 3, of: 10 } }] },
);

export const CallProgressReceipt = Type.Object(
  {
    deadline: nullable(timestamp(), { description: "The call's new deadline; null: it may wait for ever." }),
  },
  { $id: "CallProgressReceipt" },
);

export const toolCallSchemas = [
  CallProgress,
  CallProgressReceipt,
  ToolCallState,
  CallApproval,
  StoredToolCall,
  StoredToolCallPage,
  CallClaim,
  ClaimedCall,
  OfferedToolCall,
  OfferedToolCalls,
];
