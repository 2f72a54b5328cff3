// What a model is told of its calls: texts cut to their tool's limit, images where the provider takes them.
import type { LanguageModelV3Message, LanguageModelV3ToolResultPart } from "@ai-sdk/provider";
import type { StoredEvent } from "@tandem/engine/domain/events";
import { type JsonObject, stringifyJson } from "@tandem/engine/domain/json";
import type { Provider } from "@tandem/engine/domain/models";
import { cutText, toModelResult } from "@tandem/engine/domain/tool-result-forms";
import { SUBMIT_ANSWER } from "@tandem/engine/domain/tools";
import { type HasRoom, type ModelImage, readResultImage } from "./images.ts";

type Output = LanguageModelV3ToolResultPart["output"];
type UserPart = Extract<LanguageModelV3Message, { role: "user" }>["content"][number];

/** What a call came to, as the model is told: in the result itself, and in a message that follows the results. */
export interface ToldResult {
  output: Output;
  /** Images that the provider's wire has no place for inside a result. */
  after: ModelImage[];
}

/** What results are told by. */
export interface Telling {
  provider: Provider;
  hasRoom: HasRoom;
  /** Stands for an image that there is no room for. */
  leftOut: string;
  /** What is said behind the result of this call, by our id. */
  remarks: ReadonlyMap<string, string>;
}

const NO_RESULT = "No result: the session went on without one. Whether the tool ran is unknown.";
const ANSWER_TAKEN = "The answer was taken.";
const EMPTY_RESULT = "(There is nothing to read in the result.)";
const NO_EYES = "[An image is not shown: this model sees none.]";

/**
 * Where a provider's wire, as its AI SDK package writes it, takes the images of a result. OpenAI's Responses and Anthropic
 * take them inside. Chat completions have texts alone in a tool's message. Of Google's models only some take them inside,
 * for the others the package would leave the result itself out; and none takes a URL there.
 */
const IMAGE_PLACES: Record<Provider, "inside" | "after" | "nowhere"> = {
  openai: "inside",
  anthropic: "inside",
  google: "after",
  compatible: "after",
  demo: "nowhere",
};

/** Tells a call's result. @param event its first result; undefined when it has none */
export function tellResult(event: StoredEvent | undefined, toolName: string, telling: Telling): ToldResult {
  if (!event) return { output: text(toolName === SUBMIT_ANSWER ? ANSWER_TAKEN : NO_RESULT), after: [] };
  const { data, internal } = event;
  const call = data.tool_req as JsonObject;
  const remark = tellEdit(call, internal) + (telling.remarks.get(String(call.id)) ?? "");
  const limit = typeof internal?.max_result_tokens === "number" ? internal.max_result_tokens : null;
  if (data.kind === "error_event")
    return { output: error(cutText(String(data.error), limit) + remark), after: [] };
  const result = toModelResult(data.result ?? null);
  const { images, notes } = readImages(event, result.images, telling);
  const said = [cutText(result.text, limit), ...notes].filter((part) => part !== "").join("\n\n") + remark;
  // An error is text alone on every wire.
  if (result.isError) return { output: error(said), after: images };
  if (images.length > 0 && IMAGE_PLACES[telling.provider] === "inside") {
    return { output: { type: "content", value: [...sayIfAny(said), ...images.map(toContent)] }, after: [] };
  }
  const isSplit = typeof data.result !== "string";
  return { output: text(said === "" && isSplit ? EMPTY_RESULT : said), after: images };
}

/** The model knows the arguments that it gave, and must not take the result for theirs. */
function tellEdit(call: JsonObject, internal: JsonObject | null): string {
  if (internal?.edited !== true) return "";
  return `\n\n[Before the call was approved, its arguments were changed to ${stringifyJson(call.args ?? {})}]`;
}

function readImages(
  event: StoredEvent,
  list: ReturnType<typeof toModelResult>["images"],
  { provider, hasRoom, leftOut }: Telling,
): { images: ModelImage[]; notes: string[] } {
  const canSee = IMAGE_PLACES[provider] !== "nowhere";
  const images: ModelImage[] = [];
  const notes: string[] = [];
  list.forEach((value, place) => {
    const image = !canSee ? NO_EYES : hasRoom(event, place) ? readResultImage(value) : leftOut;
    if (typeof image === "string") notes.push(image);
    else if ("fault" in image) notes.push(`[Image ${place + 1} is not shown: ${image.fault}.]`);
    else images.push(image);
  });
  return { images, notes };
}

/** An image as a part of a user's message. */
export function toFilePart(image: ModelImage): UserPart {
  return image.kind === "url"
    ? { type: "file", mediaType: "image/*", data: image.url }
    : { type: "file", mediaType: image.mediaType, data: image.data };
}

type ContentPart = Extract<Output, { type: "content" }>["value"][number];

function toContent(image: ModelImage): ContentPart {
  return image.kind === "url"
    ? { type: "image-url", url: image.url.href }
    : { type: "image-data", mediaType: image.mediaType, data: image.data };
}

const sayIfAny = (said: string): ContentPart[] => (said.trim() === "" ? [] : [{ type: "text", text: said }]);
const text = (value: string): Output => ({ type: "text", value });
const error = (said: string): Output => ({ type: "error-text", value: `Error: ${said}` });
