/** Reads booleans and listed values (`enum`, `const`) out of a message. */
import type { Mention } from "./mentions.ts";
import type { Slot } from "./slots.ts";
import { isStopWord, stem, toNameWords } from "./words.ts";

/** A listed value that the message names, and where. */
export interface Choice {
  readonly start: number;
  readonly end: number;
  readonly value: unknown;
}

/** Listed values looked for in one message. */
const MAX_CHOICES = 200;

/** Other ways to say values that often stand in an `enum`. */
const ALSO_SAID: Readonly<Record<string, string>> = {
  ...{
    celsius: "°c|centigrade|metric",
    fahrenheit: "°f|imperial",
    metric: "celsius|kilometers",
    imperial: "fahrenheit|miles",
  },
  ...{ high: "urgent|important", critical: "blocker", medium: "normal", normal: "medium" },
  ...{ usd: "dollars?|\\$", eur: "euros?|€", gbp: "pounds|£", jpy: "yen|¥" },
  ...{ en: "english", de: "german", fr: "french", es: "spanish", it: "italian" },
  ...{ asc: "ascending", desc: "descending" },
};

/** The listed values that the message names, in its order; longer names win over shorter ones inside them. */
export function findChoices(
  text: string,
  allowed: readonly unknown[],
  mentions: readonly Mention[],
): Choice[] {
  const found: Choice[] = [];
  for (const value of allowed.slice(0, MAX_CHOICES)) {
    if (typeof value === "string") found.push(...occurrences(text, value));
    else if (typeof value === "number") {
      const number = mentions.find((mention) => mention.kind === "number" && mention.values[0] === value);
      if (number !== undefined) found.push({ start: number.start, end: number.end, value });
    }
  }
  found.sort((a, b) => b.end - b.start - (a.end - a.start) || a.start - b.start);
  const kept: Choice[] = [];
  for (const choice of found) {
    if (!kept.some((other) => choice.start < other.end && other.start < choice.end)) kept.push(choice);
  }
  return kept.sort((a, b) => a.start - b.start);
}

function occurrences(text: string, value: string): Choice[] {
  const words = toNameWords(value);
  if (words.length === 0 || value.length > 100) return [];
  // A very short or very common value ("a", "in") counts only as it is written in the schema.
  const isCommon = value.length <= 2 || isStopWord(value.toLowerCase());
  const endings = words.length === 1 && value.length > 3 ? "(?:s|ed|ly)?" : "";
  const spelled = words.map(escapePattern).join("[\\s_-]?") + endings;
  const others = isCommon && value.length > 2 ? undefined : ALSO_SAID[value.toLowerCase()];
  const own = isCommon ? (value === value.toLowerCase() ? [] : [escapePattern(value)]) : [spelled];
  const options = [...own, ...(others === undefined ? [] : [others])];
  if (options.length === 0) return [];
  const flags = isCommon && others === undefined ? "gu" : "giu";
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${options.join("|")})(?![\\p{L}\\p{N}])`, flags);
  return [...text.matchAll(pattern)].map((match) => ({
    ...{ start: match.index, end: match.index + match[0].length, value },
  }));
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/** Words of a flag's name that only say that it is a flag. */
const FLAG_WORDS = new Set([
  "is",
  "has",
  "with",
  "should",
  "include",
  "includes",
  "enable",
  "enabled",
  "use",
  "only",
  "be",
  "add",
]);

/** True or false when the message speaks of the flag, undefined when it does not. */
export function readFlag(text: string, slot: Slot): boolean | undefined {
  const own = slot.words.filter((word) => !FLAG_WORDS.has(word) && !isStopWord(word));
  const words = own.length > 0 ? own : slot.words;
  const spoken =
    text
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.slice(0, 400) ?? [];
  const stems = spoken.map(stem);
  for (const word of words) {
    const at = stems.indexOf(stem(word));
    if (at === -1) continue;
    const before = spoken.slice(Math.max(0, at - 3), at);
    const after = spoken.slice(at + 1, at + 3);
    if (after[0] === "false" || after[0] === "no" || after[0] === "off" || after.join(" ") === "is false")
      return false;
    return !before.some((other) =>
      /^(?:not|no|without|non|don|dont|exclude|excluding|never|disable)$/.test(other),
    );
  }
  return undefined;
}
