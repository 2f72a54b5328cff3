// Which calls wait for this side, told from a session's events. Pure.
import type { SessionEvent, ToolRequest } from "./generated/types.gen.ts";

/** The pending calls after an event: every `ActiveStateChangeEvent` carries the whole list. */
export function pendingAfter(pending: readonly ToolRequest[], event: SessionEvent): readonly ToolRequest[] {
  switch (event.type) {
    case "ActiveStateChangeEvent":
      return event.data.state === "awaiting_tool_results" ? (event.data.pending_tool_calls ?? []) : [];
    case "ToolCallCancelledEvent": {
      const withdrawn = toCallKey(event.data.tool_req);
      return pending.filter((call) => toCallKey(call) !== withdrawn);
    }
    case "AgentCompletionEvent":
    case "AgentErrorEvent":
      return [];
    default:
      return pending;
  }
}

/** What tells calls apart: the id, or without one what is called with what. */
export function toCallKey({ id, tool_name, args }: ToolRequest): string {
  return id ?? JSON.stringify([tool_name, args ?? {}]);
}
