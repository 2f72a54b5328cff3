// A model's reply, taken apart: what it said, what it asks for, and its parts as the provider needs them back.
import type { LanguageModelV3Content, LanguageModelV3GenerateResult } from "@ai-sdk/provider";
import { newCallId } from "@tandem/engine/domain/ids";
import { isJsonObject, JSON_BOUNDS, type JsonObject, parseJson } from "@tandem/engine/domain/json";
import type { ModelUsage } from "@tandem/engine/domain/metrics";
import { MAX_ARGUMENT_CHARACTERS, type ToolRequest } from "@tandem/engine/domain/tools";
import { toArgumentsText } from "../models/exact-arguments.ts";
import { MAX_CALLS_PER_STEP } from "./limits.ts";

/** One call of a reply. `fault` says why its arguments cannot be read; then `args` is empty. */
export interface ReplyCall {
  request: ToolRequest;
  fault: string | null;
}

/** A reply in our terms. */
export interface Reply {
  text: string | null;
  reasoning: string | null;
  calls: ReplyCall[];
  /** Calls beyond the limit, which were not taken. */
  droppedCalls: number;
  usage: Omit<ModelUsage, "name">;
  /** The reply as the next request carries it: text and reasoning as they were, calls last. */
  internal: JsonObject;
}

/** Reads a reply. Every call gets an id of ours; the provider's id stays with the raw part if it is fit for use. */
export function readReply(
  result: LanguageModelV3GenerateResult,
  usedProviderIds: ReadonlySet<string>,
): Reply {
  const taken = new Set(usedProviderIds);
  const allCalls = result.content.filter(isCall);
  const rawCalls = allCalls.slice(0, MAX_CALLS_PER_STEP);
  const calls = rawCalls.map(toReplyCall);
  const callParts = rawCalls.map((raw, i) =>
    toCallPart(raw, calls[i]?.request ?? { tool_name: "", args: {}, id: "" }, taken),
  );
  const spoken = result.content.flatMap(toSpokenPart);
  const { inputTokens, outputTokens } = result.usage;
  return {
    text: join(result.content, "text"),
    reasoning: join(result.content, "reasoning"),
    calls,
    droppedCalls: allCalls.length - rawCalls.length,
    usage: {
      input_tokens: toCount(inputTokens.total),
      output_tokens: toCount(outputTokens.total),
      reasoning_tokens: toCount(outputTokens.reasoning),
    },
    internal: { content: [...spoken, ...callParts] },
  };
}

type RawCall = Extract<LanguageModelV3Content, { type: "tool-call" }>;

function isCall(part: LanguageModelV3Content): part is RawCall {
  return part.type === "tool-call" && !part.providerExecuted;
}

function join(content: readonly LanguageModelV3Content[], type: "text" | "reasoning"): string | null {
  const text = content.flatMap((part) => (part.type === type ? [part.text] : [])).join("");
  return text === "" ? null : text;
}

/** A number of tokens. Providers may report nothing, or nonsense. */
export function toCount(tokens: number | undefined): number {
  return tokens !== undefined && Number.isSafeInteger(tokens) && tokens > 0 ? tokens : 0;
}

function toReplyCall(raw: RawCall): ReplyCall {
  const { args, fault } = readArguments(toArgumentsText(raw.input));
  return { request: { tool_name: raw.toolName, args, id: newCallId() }, fault };
}

/** Arguments are a JSON object; an empty text means none. Nothing else is guessed: a cut-off text is a fault. */
function readArguments(input: string): { args: JsonObject; fault: string | null } {
  if (input.trim() === "") return { args: {}, fault: null };
  if (input.length > MAX_ARGUMENT_CHARACTERS) {
    return { args: {}, fault: `they are longer than ${MAX_ARGUMENT_CHARACTERS} characters` };
  }
  try {
    const value = parseJson(input, JSON_BOUNDS);
    if (isJsonObject(value)) return { args: value, fault: null };
    return { args: {}, fault: "they must be a JSON object" };
  } catch (error) {
    return { args: {}, fault: error instanceof Error ? error.message : String(error) };
  }
}

/** What providers accept as a call's id and as a tool's name when it comes back to them. */
const PROVIDER_ID = /^[A-Za-z0-9_-]{1,64}$/;

function toCallPart(raw: RawCall, request: ToolRequest, taken: Set<string>): JsonObject {
  const isUsable = PROVIDER_ID.test(raw.toolCallId) && !taken.has(raw.toolCallId);
  const toolCallId = isUsable ? raw.toolCallId : request.id;
  taken.add(toolCallId);
  const toolName = raw.toolName.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unnamed";
  return {
    type: "tool-call",
    call_id: request.id,
    toolCallId,
    toolName,
    input: request.args,
    ...toOptions(raw),
  };
}

function toSpokenPart(part: LanguageModelV3Content): JsonObject[] {
  if (part.type !== "text" && part.type !== "reasoning") return [];
  return [{ type: part.type, text: part.text, ...toOptions(part) }];
}

/** What a provider said beside a part (signatures, item ids) goes back to it unchanged. */
function toOptions(part: { providerMetadata?: unknown }): JsonObject {
  return part.providerMetadata === undefined ? {} : { providerOptions: part.providerMetadata as JsonObject };
}
