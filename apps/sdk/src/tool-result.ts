// What a tool returns, and the JSON that is posted of it.
import { describeError } from "./describe-error.ts";
import { isObject } from "./schemas/json-schema.ts";
import { type ToolImage, toImageText } from "./tool-images.ts";

/**
 * A result in parts. An object that has no other keys is taken for one; with any other key it is plain JSON.
 */
export interface ToolResult {
  /** What the model reads. */
  text?: unknown;
  /** What the model sees, where it can see. */
  images?: readonly (ToolImage | Promise<ToolImage>)[] | undefined;
  /** For the host alone: it is in the events, and no model reads it. */
  details?: unknown;
  /** Marks the call as failed: why, or true. */
  error?: string | boolean | Error | null | undefined;
}

/** What `fn` can return: text, any JSON, a {@link ToolResult}, a promise of these, or an async generator. */
export type ToolReturn = unknown;

const partNames = ["text", "images", "details", "error", "isError"];

/**
 * The JSON of what a tool returned. It is a copy, so that a repeated post has the same content even if the tool changes
 * its object later.
 *
 * @throws {TypeError} when JSON cannot carry it, or an image is none; the message says what it is
 */
export async function toResultJson(value: unknown): Promise<unknown> {
  const carried = isToolResult(value) ? await toCarried(value) : value;
  const subject = "a value that JSON cannot carry";
  let json: string | undefined;
  try {
    json = JSON.stringify(carried ?? null);
  } catch (cause) {
    throw new TypeError(`${subject}: ${describeError(cause)}`, { cause });
  }
  if (json === undefined) throw new TypeError(`${subject}: a ${typeof carried}`);
  // A `Response` whose text was not awaited, a `Map`: nothing of them would be left.
  const kind = Object.prototype.toString.call(value);
  if (json === "{}" && kind !== "[object Object]") throw new TypeError(`${subject}: ${kind}`);
  return JSON.parse(json) as unknown;
}

/** An object with a `toJSON` says itself what it is. */
function isToolResult(value: unknown): value is ToolResult {
  if (!isObject(value) || typeof value.toJSON === "function") return false;
  return Object.keys(value).every((key) => partNames.includes(key));
}

async function toCarried(result: ToolResult): Promise<ToolResult> {
  const { images, error } = result;
  return {
    ...result,
    ...(error instanceof Error && { error: describeError(error) }),
    ...(Array.isArray(images) && { images: await Promise.all(images.map(toCarriedImage)) }),
  };
}

async function toCarriedImage(image: ToolImage | Promise<ToolImage>, index: number): Promise<string> {
  try {
    return await toImageText(await image);
  } catch (cause) {
    throw new TypeError(`an image that cannot be sent: images[${index}]: ${describeError(cause)}`, { cause });
  }
}
