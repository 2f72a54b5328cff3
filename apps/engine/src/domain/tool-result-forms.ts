// What a model is told of a tool's result: its text, its images, whether it failed. Pure, so that whoever takes a result
// and whoever tells it to a model see the same in it.
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from "./json.ts";

/** A result as a model gets it. */
export interface ModelResult {
  /** The text, not cut yet; empty when there is none. */
  text: string;
  /** What stands in `images`: data URIs, https URLs, or anything else, which no model is shown. */
  images: JsonValue[];
  /** True when the call failed: the text says how. */
  isError: boolean;
}

/** The keys of a result that is split. Any other key makes it plain JSON. */
const FORM_KEYS: ReadonlySet<string> = new Set(["text", "images", "details", "error", "isError"]);

const FAILED = "The call failed.";

/** How many characters stand for a token where a text is cut. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * Splits a result: a string is its own text, other JSON is told as JSON text, and an object that has only keys of
 * `text, images, details, error, isError` is taken apart. `details` is for the host alone.
 *
 * @example toModelResult({ text: "Done.", details: { ms: 12 } }); // { text: "Done.", images: [], isError: false }
 */
export function toModelResult(result: JsonValue): ModelResult {
  if (!isForm(result)) return { text: toText(result), images: [], isError: false };
  const isError = isFailedForm(result);
  // `error: true` marks the call, and says no more than that.
  const parts = [typeof result.error === "boolean" ? null : result.error, result.text];
  const text = parts
    .filter((part) => !isNothing(part))
    .map(toText)
    .join("\n\n");
  return { text: text || (isError ? FAILED : ""), images: listImages(result), isError };
}

/** The images of a result. The same as those of {@link toModelResult}, without a look at the rest. */
export function listImages(result: JsonValue): JsonValue[] {
  if (!isForm(result)) return [];
  const { images } = result;
  if (images === undefined || images === null) return [];
  return Array.isArray(images) ? images : [images];
}

/** True for a result by which a tool says that its call failed. */
export function isFailure(result: JsonValue): boolean {
  return isForm(result) && isFailedForm(result);
}

/**
 * True when a model does not see all of a result's text.
 *
 * @param maxResultTokens the tool's limit; null and undefined are none
 */
export function isCut(result: JsonValue, maxResultTokens: number | null | undefined): boolean {
  return isTextCut(toModelResult(result).text, maxResultTokens);
}

/** The same of a text, as that of an error. */
export function isTextCut(text: string, maxResultTokens: number | null | undefined): boolean {
  return text.length > toMaxCharacters(maxResultTokens);
}

/**
 * Cuts a text to what a model may see of it, with a note of how much is missing. No code point is cut in two, and
 * neither is what people see as one character, as an emoji of several parts.
 *
 * @example cutText("0123456789", 2); // "01234567\n[… 2 characters of 10 were left out]"
 */
export function cutText(text: string, maxResultTokens: number | null | undefined): string {
  if (!isTextCut(text, maxResultTokens)) return text;
  const kept = text.slice(0, findBorder(text, toMaxCharacters(maxResultTokens)));
  const left = toNumber(text.length - kept.length);
  return `${kept}\n[… ${left} characters of ${toNumber(text.length)} were left out]`;
}

function toMaxCharacters(maxResultTokens: number | null | undefined): number {
  return (maxResultTokens ?? Number.POSITIVE_INFINITY) * CHARACTERS_PER_TOKEN;
}

function isForm(result: JsonValue): result is JsonObject {
  if (!isJsonObject(result)) return false;
  const keys = Object.keys(result);
  return keys.length > 0 && keys.every((key) => FORM_KEYS.has(key));
}

/** An error that says nothing, as an empty text, is none: many clients always send the key. */
function isFailedForm({ error, isError }: JsonObject): boolean {
  return isError === true || (error !== false && !isNothing(error));
}

function isNothing(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === "";
}

function toText(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : stringifyJson(value ?? null);
}

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

/** How far around a border the beginning of a character is looked for: longer ones are cut between code points. */
const BORDER_WINDOW = 128;

function findBorder(text: string, limit: number): number {
  const border = isLowSurrogate(text, limit) && isHighSurrogate(text, limit - 1) ? limit - 1 : limit;
  const start = findStart(text, border - BORDER_WINDOW);
  const segments = segmenter.segment(text.slice(start, border + BORDER_WINDOW));
  const index = segments.containing(border - start)?.index ?? border - start;
  return index === 0 && start > 0 ? border : start + index;
}

/** Where characters are counted from. Flags are pairs of the same letters, which only a row's beginning tells apart. */
function findStart(text: string, from: number): number {
  if (from <= 0) return 0;
  const start = isLowSurrogate(text, from) ? from + 1 : from;
  let rowStart = start;
  while (isFlagLetter(text, rowStart - 2)) rowStart -= 2;
  return start - ((start - rowStart) % 4);
}

const isFlagLetter = (text: string, at: number) => {
  const code = text.codePointAt(at) ?? 0;
  return code >= 0x1f1e6 && code <= 0x1f1ff;
};
const isHighSurrogate = (text: string, at: number) => (text.charCodeAt(at) & 0xfc00) === 0xd800;
const isLowSurrogate = (text: string, at: number) => (text.charCodeAt(at) & 0xfc00) === 0xdc00;

/** `12,345`, whatever the language of the machine. */
function toNumber(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}
