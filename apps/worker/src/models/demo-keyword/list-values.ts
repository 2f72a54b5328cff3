/** Reads lists out of a message: "labels bug and ui", several e-mails, or all the numbers. */
import type { Assigned, Reading } from "./assign-slots.ts";
import type { Conforms } from "./conforms.ts";
import type { Choice } from "./flags-and-choices.ts";
import type { LabelledText } from "./labelled-text.ts";
import { overlaps } from "./mentions.ts";
import { scoreMention } from "./score-mention.ts";
import type { Slot } from "./slots.ts";

/** What stands between the items of a list. */
export const LIST_SEPARATOR = /\s*(?:[,;]\s*(?:and\s|or\s)?|\s(?:and|or|&)\s)\s*/i;
export const MAX_ITEMS = 50;

/** The list that follows the slot's own name in the message. */
export function listFromLabel(
  reading: Reading,
  slot: Slot,
  labelled: readonly LabelledText[],
  choices: readonly Choice[],
  conforms: Conforms,
): Assigned | undefined {
  for (const { start, end, text } of labelled) {
    const inside = choices.filter((choice) => choice.start >= start && choice.end <= end + 20);
    const value =
      inside.length > 0
        ? inside.map((choice) => choice.value)
        : splitItems(reading, slot, start, text, conforms);
    if (value.length > 0 && conforms(slot.schema, value)) {
      return { value, start, end: Math.max(end, ...inside.map((choice) => choice.end)) };
    }
  }
  return undefined;
}

function splitItems(
  reading: Reading,
  slot: Slot,
  start: number,
  text: string,
  conforms: Conforms,
): unknown[] {
  if (slot.itemSlot === undefined) return [];
  const item = slot.itemSlot;
  const values: unknown[] = [];
  let at = start;
  for (const part of text.split(LIST_SEPARATOR).slice(0, MAX_ITEMS)) {
    const from = reading.text.indexOf(part, at);
    at = from + part.length;
    const mention = reading.mentions.find((other) => other.start === from && other.end >= at);
    const options = [...(mention?.values ?? []), part.replace(/^["'“`]|["'”`]$/g, "")];
    const value = options.find((option) => option !== "" && conforms(item.schema, option));
    if (value !== undefined) values.push(value);
  }
  return values;
}

/** A list without a label, from what the other slots left: only when required, or when its items have a clear form. */
export function leftoverList(
  reading: Reading,
  slot: Slot,
  choices: readonly Choice[],
  taken: readonly { start: number; end: number }[],
  conforms: Conforms,
): Assigned | undefined {
  const span = { start: 0, end: 0 };
  const free = choices.filter((choice) => !taken.some((other) => overlaps(other, choice)));
  if (free.length > 0) {
    const value = [...new Set(free.map((choice) => choice.value))];
    return conforms(slot.schema, value) ? { value, ...span } : undefined;
  }
  // Words without a form, such as labels, are guessed only when the tool wants nothing else.
  const isVague = slot.itemSlot?.kind === "text" || slot.itemSlot?.kind === "title";
  if (!slot.required || (isVague && taken.length > 0)) return undefined;
  const value = scalars(reading, slot, taken, conforms);
  return value.length > 0 && conforms(slot.schema, value) ? { value, ...span } : undefined;
}

/** Every free mention of the kind that suits the items best. */
function scalars(
  reading: Reading,
  slot: Slot,
  taken: readonly { start: number; end: number }[],
  conforms: Conforms,
): unknown[] {
  const item = slot.itemSlot;
  if (item === undefined) return [];
  const free = reading.mentions.filter((mention) => !taken.some((other) => overlaps(other, mention)));
  const scored = free.flatMap((mention) => {
    const score = mention.weak ? 0 : scoreMention("", { ...mention, start: 0, end: 0 }, item, []);
    const value = score > 0 ? mention.values.find((option) => conforms(item.schema, option)) : undefined;
    return value === undefined ? [] : [{ value, score, kind: mention.kind }];
  });
  const best = scored.reduce((top, each) => (each.score > top.score ? each : top), {
    score: 0,
    kind: "" as string,
  });
  return scored
    .filter((each) => each.kind === best.kind)
    .map((each) => each.value)
    .slice(0, MAX_ITEMS);
}
