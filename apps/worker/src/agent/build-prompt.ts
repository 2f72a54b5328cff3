// From a session's events to a model's prompt. Whatever happened, every call has exactly one result in it, right
// after the message that made it, or no provider would take the history.
import type {
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ToolResultPart,
} from "@ai-sdk/provider";
import type { AgentDefinition } from "@tandem/engine/domain/agents";
import type { StoredEvent } from "@tandem/engine/domain/events";
import { type JsonObject, type JsonValue, stringifyJson, toDigitText } from "@tandem/engine/domain/json";
import type { ImageContent } from "@tandem/engine/domain/messages";
import { SUBMIT_ANSWER } from "@tandem/engine/domain/tools";
import { LAST_STEP_WORDS, type LastStep } from "./last-step.ts";

type UserContent = Extract<LanguageModelV3Message, { role: "user" }>["content"];
type AssistantContent = Extract<LanguageModelV3Message, { role: "assistant" }>["content"];

/** What a prompt is built from. */
export interface PromptInput {
  agent: AgentDefinition;
  events: readonly StoredEvent[];
  /** Why this is the last step; null when it is not. */
  lastStep: LastStep | null;
}

/** Errors that are said to the model as a message of its user: they belong to no call. */
const SPOKEN_ORIGINS: ReadonlySet<unknown> = new Set(["answer", "agent"]);

const DEFAULT_INSTRUCTIONS = "You are a helpful assistant. Use the tools you are offered where they help.";
const ANSWER_BY_TOOL = `When you have the final answer, give it by calling the tool ${SUBMIT_ANSWER}; text is not an answer.`;
const EMPTY_MESSAGE = "(The message is empty.)";
const NO_MESSAGE = "There is no message. Do what your instructions say.";
const NO_RESULT = "No result: the session went on without one. Whether the tool ran is unknown.";
const ANSWER_TAKEN = "The answer was taken.";

/** Builds the prompt for the next step. */
export function buildPrompt({ agent, events, lastStep }: PromptInput): LanguageModelV3Prompt {
  const results = collectResults(events);
  const messages: LanguageModelV3Prompt = events.flatMap((event) => toMessages(event, results));
  if (!messages.some((message) => message.role === "user")) messages.unshift(toUserText(NO_MESSAGE));
  if (lastStep !== null) messages.push(toUserText(LAST_STEP_WORDS[lastStep]));
  const instructions = agent.instructions || DEFAULT_INSTRUCTIONS;
  const system = agent.answer_format ? `${instructions}\n\n${ANSWER_BY_TOOL}` : instructions;
  return [{ role: "system", content: system }, ...messages];
}

/** Provider ids that the history uses: a new call cannot have one of them. */
export function collectProviderIds(events: readonly StoredEvent[]): Set<string> {
  return new Set(events.flatMap((event) => partsOf(event).map((part) => String(part.toolCallId ?? ""))));
}

/** The first result of each call, by our id. */
function collectResults(events: readonly StoredEvent[]): Map<string, JsonObject> {
  const results = new Map<string, JsonObject>();
  for (const { data } of events) {
    if (data.kind !== "tool_result" && data.kind !== "error_event") continue;
    const id = (data.tool_req as JsonObject | null)?.id;
    if (typeof id === "string" && !results.has(id)) results.set(id, data);
  }
  return results;
}

function toMessages(event: StoredEvent, results: Map<string, JsonObject>): LanguageModelV3Message[] {
  const { data } = event;
  if (data.kind === "message_event")
    return [toUserMessage(data.content as unknown as (string | ImageContent)[])];
  if (data.kind === "policy_event") return toTurn(partsOf(event), results);
  if (data.kind === "error_event" && !data.tool_req && SPOKEN_ORIGINS.has(data.origin)) {
    return [toUserText(String(data.error))];
  }
  return [];
}

function partsOf(event: StoredEvent): JsonObject[] {
  return (event.internal?.content ?? []) as JsonObject[];
}

/** A text part that says nothing: providers refuse the whole request for one. */
function isBlank(part: { type?: unknown; text?: unknown }): boolean {
  return part.type === "text" && String(part.text).trim() === "";
}

/**
 * A turn of the model and, right behind it, the results of all its calls in their order. A turn that neither says nor
 * calls anything is left out, its reasoning too: no provider takes it back.
 */
function toTurn(parts: JsonObject[], results: Map<string, JsonObject>): LanguageModelV3Message[] {
  const said = parts.filter((part) => !isBlank(part));
  if (said.every((part) => part.type === "reasoning")) return [];
  // Providers write a call's input themselves, and know doubles only: digits as text are at least the right ones.
  const content = said.map(({ call_id: _ours, ...part }) => toDigitText(part)) as unknown as AssistantContent;
  const calls = parts.filter((part) => part.type === "tool-call");
  const turn: LanguageModelV3Message = { role: "assistant", content };
  return calls.length === 0
    ? [turn]
    : [turn, { role: "tool", content: calls.map((call) => toResult(call, results)) }];
}

function toResult(call: JsonObject, results: Map<string, JsonObject>): LanguageModelV3ToolResultPart {
  const toolName = String(call.toolName);
  const data = results.get(String(call.call_id));
  return {
    type: "tool-result",
    toolCallId: String(call.toolCallId),
    toolName,
    output: toOutput(data, toolName),
  };
}

function toOutput(data: JsonObject | undefined, toolName: string): LanguageModelV3ToolResultPart["output"] {
  if (!data) return { type: "text", value: toolName === SUBMIT_ANSWER ? ANSWER_TAKEN : NO_RESULT };
  if (data.kind === "error_event") return { type: "error-text", value: `Error: ${data.error}` };
  return { type: "text", value: toResultText(data.result ?? null) };
}

/** A string goes to the model as it is, other JSON as JSON text. */
function toResultText(result: JsonValue): string {
  return typeof result === "string" ? result : stringifyJson(result);
}

function toUserText(text: string): LanguageModelV3Message {
  return { role: "user", content: [{ type: "text", text }] };
}

function toUserMessage(content: (string | ImageContent)[]): LanguageModelV3Message {
  const parts = content.map(toUserPart).filter((part) => !isBlank(part));
  return parts.length > 0 ? { role: "user", content: parts } : toUserText(EMPTY_MESSAGE);
}

function toUserPart(part: string | ImageContent): UserContent[number] {
  if (typeof part === "string") return { type: "text", text: part };
  return { type: "file", mediaType: part.media_type ?? "image/*", data: part.source };
}
