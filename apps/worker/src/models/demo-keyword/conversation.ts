/** Reads what the demo model needs from a prompt: the open message, and what tools returned for it. */
import type { LanguageModelV3Prompt } from "@ai-sdk/provider";
import { parseJson as readJson, toDigitText } from "@tandem/engine/domain/json";
import { isRecord, type JsonRecord } from "./json-schema.ts";

/** A tool call of this conversation that has an answer. */
export interface ToolOutcome {
  readonly toolName: string;
  readonly args: JsonRecord;
  readonly isError: boolean;
  /** Text or JSON, as the tool returned it. */
  readonly value: unknown;
}

export interface Conversation {
  /** The last user message; several in a row count as one. */
  readonly message: string;
  /** The user message before it. */
  readonly earlierMessage: string;
  /** What the assistant last said before the message. */
  readonly lastAnswer: string;
  /** Results that came after the message. */
  readonly outcomes: readonly ToolOutcome[];
  /** Results that came before it. */
  readonly earlierOutcomes: readonly ToolOutcome[];
}

/** Characters of a message that are read; what lies beyond is ignored so that work stays bounded. */
const MAX_MESSAGE_CHARS = 6_000;
const MAX_OUTCOMES = 200;

export function readConversation(prompt: LanguageModelV3Prompt): Conversation {
  const turns = (Array.isArray(prompt) ? (prompt as unknown[]) : []).filter(isRecord);
  const lastUser = turns.findLastIndex((turn) => turn.role === "user");
  let firstUser = lastUser;
  while (firstUser > 0 && turns[firstUser - 1]?.role === "user") firstUser -= 1;
  const before = turns.slice(0, Math.max(0, firstUser));
  return {
    message: joinText(turns.slice(Math.max(0, firstUser), lastUser + 1)),
    earlierMessage: joinText(before.filter((turn) => turn.role === "user").slice(-1)),
    lastAnswer: joinText(before.filter((turn) => turn.role === "assistant").slice(-1)),
    outcomes: outcomesOf(turns.slice(lastUser + 1)),
    earlierOutcomes: outcomesOf(before),
  };
}

function joinText(turns: readonly JsonRecord[]): string {
  const texts = turns.flatMap((turn) =>
    typeof turn.content === "string" ? [turn.content] : textParts(turn),
  );
  // NUL and other control characters mean nothing here, but line breaks do; half a surrogate pair is no character.
  const clean = texts
    .join("\n")
    .slice(0, MAX_MESSAGE_CHARS)
    .replace(/(?![\n\t])\p{Cc}|\p{Cs}/gu, " ");
  return clean.trim();
}

function textParts(turn: JsonRecord): string[] {
  return partsOf(turn).flatMap((part) =>
    part.type === "text" && typeof part.text === "string" ? [part.text] : [],
  );
}

function partsOf(turn: JsonRecord): JsonRecord[] {
  return Array.isArray(turn.content) ? turn.content.filter(isRecord) : [];
}

/** Answered calls in the order they were made. */
function outcomesOf(turns: readonly JsonRecord[]): ToolOutcome[] {
  const parts = turns.flatMap(partsOf);
  const results = new Map(
    parts.filter((part) => part.type === "tool-result").map((part) => [part.toolCallId, part]),
  );
  const outcomes: ToolOutcome[] = [];
  for (const call of parts.filter((part) => part.type === "tool-call")) {
    const result = results.get(call.toolCallId);
    if (result === undefined) continue;
    results.delete(call.toolCallId);
    outcomes.push(toOutcome(call.toolName, call.input, result.output));
  }
  for (const result of results.values()) outcomes.push(toOutcome(result.toolName, {}, result.output));
  return outcomes.slice(-MAX_OUTCOMES);
}

function toOutcome(toolName: unknown, input: unknown, output: unknown): ToolOutcome {
  const args = parseJson(input);
  const named = { toolName: String(toolName ?? "the tool"), args: isRecord(args) ? args : {} };
  if (!isRecord(output)) return { ...named, isError: false, value: parseJson(output) };
  switch (output.type) {
    case "error-text":
    case "error-json":
      return { ...named, isError: true, value: parseJson(output.value) };
    case "execution-denied":
      return { ...named, isError: true, value: output.reason ?? "it was not allowed to run" };
    case "content":
      return { ...named, isError: false, value: contentText(output.value) };
    default:
      return { ...named, isError: false, value: parseJson("value" in output ? output.value : output) };
  }
}

function contentText(parts: unknown): unknown {
  const list = Array.isArray(parts) ? parts.filter(isRecord) : [];
  return parseJson(list.map((part) => (typeof part.text === "string" ? part.text : "[a file]")).join("\n"));
}

/** JSON that arrived as text is read as JSON, when it is an object or a list. */
function parseJson(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return toDigitText(readJson(value));
  } catch {
    return value;
  }
}
