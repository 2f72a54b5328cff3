/**
 * Finds the pieces of a message that could be arguments: quotes, e-mails, dates, numbers, ids, names and so on.
 * Mentions may overlap ("2026-03-01 at 19:00" is a date, a time and a date-time); each is used at most once.
 */
import { isInexact } from "@tandem/engine/domain/exact-number";
import { dateMentions } from "./dates.ts";
import { isStopWord } from "./words.ts";

export type MentionKind =
  | "quoted"
  | "url"
  | "email"
  | "uuid"
  | "datetime"
  | "date"
  | "time"
  | "day"
  | "phone"
  | "path"
  | "number"
  | "currency"
  | "code"
  | "id"
  | "name"
  | "region"
  | "phrase"
  | "unit";

export interface Mention {
  readonly kind: MentionKind;
  readonly start: number;
  readonly end: number;
  /** Ways to write it as a value, the best first. */
  readonly values: readonly unknown[];
  /** A guess from position alone, such as a capital letter that opens a sentence. */
  readonly weak?: boolean;
}

const MAX_MENTIONS = 200;

const NUMBER_WORDS: Readonly<Record<string, number>> = {
  ...{ zero: 0, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10 },
  ...{ eleven: 11, twelve: 12, fifteen: 15, twenty: 20, thirty: 30, forty: 40, fifty: 50, hundred: 100 },
};

const CURRENCIES: Readonly<Record<string, string>> = {
  ...{
    dollar: "USD",
    dollars: "USD",
    $: "USD",
    euro: "EUR",
    euros: "EUR",
    "€": "EUR",
    pounds: "GBP",
    "£": "GBP",
  },
  ...{ yen: "JPY", "¥": "JPY", rupees: "INR", "₹": "INR", francs: "CHF", yuan: "CNY" },
};

/** Patterns whose match cannot be part of a looser one: a number inside an e-mail is not a number. */
const FIRM_PATTERNS: ReadonlyArray<[MentionKind, RegExp]> = [
  ["url", /\b[a-z][a-z0-9+]{1,9}:\/\/[^\s<>"'`]{1,2000}[^\s<>"'`.,;:!?)\]]/g],
  ["email", /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}/g],
  ["uuid", /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi],
];

const LOOSE_PATTERNS: ReadonlyArray<[MentionKind, RegExp]> = [
  ["path", /(?<![\w/])(?:~|\.{1,2})?\/[\w.-]{1,100}(?:\/[\w.-]{1,100}){0,20}/g],
  [
    "path",
    /(?<![\w/.])(?:[\w.-]{1,100}\/){0,20}[\w-]{1,100}\.(?:txt|md|pdf|csv|json|ts|js|py|png|jpe?g|docx?|xlsx?|html|ya?ml|log|zip)\b/g,
  ],
  [
    "url",
    /\b(?:[a-z0-9-]{1,63}\.){1,4}(?:com|org|net|io|dev|ai|de|uk|co|eu|app)\b(?:\/[\w./?=&%-]{0,200})?/g,
  ],
  ["path", /(?<![\w/.-])(?=[\d/.]{0,60}[A-Za-z])[\w.-]{1,60}(?:\/[\w.-]{1,60}){1,9}(?![\w/])/g],
  ["phone", /(?:\+\d[\d ().-]{6,18}\d|\(?\b\d{3}\)?[ .-]\d{3}[ .-]\d{4}\b)/g],
  [
    "id",
    /#[A-Za-z0-9][\w-]{0,60}|(?<![\w.-])(?=[A-Za-z_-]{0,40}\d)(?=[\d_-]{0,40}[A-Za-z])[A-Za-z0-9][\w-]{1,60}\b/g,
  ],
  ["id", /(?<![\w.-])v?\d{1,5}(?:\.\d{1,5}){2,3}\b/g],
  ["id", /(?<![\w.-])\d{1,10}(?:-\d{1,10}){2,5}\b/g],
  [
    "number",
    /(?:(?<![\w.])[-−])?(?<![\w.,])(?:\d{1,3}(?:,\d{3}){1,5}|\d{1,15})(?:\.\d{1,12})?(?![\w-]*\w|\.\d)/g,
  ],
  ["code", /(?<![\w-])[A-Z]{2,5}(?![\w-])/g],
];

const QUOTES =
  /"([^"]{1,4000})"|“([^”]{1,4000})”|«([^»]{1,4000})»|`([^`]{1,4000})`|(?<![\p{L}\p{N}])['‘]([^'’]{1,4000})['’](?!\p{L})/gu;
const NAMES =
  /(?<![\p{L}\p{N}_])\p{Lu}[\p{L}'’.-]{0,40}(?:\s(?:(?:de|da|del|la|las|los|of|van|von|am)\s)?\p{Lu}[\p{L}'’-]{0,40}){0,4}/gu;
const PHRASES =
  /\b(?:in|at|for|near|of|from|to|with|by|on|about|around|into)\s+(?=((?:\p{L}[\p{L}'’-]{0,40})(?:\s\p{L}[\p{L}'’-]{0,40}){0,5}))/giu;
/** The rest of "San Francisco, CA"; "Paris, Rome and Oslo" is a list. */
const REGION =
  /^, (?:\p{Lu}{2}|\p{Lu}\p{Ll}{2,20}(?: \p{Lu}\p{Ll}{2,20})?)(?![\p{L}']|\s*(?:,|and\b|or\b|&))/u;

/** Everything in the text that could be an argument, in the order of the text. */
export function findMentions(text: string, isToolWord: (word: string) => boolean): Mention[] {
  const firm: Mention[] = FIRM_PATTERNS.flatMap(([kind, pattern]) => matchesOf(text, kind, pattern, []));
  const dated = [...firm, ...dateMentions(text, firm)];
  const quoted = quotedMentions(text, dated);
  const found = [...dated.filter((mention) => !isInside(mention, quoted)), ...quoted];
  for (const [kind, pattern] of LOOSE_PATTERNS) found.push(...matchesOf(text, kind, pattern, found));
  found.push(...wordMentions(text, found), ...nameMentions(text, found, isToolWord));
  found.push(...phraseMentions(text, found, isToolWord));
  found.push(
    ...unitMentions(
      text,
      found.filter((mention) => mention.kind === "number"),
    ),
  );
  return found.sort((a, b) => a.start - b.start).slice(0, MAX_MENTIONS);
}

export function overlaps(a: { start: number; end: number }, b: { start: number; end: number }): boolean {
  return a.start < b.end && b.start < a.end;
}

function isInside(mention: Mention, outer: readonly Mention[]): boolean {
  return outer.some((other) => overlaps(mention, other));
}

function matchesOf(text: string, kind: MentionKind, pattern: RegExp, taken: readonly Mention[]): Mention[] {
  const mentions: Mention[] = [];
  for (const match of text.matchAll(pattern)) {
    const span = { start: match.index, end: match.index + match[0].length };
    if (taken.some((other) => overlaps(other, span))) continue;
    if (kind === "code" && isStopWord(match[0].toLowerCase())) continue;
    mentions.push({ kind, ...span, values: valuesOf(kind, match[0]) });
  }
  return mentions;
}

function valuesOf(kind: MentionKind, text: string): unknown[] {
  if (kind === "number") {
    const digits = text.replace(/,/g, "").replace("−", "-");
    // A number that a double rounds would be a wrong one.
    return isInexact(digits) ? [text] : [Number(digits), text];
  }
  if (kind === "url" && !text.includes("://")) return [`https://${text}`, text];
  if (kind === "id" || kind === "code") {
    const bare = text.replace(/^#/, "");
    const written = /^#\D*$/.test(text) ? [text, bare] : [bare, text];
    const values: unknown[] = [...written, bare.toUpperCase(), bare.toLowerCase()];
    return /^\d{1,15}$/.test(bare) ? [...values, Number(bare)] : values;
  }
  return kind === "uuid" ? [text, text.toLowerCase()] : [text];
}

/** Quoted texts; one that is wholly an e-mail, a date or a link is that, not a quote. */
function quotedMentions(text: string, firm: readonly Mention[]): Mention[] {
  const mentions: Mention[] = [];
  for (const match of text.matchAll(QUOTES)) {
    const content = match.slice(1).find((group) => group !== undefined) ?? "";
    const start = match.index;
    const end = start + match[0].length;
    if (firm.some((mention) => mention.start === start + 1 && mention.end === end - 1)) continue;
    const number = /^-?\d{1,15}(?:\.\d{1,12})?$/.test(content) ? [Number(content)] : [];
    mentions.push({ kind: "quoted", start, end, values: [content.trim(), ...number] });
  }
  return mentions;
}

/** Numbers and currencies written as words or signs. */
function wordMentions(text: string, taken: readonly Mention[]): Mention[] {
  const mentions: Mention[] = [];
  for (const match of text.matchAll(/[$€£¥₹]|\p{L}{3,10}/gu)) {
    const word = match[0].toLowerCase();
    const span = { start: match.index, end: match.index + match[0].length };
    if (taken.some((other) => overlaps(other, span))) continue;
    const number = Object.hasOwn(NUMBER_WORDS, word) ? NUMBER_WORDS[word] : undefined;
    if (number !== undefined) mentions.push({ kind: "number", ...span, values: [number] });
    const currency = Object.hasOwn(CURRENCIES, word) ? CURRENCIES[word] : undefined;
    if (currency !== undefined) mentions.push({ kind: "currency", ...span, values: [currency, word] });
  }
  return mentions;
}

/** The word after a number: "10 km". */
function unitMentions(text: string, numbers: readonly Mention[]): Mention[] {
  return numbers.flatMap((number): Mention[] => {
    const [gap, unit] = /^\s?(\p{L}{1,12}|°[CF])/u.exec(text.slice(number.end, number.end + 20)) ?? [];
    if (gap === undefined || unit === undefined || isStopWord(unit.toLowerCase())) return [];
    const end = number.end + gap.length;
    return [{ kind: "unit", start: end - unit.length, end, values: [unit, unit.toLowerCase()] }];
  });
}

function nameMentions(
  text: string,
  taken: readonly Mention[],
  isToolWord: (word: string) => boolean,
): Mention[] {
  const mentions: Mention[] = [];
  for (const match of text.matchAll(NAMES)) {
    let start = match.index;
    const opensSentence = /(?:^|[.!?:\n])\s*$/.test(text.slice(Math.max(0, start - 5), start));
    const words = match[0].split(/(?<=\s)/);
    while (words[0] !== undefined && isNoise(words[0].trim(), isToolWord))
      start += (words.shift() ?? "").length;
    const name = words.join("").replace(/[.'’-]+$/, "");
    const span = { start, end: start + name.length };
    if (name === "" || taken.some((other) => other.kind !== "code" && overlaps(other, span))) continue;
    const weak = opensSentence && start === match.index;
    if (weak && !standsAlone(text.slice(span.end, span.end + 40), isToolWord)) continue;
    mentions.push({ kind: "name", ...span, values: [name], weak });
    const region = REGION.exec(text.slice(span.end, span.end + 60))?.[0];
    if (region !== undefined && !isNoise(region.slice(2), isToolWord)) {
      const end = span.end + region.length;
      mentions.push({ kind: "region", start, end, values: [text.slice(start, end)], weak });
    }
  }
  return mentions;
}

/** Whether a capital that opens a sentence may be a name: "Paris weather" but not "Describe the weather". */
function standsAlone(after: string, isToolWord: (word: string) => boolean): boolean {
  const [next = ""] = /^\s+[\p{L}'’]+/u.exec(after) ?? [];
  const word = next.trim().toLowerCase();
  return word === "" || /^(?:and|to|or)$/.test(word) || isToolWord(word);
}

function phraseMentions(
  text: string,
  taken: readonly Mention[],
  isToolWord: (word: string) => boolean,
): Mention[] {
  const mentions: Mention[] = [];
  for (const match of text.matchAll(PHRASES)) {
    const words = (match[1] ?? "").split(/(?<=\s)/);
    let start = match.index + match[0].length;
    while (words[0] !== undefined && /^(?:the|a|an|my|our|your)\s*$/i.test(words[0]))
      start += words.shift()?.length ?? 0;
    const stop = words.findIndex((word) => isStopWord(word.trim().toLowerCase()));
    const reach = start + (stop === -1 ? words : words.slice(0, stop)).join("").length;
    const end = Math.min(reach, ...taken.filter((other) => other.end > start).map((other) => other.start));
    const phrase = text.slice(start, Math.max(start, end)).trim();
    if (phrase === "" || phrase.split(" ").every((word) => isNoise(word, isToolWord))) continue;
    mentions.push({ kind: "phrase", start, end: start + phrase.length, values: [phrase] });
  }
  return mentions;
}

function isNoise(word: string, isToolWord: (word: string) => boolean): boolean {
  const bare = word.toLowerCase().replace(/['’]\p{L}{0,2}$/u, "");
  return isStopWord(bare) || isToolWord(bare);
}
