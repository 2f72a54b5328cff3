// From a session's events to a model's prompt. Whatever happened, every call has exactly one result in it, right
// after the message that made it, or no provider would take the history.
import type {
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ToolResultPart,
} from "@ai-sdk/provider";
import type { AgentDefinition } from "@tandem/engine/domain/agents";
import { answersByTool } from "@tandem/engine/domain/builtin-tools";
import type { StoredEvent } from "@tandem/engine/domain/events";
import { type JsonObject, stringifyJson, toDigitText } from "@tandem/engine/domain/json";
import type { LastStep } from "@tandem/engine/domain/last-step";
import type { ImageContent } from "@tandem/engine/domain/messages";
import { DEMO_MODEL, type Provider, parseModelId } from "@tandem/engine/domain/models";
import { NO_TOOL_HISTORY, type ToolHistory } from "@tandem/engine/domain/tool-history";
import { SUBMIT_ANSWER } from "@tandem/engine/domain/tools";
import { LEFT_OUT, type ModelImage, REFUSED, readMessageImage, shareRoom } from "./images.ts";
import { LAST_STEP_WORDS } from "./last-step.ts";
import { type Telling, tellResult, toFilePart } from "./tool-outputs.ts";

type UserContent = Extract<LanguageModelV3Message, { role: "user" }>["content"];
type AssistantContent = Extract<LanguageModelV3Message, { role: "assistant" }>["content"];

/** What a prompt is built from. */
export interface PromptInput {
  agent: AgentDefinition;
  events: readonly StoredEvent[];
  /** Why this is the last step; null when it is not. */
  lastStep: LastStep | null;
  /** What the history says of the tools. Default: nothing. */
  history?: ToolHistory;
  /** True when the provider has refused the request with its images: notes stand in their places. Default false. */
  isWithoutImages?: boolean;
}

/** What the parts of a prompt are made with. */
interface Making extends Telling {
  /** The first result of each call, by our id. */
  results: ReadonlyMap<string, StoredEvent>;
}

/** Errors that are said to the model as a message of its user: they belong to no call. */
const SPOKEN_ORIGINS: ReadonlySet<unknown> = new Set(["answer", "agent"]);

const DEFAULT_INSTRUCTIONS = "You are a helpful assistant. Use the tools you are offered where they help.";
const ANSWER_BY_TOOL = `When you have the final answer, give it by calling the tool ${SUBMIT_ANSWER}; text is not an answer.`;
const ANSWER_AS_JSON =
  "When you have the final answer, give it as one JSON object and nothing else. It must fit this JSON Schema:";
const EMPTY_MESSAGE = "(The message is empty.)";
const NO_MESSAGE = "There is no message. Do what your instructions say.";

/** Builds the prompt for the next step. */
export function buildPrompt({
  agent,
  events,
  lastStep,
  history = NO_TOOL_HISTORY,
  isWithoutImages = false,
}: PromptInput): LanguageModelV3Prompt {
  const making: Making = {
    provider: providerOf(agent),
    hasRoom: isWithoutImages ? () => false : shareRoom(events),
    leftOut: isWithoutImages ? REFUSED : LEFT_OUT,
    remarks: toRemarks(history),
    results: collectResults(events),
  };
  const messages: LanguageModelV3Prompt = events.flatMap((event) => toMessages(event, making));
  if (!messages.some((message) => message.role === "user")) messages.unshift(toUserText(NO_MESSAGE));
  if (lastStep !== null) messages.push(toUserText(LAST_STEP_WORDS[lastStep]));
  const system = toSystem(agent);
  return system === "" ? messages : [{ role: "system", content: system }, ...messages];
}

/** The provider of an agent's model. The model was checked when the session was created. */
export function providerOf(agent: AgentDefinition): Provider {
  return parseModelId(agent.model ?? DEMO_MODEL)?.provider ?? "demo";
}

function toSystem(agent: AgentDefinition): string {
  if (typeof agent.system_prompt === "string") return agent.system_prompt;
  const instructions = agent.instructions || DEFAULT_INSTRUCTIONS;
  if (!agent.answer_format) return instructions;
  if (answersByTool(agent)) return `${instructions}\n\n${ANSWER_BY_TOOL}`;
  return `${instructions}\n\n${ANSWER_AS_JSON}\n${stringifyJson(agent.answer_format)}`;
}

/** Said once, behind the result that used the last retry. */
function toRemarks({ exhausted }: ToolHistory): ReadonlyMap<string, string> {
  return new Map(
    [...exhausted].map(([name, id]) => [
      id,
      `\n\nThe tool ${name} has failed too often: it is no longer offered. Go on without it.`,
    ]),
  );
}

/** Provider ids that the history uses: a new call cannot have one of them. */
export function collectProviderIds(events: readonly StoredEvent[]): Set<string> {
  return new Set(events.flatMap((event) => partsOf(event).map((part) => String(part.toolCallId ?? ""))));
}

/** The first result of each call, by our id. */
function collectResults(events: readonly StoredEvent[]): Map<string, StoredEvent> {
  const results = new Map<string, StoredEvent>();
  for (const event of events) {
    const { data } = event;
    if (data.kind !== "tool_result" && data.kind !== "error_event") continue;
    const id = (data.tool_req as JsonObject | null)?.id;
    if (typeof id === "string" && !results.has(id)) results.set(id, event);
  }
  return results;
}

function toMessages(event: StoredEvent, making: Making): LanguageModelV3Message[] {
  const { data } = event;
  if (data.kind === "message_event") return [toUserMessage(event, making)];
  if (data.kind === "policy_event") return toTurn(partsOf(event), making);
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
function toTurn(parts: JsonObject[], making: Making): LanguageModelV3Message[] {
  const said = parts.filter((part) => !isBlank(part));
  if (said.every((part) => part.type === "reasoning")) return [];
  // Providers write a call's input themselves, and know doubles only: digits as text are at least the right ones.
  const content = said.map(({ call_id: _ours, ...part }) => toDigitText(part)) as unknown as AssistantContent;
  const calls = parts.filter((part) => part.type === "tool-call");
  const turn: LanguageModelV3Message = { role: "assistant", content };
  return calls.length === 0 ? [turn] : [turn, ...toResults(calls, making)];
}

/** The results of a turn, and behind all of them the images that have no place inside. */
function toResults(calls: JsonObject[], making: Making): LanguageModelV3Message[] {
  const results: LanguageModelV3ToolResultPart[] = [];
  const shown: UserContent = [];
  for (const call of calls) {
    const toolName = String(call.toolName);
    const toolCallId = String(call.toolCallId);
    const { output, after } = tellResult(making.results.get(String(call.call_id)), toolName, making);
    results.push({ type: "tool-result", toolCallId, toolName, output });
    if (after.length > 0) shown.push(...toShown(after, `${toolName}, call ${toolCallId}`));
  }
  const message: LanguageModelV3Message = { role: "tool", content: results };
  return shown.length > 0 ? [message, { role: "user", content: shown }] : [message];
}

function toShown(images: ModelImage[], call: string): UserContent {
  const text = `${images.length > 1 ? `${images.length} images` : "Image"} of the result of ${call}:`;
  return [{ type: "text", text }, ...images.map(toFilePart)];
}

function toUserText(text: string): LanguageModelV3Message {
  return { role: "user", content: [{ type: "text", text }] };
}

function toUserMessage(event: StoredEvent, { hasRoom, leftOut }: Making): LanguageModelV3Message {
  let place = 0;
  const content = event.data.content as unknown as (string | ImageContent)[];
  const parts = content.map((part): UserContent[number] => {
    if (typeof part === "string") return { type: "text", text: part };
    return hasRoom(event, place++) ? toFilePart(readMessageImage(part)) : { type: "text", text: leftOut };
  });
  const said = parts.filter((part) => !isBlank(part));
  return said.length > 0 ? { role: "user", content: said } : toUserText(EMPTY_MESSAGE);
}
