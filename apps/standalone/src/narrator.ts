// Telling a session's events to a person at a terminal. Colour only where there is one.
import type { SessionEvent } from "@tandem/sdk";

/** Writes lines about what happens. */
export interface Narrator {
  title(text: string): void;
  done(text: string, detail: string): void;
  sent(text: string, detail: string): void;
  local(text: string, detail: string): void;
  event(event: SessionEvent): void;
  answer(text: string): void;
  next(lines: string[]): void;
}

/** Where lines go. */
export interface Output {
  isTTY?: boolean;
  write(text: string): unknown;
}

const COLOURS = { bold: 1, dim: 2, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36 } as const;

/** Makes a narrator; `NO_COLOR` turns colour off. */
export function createNarrator(
  output: Output,
  env: Record<string, string | undefined> = process.env,
): Narrator {
  const hasColour = Boolean(output.isTTY) && !env.NO_COLOR;
  const paint = (colour: keyof typeof COLOURS, text: string) =>
    hasColour ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m` : text;
  const line = (mark: string, colour: keyof typeof COLOURS, text: string, detail = "") =>
    output.write(`  ${paint(colour, mark)} ${text}${detail ? `\n      ${paint("dim", detail)}` : ""}\n`);
  return {
    title: (text) => output.write(`\n${paint("bold", text)}\n\n`),
    done: (text, detail) => line("✓", "green", text, detail),
    sent: (text, detail) => line("→", "blue", text, detail),
    local: (text, detail) => line("●", "magenta", paint("bold", text), detail),
    event(event) {
      const told = tell(event);
      if (told) line(told.mark, told.colour, told.text, told.detail);
    },
    answer: (text) => output.write(`\n${text.replace(/^/gm, "      ")}\n\n`),
    next: (lines) =>
      output.write(`\n${paint("bold", "Next")}\n${lines.map((text) => `  ${text}\n`).join("")}\n`),
  };
}

interface Told {
  mark: string;
  colour: keyof typeof COLOURS;
  text: string;
  detail?: string;
}

/** An event in a person's words; null for those that say nothing to one. */
function tell(event: SessionEvent): Told | null {
  switch (event.type) {
    case "AgentStartedEvent":
      return { mark: "·", colour: "dim", text: "A worker took the session up" };
    case "ActiveStateChangeEvent": {
      const calls = event.data.pending_tool_calls ?? [];
      if (calls.length === 0) return { mark: "·", colour: "dim", text: `The session is ${event.data.state}` };
      const names = calls.map((call) => `${call.tool_name} ${JSON.stringify(call.args)}`).join(", ");
      return {
        mark: "←",
        colour: "yellow",
        text: "The model asks for a tool; no worker waits for it",
        detail: names,
      };
    }
    case "AgentEvent":
      return tellAgentEvent(event.data);
    case "AgentErrorEvent":
      return { mark: "✗", colour: "yellow", text: "The run failed", detail: event.data.error };
    default:
      return null;
  }
}

function tellAgentEvent(data: Extract<SessionEvent, { type: "AgentEvent" }>["data"]): Told | null {
  switch (data.kind) {
    case "tool_result":
      return {
        mark: "→",
        colour: "blue",
        text: "Its result was posted",
        detail: JSON.stringify(data.result),
      };
    case "error_event":
      return { mark: "!", colour: "yellow", text: `An error (${data.origin})`, detail: data.error };
    case "answer_event":
      return { mark: "✓", colour: "green", text: "The model answered" };
    default:
      return null;
  }
}
