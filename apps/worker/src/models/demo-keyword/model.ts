/**
 * `demo/keyword`: a model that needs no key, so that a newcomer sees the whole loop with their own tools.
 * It matches words; it has no randomness and no network, and never throws on a prompt or a schema. Its one clock is the
 * pace at which it streams words, so that one sees them come.
 */
import { setTimeout as delay } from "node:timers/promises";
import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3GenerateResult,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
} from "@ai-sdk/provider";
import { decideTurn, type Turn } from "./decide-turn.ts";

export const DEMO_KEYWORD_MODEL_ID = "demo/keyword";

/** Characters counted as one token; the usual rule of thumb for English. */
const CHARS_PER_TOKEN = 4;

/**
 * A model that picks the offered tool whose name, description and parameters fit the user's message, fills its
 * arguments from the message, and answers from the result.
 *
 * @example
 * const { text } = await generateText({ model: createDemoKeywordModel(), tools, prompt: "Weather in Paris?" });
 */
export function createDemoKeywordModel(): LanguageModelV3 {
  return {
    specificationVersion: "v3",
    provider: "demo",
    modelId: DEMO_KEYWORD_MODEL_ID,
    supportedUrls: { "*/*": [/^/] },
    doGenerate: async (options) => generate(options),
    doStream: async (options) => ({ stream: streamOf(generate(options), options.abortSignal) }),
  };
}

function generate(options: LanguageModelV3CallOptions): LanguageModelV3GenerateResult {
  options.abortSignal?.throwIfAborted();
  const content = toContent(decideTurn(options), options.prompt.length);
  const isCall = content.some((part) => part.type === "tool-call");
  return {
    content,
    finishReason: { unified: isCall ? "tool-calls" : "stop", raw: undefined },
    usage: countUsage(options, content),
    warnings: [],
  };
}

/** Call ids follow from the length of the prompt, which grows with every step, so they never repeat in a session. */
function toContent(turn: Turn, promptLength: number): LanguageModelV3Content[] {
  if ("text" in turn) return [{ type: "text", text: turn.text }];
  return turn.calls.map(({ toolName, args }, index) => ({
    type: "tool-call",
    toolCallId: `demo_call_${promptLength}_${index + 1}`,
    toolName,
    input: JSON.stringify(args),
  }));
}

function countUsage(
  options: LanguageModelV3CallOptions,
  content: readonly LanguageModelV3Content[],
): LanguageModelV3Usage {
  const input = tokensIn(options.prompt) + tokensIn(options.tools ?? []);
  const output = tokensIn(content);
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
}

/** Counts the strings inside a value; binary data counts for nothing. */
function tokensIn(value: unknown): number {
  let characters = 0;
  const open: unknown[] = [value];
  const seen = new Set<unknown>();
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string") characters += next.length;
    else if (typeof next === "object" && next !== null && !ArrayBuffer.isView(next) && !seen.has(next)) {
      seen.add(next);
      for (const inner of Object.values(next)) open.push(inner);
    }
  }
  return Math.ceil(characters / CHARS_PER_TOKEN);
}

/** How long a streamed word takes, in milliseconds: as with quick models. */
const WORD_MS = 15;

function streamOf(
  { content, finishReason, usage, warnings }: LanguageModelV3GenerateResult,
  signal: AbortSignal | undefined,
): ReadableStream<LanguageModelV3StreamPart> {
  const parts: LanguageModelV3StreamPart[] = [
    { type: "stream-start", warnings },
    ...content.flatMap((part, index) => streamParts(part, String(index))),
    { type: "finish", finishReason, usage },
  ];
  const coming = parts.values();
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = coming.next();
      if (done) return controller.close();
      if (value.type === "text-delta") await delay(WORD_MS, undefined, { signal });
      controller.enqueue(value);
    },
  });
}

function streamParts(part: LanguageModelV3Content, id: string): LanguageModelV3StreamPart[] {
  if (part.type === "text") {
    const words = part.text.match(/\s*\S+|\s+$/g) ?? [];
    const deltas = words.map((delta): LanguageModelV3StreamPart => ({ type: "text-delta", id, delta }));
    return [{ type: "text-start", id }, ...deltas, { type: "text-end", id }];
  }
  if (part.type !== "tool-call") return [];
  const { toolCallId, toolName, input } = part;
  return [
    { type: "tool-input-start", id: toolCallId, toolName },
    { type: "tool-input-delta", id: toolCallId, delta: input },
    { type: "tool-input-end", id: toolCallId },
    part,
  ];
}
