// A session's events in a person's words, one or two lines each. Pure.
import type { SessionEvent, ToolCall } from "@tandem/sdk";
import { shorten, toHarmless, toHarmlessJson, toHarmlessLine } from "../terminal/harmless.ts";
import type { Paint, Style } from "../terminal/paint.ts";

/** Longest piece of a value that a line shows, in characters. */
const SHOWN_CHARACTERS = 160;

/** Tells events in order; remembers when calls were asked for. */
export interface Teller {
  /** The lines of an event; none for those that say nothing to a person. */
  tell(event: SessionEvent): string[];
}

type AgentEventData = Extract<SessionEvent, { type: "AgentEvent" }>["data"];

/** Makes a teller. `showsAnswer` is false where the answer is shown by itself. */
export function createTeller(paint: Paint, { showsAnswer }: { showsAnswer: boolean }): Teller {
  const askedAtMs = new Map<string, number>();
  const line = (style: Style, mark: string, text: string) => `${paint(style, mark)} ${text}`;

  function tellAgentEvent(data: AgentEventData, atMs: number): string[] {
    switch (data.kind) {
      case "policy_event": {
        for (const call of data.tool_reqs) askedAtMs.set(toKey(call), atMs);
        const said =
          data.tool_reqs.length > 0 && data.content ? [paint("dim", toHarmless(data.content))] : [];
        return [...said, ...data.tool_reqs.map((call) => line("cyan", "→", tellCall(call, paint)))];
      }
      case "tool_result":
        return [line("green", "←", tellEnd(data.tool_req, toShort(data.result), atMs))];
      case "error_event":
        if (data.tool_req) return [line("red", "✗", tellEnd(data.tool_req, toShort(data.error), atMs))];
        return [line("yellow", "!", `${toHarmlessLine(data.origin)}: ${toShort(data.error)}`)];
      case "message_event":
        return [
          line("blue", "»", toShort(data.content.filter((part) => typeof part === "string").join(" "))),
        ];
      case "flow_event":
        return [
          line("dim", "·", `${toHarmlessLine(data.flow)}, asked for by ${toHarmlessLine(data.origin)}`),
        ];
      case "answer_event":
        if (!showsAnswer) return [];
        if (data.answer === "") return [line("green", "✓", "Answered")];
        return [line("green", "✓", "The answer:"), toAnswerText(data.answer)];
    }
  }

  function tellEnd(call: ToolCall, text: string, atMs: number): string {
    const from = askedAtMs.get(toKey(call));
    const took = from === undefined ? "" : paint("dim", ` ${toDuration(atMs - from)}`);
    return `${paint("bold", toHarmlessLine(call.tool_name))} ${text}${took}`;
  }

  return {
    tell(event) {
      const atMs = Date.parse(event.timestamp);
      switch (event.type) {
        case "AgentStartedEvent":
          return [line("dim", "·", "A worker took the session up")];
        case "AgentEvent":
          return tellAgentEvent(event.data, atMs);
        case "ActiveStateChangeEvent":
          return event.data.state === "idle" ? [line("dim", "·", "The session waits for a message")] : [];
        case "ToolApprovalEvent": {
          const { tool_req: call, decision, decided_by: by, message } = event.data;
          const why = message ? `: ${toShort(message)}` : "";
          const who = by === null ? "nobody in time, so it is" : "";
          const text = `${toHarmlessLine(call.tool_name)} ${who} ${decision === "allow" ? "allowed" : "denied"}${why}`;
          return [line(decision === "allow" ? "green" : "yellow", "?", text.replaceAll(/ {2,}/g, " "))];
        }
        case "ToolCallProgressEvent":
          return [
            line(
              "dim",
              "…",
              `${toHarmlessLine(event.data.tool_req.tool_name)} ${toShort(event.data.progress)}`,
            ),
          ];
        case "ToolCallCancelledEvent": {
          const { tool_req: call, reason } = event.data;
          return [
            line("yellow", "✗", `${toHarmlessLine(call.tool_name)} was withdrawn: ${toHarmlessLine(reason)}`),
          ];
        }
        case "LateToolResultEvent":
          return [
            line(
              "dim",
              "←",
              `${toHarmlessLine(event.data.tool_req.tool_name)} too late: ${toShort(event.data.result)}`,
            ),
          ];
        case "AgentErrorEvent":
          return [line("red", "✗", toHarmless(event.data.error))];
        case "AgentCompletionEvent":
          return event.data.reason === "finished" ? [] : [line("yellow", "■", event.data.reason)];
        case "AgentRunStatusChangeEvent":
          return [line("dim", "·", event.data.status === "paused" ? "Paused" : "Goes on")];
        default:
          return [];
      }
    },
  };
}

/** An answer as text: data as indented JSON. */
export function toAnswerText(answer: unknown): string {
  return typeof answer === "string" ? toHarmless(answer) : toHarmlessJson(answer, 2);
}

/** A duration for people, from milliseconds. */
export function toDuration(ms: number): string {
  return ms < 1_000 ? `${Math.max(0, Math.round(ms))} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

function tellCall(call: ToolCall, paint: Paint): string {
  return `${paint("bold", toHarmlessLine(call.tool_name))} ${toShort(call.args)}`;
}

function toShort(value: unknown): string {
  return shorten(typeof value === "string" ? toHarmlessLine(value) : toHarmlessJson(value), SHOWN_CHARACTERS);
}

function toKey({ id, tool_name: name }: ToolCall): string {
  return id ?? name;
}
