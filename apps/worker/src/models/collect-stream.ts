// The parts of a streamed reply, put together to what the same reply is as a whole.
import type {
  LanguageModelV3Content,
  LanguageModelV3GenerateResult,
  LanguageModelV3StreamPart,
  SharedV3ProviderMetadata,
} from "@ai-sdk/provider";
import { APICallError } from "@ai-sdk/provider";
import { toStreamError } from "./stream-errors.ts";

type Part<Type extends LanguageModelV3StreamPart["type"]> = Extract<
  LanguageModelV3StreamPart,
  { type: Type }
>;
type Spoken = Extract<LanguageModelV3Content, { type: "text" | "reasoning" }>;

/** A reply that is being put together. */
interface Collection {
  content: LanguageModelV3Content[];
  /** Texts and reasoning that are open, by their ids. */
  open: Map<string, Spoken>;
  warnings: LanguageModelV3GenerateResult["warnings"];
  response: Part<"response-metadata"> | null;
  finish: Part<"finish"> | null;
}

/**
 * Reads a stream to its end.
 *
 * @param onText told of each piece of text, in order
 * @returns what `doGenerate` gives for the same reply: parts in the order in which they began
 * @throws {APICallError} as for a reply that is an error, when the stream has one; without a status, as for a network that
 *   failed, when it breaks off
 */
export async function collectStream(
  stream: ReadableStream<LanguageModelV3StreamPart>,
  onText: (delta: string) => void,
): Promise<LanguageModelV3GenerateResult> {
  const collection: Collection = {
    content: [],
    open: new Map(),
    warnings: [],
    response: null,
    finish: null,
  };
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      take(collection, value);
      if (value.type === "text-delta" && value.delta !== "") onText(value.delta);
    }
  } finally {
    // Of a stream with an error nothing more is wanted; one that has ended takes no notice.
    reader.cancel().catch(() => undefined);
  }
  return toResult(collection);
}

function take(collection: Collection, part: LanguageModelV3StreamPart): void {
  const { content, open } = collection;
  switch (part.type) {
    case "stream-start":
      collection.warnings = part.warnings;
      return;
    case "response-metadata":
      collection.response = part;
      return;
    case "finish":
      collection.finish = part;
      return;
    case "error":
      throw toStreamError(part.error);
    case "text-start":
    case "reasoning-start": {
      const type = part.type === "text-start" ? "text" : "reasoning";
      const spoken: Spoken = { type, text: "", ...toMetadata(undefined, part.providerMetadata) };
      open.set(`${type} ${part.id}`, spoken);
      content.push(spoken);
      return;
    }
    case "text-delta":
      add(open.get(`text ${part.id}`), part.delta, part.providerMetadata);
      return;
    case "reasoning-delta":
      add(open.get(`reasoning ${part.id}`), part.delta, part.providerMetadata);
      return;
    case "text-end":
      add(open.get(`text ${part.id}`), "", part.providerMetadata);
      return;
    case "reasoning-end":
      add(open.get(`reasoning ${part.id}`), "", part.providerMetadata);
      return;
    case "raw":
    case "tool-input-start":
    case "tool-input-delta":
    case "tool-input-end":
      // The call itself follows as a whole.
      return;
    default:
      content.push(part);
  }
}

function add(spoken: Spoken | undefined, delta: string, more: SharedV3ProviderMetadata | undefined): void {
  if (!spoken) return;
  spoken.text += delta;
  Object.assign(spoken, toMetadata(spoken.providerMetadata, more));
}

/** What a provider says beside a part comes bit by bit: the last word on each field holds. */
function toMetadata(
  before: SharedV3ProviderMetadata | undefined,
  more: SharedV3ProviderMetadata | undefined,
): { providerMetadata?: SharedV3ProviderMetadata } {
  if (more === undefined) return before === undefined ? {} : { providerMetadata: before };
  const merged = { ...before };
  for (const [provider, fields] of Object.entries(more)) {
    merged[provider] = { ...merged[provider], ...copyLists(fields) };
  }
  return { providerMetadata: merged };
}

/** OpenAI's package goes on using the list of annotations that it gave. */
function copyLists(fields: SharedV3ProviderMetadata[string]): SharedV3ProviderMetadata[string] {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, Array.isArray(value) ? [...value] : value]),
  );
}

function toResult({ content, warnings, response, finish }: Collection): LanguageModelV3GenerateResult {
  // Where a provider's package cannot tell that its stream broke off, it knows no reason of the end.
  const isBroken = finish === null || (finish.finishReason.unified === "other" && !finish.finishReason.raw);
  if (isBroken) throw brokenOff();
  alignReasoning(content);
  const { finishReason, usage, providerMetadata } = finish;
  const { type: _, ...metadata } = response ?? {};
  return {
    content,
    finishReason,
    usage,
    warnings,
    ...(providerMetadata === undefined ? {} : { providerMetadata }),
    ...(response === null ? {} : { response: metadata }),
  };
}

/** A reply that ended before its end. Counts as a network error. */
export function brokenOff(cause?: unknown): APICallError {
  const why = cause instanceof Error ? `: ${cause.message}` : "";
  return new APICallError({
    message: `its reply broke off${why}`,
    url: "",
    requestBodyValues: {},
    cause,
    isRetryable: true,
  });
}

/**
 * OpenAI's parts of one piece of reasoning go back together, with its encrypted content. A part that ended before the piece
 * has that of its beginning.
 */
function alignReasoning(content: readonly LanguageModelV3Content[]): void {
  const encrypted = new Map<unknown, SharedV3ProviderMetadata[string][string]>();
  for (const part of [...content].reverse()) {
    const openai = part.type === "reasoning" ? part.providerMetadata?.openai : undefined;
    if (openai?.reasoningEncryptedContent === undefined) continue;
    if (!encrypted.has(openai.itemId)) encrypted.set(openai.itemId, openai.reasoningEncryptedContent);
    else openai.reasoningEncryptedContent = encrypted.get(openai.itemId) ?? null;
  }
}
