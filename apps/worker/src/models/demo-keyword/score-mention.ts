/** Says how well a mention suits a slot: by its kind, the words around it, and the prepositions before it. */
import type { Mention, MentionKind } from "./mentions.ts";
import type { SlotKind } from "./slot-kind.ts";
import type { Slot } from "./slots.ts";
import { isStopWord, likeness, toWordSet, toWords } from "./words.ts";

type Affinity = Partial<Record<MentionKind, number>>;

/** What kinds of mention a kind of slot takes, and how gladly; a pair that is missing never fits. */
const AFFINITY: Readonly<Record<Exclude<SlotKind, "choice" | "flag" | "list" | "record">, Affinity>> = {
  number: { number: 6, id: 3, quoted: 3 },
  email: { email: 10, quoted: 1 },
  url: { url: 10, path: 1, quoted: 1 },
  uuid: { uuid: 10, quoted: 1 },
  datetime: { datetime: 11, date: 6, day: 5, time: 3, quoted: 2 },
  date: { date: 10, day: 7, quoted: 2 },
  time: { time: 10, quoted: 2 },
  phone: { phone: 10, number: 2, id: 2, quoted: 3 },
  currency: { currency: 8, code: 8, quoted: 3, name: 1, phrase: 1 },
  unit: { unit: 6, phrase: 4, name: 4, code: 4, quoted: 4 },
  id: { uuid: 7, id: 8, number: 5, code: 4, quoted: 5, path: 1, name: 1 },
  place: { name: 5, region: 4, quoted: 4, phrase: 3, code: 2 },
  person: { name: 5, quoted: 4, phrase: 2, email: 2, id: 1 },
  recipient: { email: 10, phone: 5, name: 5, quoted: 2, phrase: 3 },
  path: { path: 10, quoted: 6, url: 2, name: 1, phrase: 2 },
  title: { quoted: 7 },
  body: { quoted: 8 },
  query: { quoted: 8 },
  text: {
    quoted: 6,
    name: 4,
    id: 3,
    code: 3,
    phrase: 3,
    currency: 2,
    email: 2,
    url: 2,
    path: 2,
    unit: 1,
    number: 1,
    date: 1,
    day: 1,
    time: 1,
  },
};

/** Words before a value that say which end of a pair it is. */
const ROLES: ReadonlyArray<{ names: RegExp; before: RegExp }> = [
  {
    names: /\b(?:from|source|origin|base|start|departure|begin)\b/,
    before: /\b(?:from|between|starting|leaving)\s+(?:the\s+)?$/i,
  },
  {
    names: /\b(?:to|target|dest|destination|end|arrival|until)\b/,
    before: /\b(?:to|into|until|till|through|and)\s+(?:the\s+)?$/i,
  },
  {
    names: /\b(?:min|minimum|least|lower)\b/,
    before: /\b(?:over|above|least|than|from|minimum|more than)\s+$/i,
  },
  {
    names: /\b(?:max|maximum|most|upper|limit)\b/,
    before: /\b(?:under|below|most|up to|less than|maximum|top|first)\s+$/i,
  },
];

const PLACE_BEFORE = /\b(?:in|at|near|for|around|of)\s+(?:the\s+)?$/i;
const PERSON_BEFORE = /\b(?:for|with|by|to|named|called)\s+$/i;
const TARGET_BEFORE = /\b(?:to|in|into)\s+$/i;

/** A slot must have words of its own near the mention, or be required, to take what merely has the right kind. */
export const OPTIONAL_THRESHOLD = 9;
/** A tool that requires nothing is of no use without what the message gives, so it takes it more readily. */
export const ALL_OPTIONAL_THRESHOLD = 5;

export function scoreMention(
  text: string,
  mention: Mention,
  slot: Slot,
  distinct: readonly string[],
): number {
  const affinities: Readonly<Record<string, Affinity | undefined>> = AFFINITY;
  const affinity = affinities[slot.kind]?.[mention.kind];
  if (affinity === undefined || isUnnamedCopy(text, mention, slot)) return 0;
  const before = text.slice(Math.max(0, mention.start - 60), mention.start);
  const after = text.slice(mention.end, mention.end + 40);
  const near = nearness(before, after, distinct, mention);
  const score = affinity + near + roleBonus(before, slot) + placementBonus(before, text, mention, slot);
  return mention.weak ? score - 3 : score;
}

/** Whether the slot's own words stand just before the mention ("order A-1"), or just after a number ("4 guests"). */
function nearness(before: string, after: string, distinct: readonly string[], mention: Mention): number {
  const clause = before.slice(Math.max(before.lastIndexOf("\n"), before.search(/[.;!?]\s[^.;!?]*$/)) + 1);
  const leading = toWords(clause).slice(-4).reverse();
  for (const [distance, word] of leading.entries()) {
    if (isStopWord(word)) continue;
    const here = toWordSet([word]);
    const best = Math.max(0, ...distinct.filter((own) => own.length > 1).map((own) => likeness(here, own)));
    if (best > 0) return Math.max(1, 6 * best - 1.5 * distance);
  }
  if (mention.kind !== "number") return 0;
  const next = toWordSet(toWords(after).slice(0, 2));
  return 5 * Math.max(0, ...distinct.filter((own) => own.length > 1).map((own) => likeness(next, own)));
}

/** `cc` and `bcc` take only what the message says is a copy. */
function isUnnamedCopy(text: string, mention: Mention, slot: Slot): boolean {
  const copy = slot.words.find((word) => word === "cc" || word === "bcc");
  return copy !== undefined && !text.slice(0, mention.start).toLowerCase().includes(copy);
}

function roleBonus(before: string, slot: Slot): number {
  const name = slot.words.join(" ");
  let bonus = 0;
  for (const role of ROLES) {
    const fits = role.before.test(before);
    if (role.names.test(name)) bonus += fits ? 6 : 0;
    else if (fits && ROLES.some((other) => other !== role && other.names.test(name))) bonus -= 1;
  }
  return bonus;
}

function placementBonus(before: string, text: string, mention: Mention, slot: Slot): number {
  if (slot.kind === "place") {
    // "San Francisco, CA" is a location but not a city.
    const isWide = /\b(?:location|place|address|destination|origin|area|venue)\b/.test(slot.words.join(" "));
    const placed = PLACE_BEFORE.test(before) ? 3 : /\b(?:to|from)\s+(?:the\s+)?$/i.test(before) ? 2 : 0;
    return placed + (mention.kind === "region" && isWide ? 2 : 0);
  }
  if (slot.kind === "person") return PERSON_BEFORE.test(before) ? 2 : 0;
  if (slot.kind === "recipient") return /\bto\s+$/i.test(before) ? 3 : 0;
  if (slot.kind === "text" || slot.kind === "title") return TARGET_BEFORE.test(before) ? 1 : 0;
  if (slot.kind === "currency" || slot.kind === "unit") {
    const isCounted = /[\d$€£¥]\s*$/.test(before) || /^\s*\d/.test(text.slice(mention.end, mention.end + 4));
    return isCounted && /\b(?:from|source|base)\b/.test(slot.words.join(" ")) ? 3 : 0;
  }
  return 0;
}
