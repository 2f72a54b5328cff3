/** Finds what a message lists beside a value: in "orders and A-3", A-2 and A-3 beside A-1. */
import type { Assigned, Reading } from "./assign-slots.ts";
import type { Conforms } from "./conforms.ts";
import { overlaps } from "./mentions.ts";
import { scoreMention } from "./score-mention.ts";
import type { Slot } from "./slots.ts";
import { isStopWord } from "./words.ts";

/** What may stand between two things of a list; a comma alone does not make one ("Paris, France"). */
const LINK =
  /^(?:\s*[,;.?!&]\s*|\s+(?:and|or|plus|also|then)\b\s*|\s*\b(?:in|at|for|near|of|to|from|with|on|what about|how about|the)\b\s*|\s+)+$/i;
const HAS_AND = /\b(?:and|or|plus|also|about)\b|[&;?.!]/i;
const COMMA_SUFFICES = new Set(["id", "uuid", "email", "number", "code", "url"]);
/** A bare word that ends a clause: the "rome" of "in paris and rome?". */
const BARE_WORD =
  /^(?:\s*,\s*|\s+(?:and|&)\s+)+(?:(?:in|at|for|near|to)\s+)?(\p{L}[\p{L}'-]{1,30}(?:\s\p{L}[\p{L}'-]{1,30})?)(?=\s*(?:$|[.,?!]|\s(?:and|&)\s))/iu;

/** The further values, in order; none when the listed things fill other slots ("add 3 and 4"). */
export function listedWith(
  reading: Reading,
  slot: Slot,
  first: Assigned,
  taken: readonly Assigned[],
  conforms: Conforms,
): unknown[] {
  if (first.mention === undefined) return [];
  const values: unknown[] = [];
  const links: string[] = [];
  let end = first.end;
  for (const mention of reading.mentions) {
    if (mention.start < end) continue;
    const link = reading.text.slice(end, mention.start);
    if (!LINK.test(link)) break;
    if (taken.some((other) => other !== first && overlaps(other, mention))) return [];
    const isSame = mention.kind === first.mention || (isWordy(mention.kind) && isWordy(first.mention));
    if (!isSame || scoreMention(reading.text, mention, slot, []) <= 0) continue;
    const value = mention.values.find(
      (option) => conforms(slot.schema, option) && typeof option === typeof first.value,
    );
    if (value === undefined || value === first.value) break;
    values.push(value);
    links.push(link);
    end = mention.end;
  }
  const isList = links.some((link) => HAS_AND.test(link)) || COMMA_SUFFICES.has(first.mention);
  return isList && values.length > 0 ? values : bareWords(reading.text, slot, first, conforms);
}

function isWordy(kind: string): boolean {
  return kind === "name" || kind === "phrase";
}

function bareWords(text: string, slot: Slot, first: Assigned, conforms: Conforms): unknown[] {
  if (first.mention !== "phrase") return [];
  const values: unknown[] = [];
  let rest = text.slice(first.end);
  for (let match = BARE_WORD.exec(rest); match !== null; match = BARE_WORD.exec(rest)) {
    const word = match[1] ?? "";
    if (word.split(" ").some((part) => isStopWord(part.toLowerCase())) || !conforms(slot.schema, word)) break;
    values.push(word);
    rest = rest.slice(match[0].length);
  }
  return values;
}
