// What a session shows while it goes: events, and the model's text as it is written.
import type { SessionEvent, StreamItem } from "@tandem/sdk";
import { printJson, writeResult } from "../terminal/output.ts";
import type { Paint } from "../terminal/paint.ts";
import type { StatusLine } from "../terminal/status-line.ts";
import { createTeller } from "./tell-event.ts";
import { createTextPieces } from "./text-pieces.ts";

/** Shows a session. */
export interface Show {
  item(item: StreamItem): void;
  /** The text of the last step, if a person has seen all of it on standard output; else null. */
  shownText(): string | null;
}

/** How to show. */
export interface ShowOptions {
  isJson: boolean;
  paint: Paint;
  /** False where the answer is shown by itself. Default: false. */
  showsAnswer?: boolean;
}

/** Lines of JSON for machines; for people events, and text where standard output is a terminal. */
export function createShow({ isJson, paint, showsAnswer = false }: ShowOptions, status: StatusLine): Show {
  if (isJson) return { item: (item) => printJson(item), shownText: () => null };
  const teller = createTeller(paint, { showsAnswer });
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
      status.write(teller.tell(showsText ? withoutSeen(item, pieces.whole()) : item));
      if (item.type === "ActiveStateChangeEvent") status.set(toStatus(item.data.state));
      if (item.type === "AgentCompletionEvent" || item.type === "AgentErrorEvent") status.set(null);
    },
    shownText: () => (showsText ? pieces.whole() : null),
  };
}

/** What the model said before its calls, or as its answer, is left out when it was seen as it came. */
function withoutSeen(event: SessionEvent, seen: string | null): SessionEvent {
  if (event.type !== "AgentEvent" || seen === null) return event;
  const { data } = event;
  if (data.kind === "policy_event" && data.content === seen)
    return { ...event, data: { ...data, content: null } };
  if (data.kind === "answer_event" && data.answer === seen)
    return { ...event, data: { ...data, answer: "" } };
  return event;
}

function toStatus(
  state: Extract<SessionEvent, { type: "ActiveStateChangeEvent" }>["data"]["state"],
): string | null {
  if (state === "awaiting_tool_results") return "tools run";
  if (state === "awaiting_approval") return "waiting for an approval";
  return state === "running" ? "the model thinks" : null;
}
