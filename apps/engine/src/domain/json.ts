// JSON values as they travel: types, reading, writing, comparing, and bounds. What went in comes out: a number that a
// double cannot hold is kept as its text. Nothing here knows a session.
import { randomBytes } from "node:crypto";
import { ExactNumber, isInexact, toDecimal, writeMarked } from "./exact-number.ts";
import { findRepeatedKey, scanJson } from "./scan-json.ts";

/** Any value that JSON can carry. A number is an {@link ExactNumber} where a double would be another number. */
export type JsonValue = null | boolean | number | ExactNumber | string | JsonValue[] | JsonObject;

/** A JSON object. */
export type JsonObject = { [key: string]: JsonValue };

/** How deep a request's JSON may nest. Deeper input would overflow the stacks of serialisers behind us. */
const MAX_JSON_DEPTH = 256;

/**
 * What JSON from outside may hold: so many levels, and so many numbers that a double cannot hold. Each costs a hundred
 * times what an ordinary one does, wherever the value goes, and the process does nothing else meanwhile.
 */
export const JSON_BOUNDS: JsonBounds = { depth: MAX_JSON_DEPTH, exactNumbers: 100_000 };

interface JsonBounds {
  depth: number;
  exactNumbers: number;
}

/** Why a text is not taken as JSON, in words, and where. */
export class JsonFault extends Error {
  readonly path: (string | number)[];

  constructor(message: string, path: (string | number)[] = [], cause?: unknown) {
    super(message, { cause });
    this.path = path;
  }
}

/** True for JSON objects, false for arrays, null and scalars. */
export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  );
}

/**
 * Reads JSON text. Own keys named `__proto__` are data like any other.
 *
 * @param bounds for text from outside: {@link JSON_BOUNDS}
 * @throws {JsonFault} when it is not JSON, is out of bounds, or repeats a key in an object: which of the two was meant?
 */
export function parseJson(text: string, bounds?: JsonBounds): JsonValue {
  const scan = scanJson(text);
  if (bounds && scan.depth > bounds.depth) throw new JsonFault(`nested deeper than ${bounds.depth} levels`);
  const value = parseValid(text);
  if (countMembers(value) < scan.members) throw toRepeatedKey(text);
  const exact = keepInexact(text, scan.numbers, bounds?.exactNumbers ?? Number.POSITIVE_INFINITY);
  return exact.length === 0 ? value : parseExact(text, exact);
}

/** JSON text of a value, each number as it came in. */
export function stringifyJson(value: unknown): string {
  const text = writeMarked(value, mark);
  return text?.includes(mark) ? text.replaceAll(markedNumber, "$1") : text;
}

/** The value with ordinary numbers only, the nearest ones: for validators. The same value when it has no others. */
export function toOrdinaryJson<T>(value: T): T {
  return hasExactNumber(value)
    ? (mapExactNumbers(value as JsonValue, (exact) => exact.toNumber()) as T)
    : value;
}

/** The value with the digits as text where a number is no ordinary one: for writers of JSON that are not ours. */
export function toDigitText<T extends JsonValue>(value: T): T {
  return hasExactNumber(value) ? (mapExactNumbers(value, (exact) => exact.toJSON()) as T) : value;
}

/** A copy that shares nothing that can be changed. */
export function copyJson<T extends JsonValue>(value: T): T {
  return mapExactNumbers(value, (exact) => exact) as T;
}

/** Whether an ordinary number would be a wrong one somewhere in the value. */
export function hasExactNumber(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return value instanceof ExactNumber || Object.values(value).some(hasExactNumber);
}

/**
 * JSON text with sorted keys, so that two equal values give the same text whatever the order of their keys and the
 * spelling of their numbers.
 */
export function toCanonicalJson(value: JsonValue): string {
  if (value instanceof ExactNumber) return toDecimal(value.text);
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const entries = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${toCanonicalJson(value[key] ?? null)}`);
  return `{${entries.join(",")}}`;
}

function parseValid(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new JsonFault(`not valid JSON: ${error instanceof Error ? error.message : error}`, [], error);
  }
}

/** Longest part of a key that a message shows, in characters. */
const SHOWN_CHARACTERS = 100;

function toRepeatedKey(text: string): JsonFault {
  const path = (findRepeatedKey(text) ?? []).map((at) =>
    typeof at === "string" ? at.slice(0, SHOWN_CHARACTERS) : at,
  );
  return new JsonFault(`the key ${JSON.stringify(path.at(-1))} is in one object twice`, path);
}

function countMembers(value: JsonValue): number {
  if (typeof value !== "object" || value === null) return 0;
  const children = Object.values(value) as JsonValue[];
  let count = Array.isArray(value) ? 0 : children.length;
  for (const child of children) if (typeof child === "object" && child !== null) count += countMembers(child);
  return count;
}

/** Of the starts and ends of numbers, those of numbers that a double does not hold, up to a limit. */
function keepInexact(text: string, numbers: readonly number[], limit: number): number[] {
  const kept: number[] = [];
  for (let i = 0; i < numbers.length; i += 2) {
    const [start = 0, end = 0] = [numbers[i], numbers[i + 1]];
    if (!isInexact(text.slice(start, end))) continue;
    if (kept.length === 2 * limit)
      throw new JsonFault(`more than ${limit} numbers that no 64-bit float holds`);
    kept.push(start, end);
  }
  return kept;
}

/** Reads a valid text once more, with marked strings in the places of these numbers. */
function parseExact(text: string, numbers: readonly number[]): JsonValue {
  let marked = "";
  let done = 0;
  for (let i = 0; i < numbers.length; i += 2) {
    const [start = 0, end = 0] = [numbers[i], numbers[i + 1]];
    marked += `${text.slice(done, start)}"${mark}${text.slice(start, end)}"`;
    done = end;
  }
  return takeMarksOff(JSON.parse(marked + text.slice(done)) as JsonValue);
}

function takeMarksOff(value: JsonValue): JsonValue {
  if (typeof value === "string")
    return value.startsWith(mark) ? new ExactNumber(value.slice(mark.length)) : value;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = takeMarksOff(value[i] ?? null);
  } else if (isJsonObject(value)) {
    // Every key is an own property already, `__proto__` too, so that assigning to it is safe.
    for (const [key, child] of Object.entries(value)) {
      const bare = takeMarksOff(child);
      if (bare !== child) value[key] = bare;
    }
  }
  return value;
}

/** Never leaves the process, so that nobody's text can be taken for it. */
const mark = `${randomBytes(12).toString("base64url")}:`;
const markedNumber = new RegExp(`"${mark}([^"]*)"`, "g");

function mapExactNumbers(value: JsonValue, map: (exact: ExactNumber) => JsonValue): JsonValue {
  if (value instanceof ExactNumber) return map(value);
  if (Array.isArray(value)) return value.map((child) => mapExactNumbers(child, map));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, mapExactNumbers(child, map)] as const),
  );
}
