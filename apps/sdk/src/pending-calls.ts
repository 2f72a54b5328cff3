// Which calls wait for this side, told from a session's events. Pure.
import type {
  AgentEvent,
  ErrorRecord,
  PendingApproval,
  SessionEvent,
  ToolRequest,
  ToolResultRecord,
} from "./generated/types.gen.ts";

/**
 * The pending calls after an event: every `ActiveStateChangeEvent` carries the whole list; what settles a call drops
 * it.
 */
export function pendingAfter(pending: readonly ToolRequest[], event: SessionEvent): readonly ToolRequest[] {
  switch (event.type) {
    case "ActiveStateChangeEvent":
      return event.data.state === "awaiting_tool_results" ? (event.data.pending_tool_calls ?? []) : [];
    case "AgentEvent":
      return isResult(event.data) ? without(pending, event.data.tool_req) : pending;
    case "ToolCallCancelledEvent":
      return without(pending, event.data.tool_req);
    case "AgentCompletionEvent":
    case "AgentErrorEvent":
      return [];
    default:
      return pending;
  }
}

/** The calls that wait for an approval after an event, by the same rules. */
export function approvalsAfter(
  approvals: readonly PendingApproval[],
  event: SessionEvent,
): readonly PendingApproval[] {
  switch (event.type) {
    case "ActiveStateChangeEvent":
      return event.data.pending_approvals ?? [];
    case "ToolApprovalEvent":
      return without(approvals, event.data.tool_req);
    default:
      return pendingAfter(approvals, event) as PendingApproval[];
  }
}

function isResult(data: AgentEvent["data"]): data is ToolResultRecord | ErrorRecord {
  return data.kind === "tool_result" || data.kind === "error_event";
}

/** An error may be about no call at all. */
function without<Call extends ToolRequest>(
  pending: readonly Call[],
  settled: ToolRequest | null | undefined,
): readonly Call[] {
  if (!settled) return pending;
  const key = toCallKey(settled);
  return pending.filter((call) => toCallKey(call) !== key);
}

/** What tells calls apart: the id, or without one what is called with what. */
export function toCallKey({ id, tool_name, args }: ToolRequest): string {
  return id ?? JSON.stringify([tool_name, args ?? {}]);
}
