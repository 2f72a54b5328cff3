// The calls of a turn, told from its events. Pure.
import type { SessionEvent, ToolRequest } from "./generated/types.gen.ts";
import { toCallKey } from "./pending-calls.ts";

/** What became of a call. */
export type ToolCallStatus = "pending" | "succeeded" | "failed" | "denied" | "withdrawn";

/** One call that the model made in a turn. */
export interface ToolCallSummary {
  id: string;
  name: string;
  args: Record<string, unknown>;
  /** `withdrawn`: cancelled, timed out or cut off by the session's end; `pending`: open when the wait ended. */
  status: ToolCallStatus;
  /**
   * In ms. Of a call that ran here: its handler's time. Of others: from the offer to the result, by the server's clock.
   * Null while there is none.
   */
  durationMs: number | null;
  /** What the model was told in place of a result. */
  error: string | null;
  /** Whether a handler of this process ran it. */
  executedHere: boolean;
}

interface Draft extends ToolCallSummary {
  offeredAt: string | null;
}

/** The calls in the order in which the model made them. `durationsMs` has those that ran here, by their keys. */
export function toToolCalls(
  events: readonly SessionEvent[],
  durationsMs: ReadonlyMap<string, number>,
): ToolCallSummary[] {
  const drafts = new Map<string, Draft>();
  for (const event of events) follow(drafts, event);
  return [...drafts].map(([key, { offeredAt: _, ...call }]) => {
    const durationMs = durationsMs.get(key);
    return durationMs === undefined ? call : { ...call, durationMs, executedHere: true };
  });
}

function follow(drafts: Map<string, Draft>, event: SessionEvent): void {
  const { timestamp } = event;
  switch (event.type) {
    case "AgentEvent": {
      const { data } = event;
      if (data.kind === "policy_event") for (const call of data.tool_reqs ?? []) draftOf(drafts, call);
      if (data.kind === "tool_result")
        settle(draftOf(drafts, data.tool_req), { status: "succeeded", timestamp });
      if (data.kind === "error_event" && data.tool_req) {
        const status = data.origin === "approval" ? "denied" : "failed";
        settle(draftOf(drafts, data.tool_req), { status, timestamp, error: data.error });
      }
      return;
    }
    case "ActiveStateChangeEvent":
      for (const call of event.data.pending_approvals ?? []) draftOf(drafts, call);
      for (const call of event.data.pending_tool_calls ?? []) {
        const draft = draftOf(drafts, call);
        draft.args = call.args;
        draft.offeredAt ??= timestamp;
      }
      return;
    case "ToolCallCancelledEvent":
      settle(draftOf(drafts, event.data.tool_req), {
        status: "withdrawn",
        timestamp,
        error: event.data.reason,
      });
  }
}

function draftOf(drafts: Map<string, Draft>, call: ToolRequest): Draft {
  const key = toCallKey(call);
  const draft = drafts.get(key) ?? {
    id: call.id ?? key,
    name: call.tool_name,
    args: call.args ?? {},
    status: "pending",
    durationMs: null,
    error: null,
    executedHere: false,
    offeredAt: null,
  };
  drafts.set(key, draft);
  return draft;
}

/** A withdrawn call has a synthetic result too, which tells more of why; it stays withdrawn. */
function settle(
  draft: Draft,
  { status, timestamp, error = null }: { status: ToolCallStatus; timestamp: string; error?: string | null },
): void {
  if (draft.status !== "withdrawn") draft.status = status;
  draft.error = error ?? draft.error;
  if (draft.offeredAt) draft.durationMs ??= Math.max(0, Date.parse(timestamp) - Date.parse(draft.offeredAt));
}
