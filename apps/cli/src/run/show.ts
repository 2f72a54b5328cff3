// What a run shows while it goes: events, and the model's text as it is written.
import type { SessionEvent, StreamItem } from "@tandem/sdk";
import { printJson, writeResult } from "../terminal/output.ts";
import type { Paint } from "../terminal/paint.ts";
import type { StatusLine } from "../terminal/status-line.ts";
import { createTeller } from "./tell-event.ts";
import { createTextPieces } from "./text-pieces.ts";

/** Shows a run. */
export interface Show {
  item(item: StreamItem): void;
  /** The text of the last step, if a person has seen all of it on standard output; else null. */
  shownText(): string | null;
}

/** Lines of JSON for machines; for people events, and text where standard output is a terminal. */
export function createShow({ isJson, paint }: { isJson: boolean; paint: Paint }, status: StatusLine): Show {
  if (isJson) return { item: (item) => printJson(item), shownText: () => null };
  const teller = createTeller(paint, { showsAnswer: false });
  const pieces = createTextPieces();
  const showsText = Boolean(process.stdout.isTTY);
  status.set("waiting for a worker");
  return {
    item(item) {
      if (item.type === "delta") {
        const piece = pieces.take(item);
        if (!showsText) return;
        if (piece.isAnew) status.makeRoom();
        status.append(piece.text, writeResult);
        return;
      }
      // What the model said before its calls was seen as it came.
      const seen = showsText && isSaid(item) && pieces.whole() === item.data.content;
      status.write(teller.tell(seen ? { ...item, data: { ...item.data, content: null } } : item));
      if (item.type === "ActiveStateChangeEvent") status.set(toStatus(item.data.state));
      if (item.type === "AgentCompletionEvent" || item.type === "AgentErrorEvent") status.set(null);
    },
    shownText: () => (showsText ? pieces.whole() : null),
  };
}

type PolicyEvent = Extract<Extract<SessionEvent, { type: "AgentEvent" }>["data"], { kind: "policy_event" }>;

function isSaid(
  event: SessionEvent,
): event is Extract<SessionEvent, { type: "AgentEvent" }> & { data: PolicyEvent } {
  return event.type === "AgentEvent" && event.data.kind === "policy_event";
}

function toStatus(
  state: Extract<SessionEvent, { type: "ActiveStateChangeEvent" }>["data"]["state"],
): string | null {
  if (state === "awaiting_tool_results") return "tools run";
  if (state === "awaiting_approval") return "waiting for an approval";
  return state === "running" ? "the model thinks" : null;
}
