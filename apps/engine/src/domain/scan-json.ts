// Looking over JSON text without parsing it: what `JSON.parse` would not tell, or would lose.
import { SAFE_CHARACTERS } from "./exact-number.ts";

/** What a text holds. Of a text that is no JSON it says nothing useful, and never fails. */
export interface JsonScan {
  /** The deepest nesting. */
  depth: number;
  /** Members of all objects, those with a repeated key included. */
  members: number;
  /** Where numbers start and end, one after the other, of those that a double may not hold. */
  numbers: number[];
}

/** Looks a text over, once. */
export function scanJson(text: string): JsonScan {
  const scan: JsonScan = { depth: 0, members: 0, numbers: [] };
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = findStringEnd(text, i);
    else if (code === COLON) scan.members++;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) scan.depth = Math.max(scan.depth, ++depth);
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
    else if (code === MINUS || isDigit(code)) i = scanNumber(text, i, scan.numbers) - 1;
  }
  return scan;
}

/** The index of the quote that ends the string whose first quote is at `start`; past the text when none does. */
export function findStringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, start, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, start: number, index: number): boolean {
  let first = index;
  while (first > start + 1 && text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (index - first) % 2 === 1;
}

/** Powers of ten of so many characters are in a double's range. */
const SAFE_POWER_CHARACTERS = 2;

function scanNumber(text: string, start: number, numbers: number[]): number {
  let end = start + 1;
  let power = -1;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === LOWER_E || code === UPPER_E) power = end;
    else if (!isDigit(code) && code !== DOT && code !== MINUS && code !== PLUS) break;
  }
  const isSafe = end - start <= SAFE_CHARACTERS && (power === -1 || end - power - 1 <= SAFE_POWER_CHARACTERS);
  const isMaybeMinusZero = text.charCodeAt(start) === MINUS && text.charCodeAt(start + 1) === ZERO;
  if (!isSafe || isMaybeMinusZero) numbers.push(start, end);
  return end;
}

/**
 * The path of the first key that its object has already; null when no key is repeated.
 *
 * @param text valid JSON
 * @example findRepeatedKey('{"a":[{"b":1,"b":2}]}'); // ["a", 0, "b"]
 */
export function findRepeatedKey(text: string): (string | number)[] | null {
  const frames: { keys: Set<string> | null; at: string | number }[] = [];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const frame = frames.at(-1);
    if (code === OPEN_BRACE) frames.push({ keys: new Set(), at: "" });
    else if (code === OPEN_BRACKET) frames.push({ keys: null, at: 0 });
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) frames.pop();
    else if (code === COMMA && frame?.keys === null) frame.at = Number(frame.at) + 1;
    else if (code === QUOTE) {
      const end = findStringEnd(text, i);
      if (frame?.keys && isBeforeColon(text, end + 1)) {
        frame.at = JSON.parse(text.slice(i, end + 1)) as string;
        if (frame.keys.has(frame.at)) return frames.map(({ at }) => at);
        frame.keys.add(frame.at);
      }
      i = end;
    }
  }
  return null;
}

function isBeforeColon(text: string, index: number): boolean {
  let next = index;
  while (WHITE_SPACE.has(text.charCodeAt(next))) next++;
  return text.charCodeAt(next) === COLON;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

const WHITE_SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const UPPER_E = 0x45;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LOWER_E = 0x65;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
