/** Reads lists out of a message: "labels bug and ui", several e-mails, or all the numbers. */
import type { Assigned, Reading } from "./assign-slots.ts";
import { buildArguments } from "./build-arguments.ts";
import type { Conforms } from "./conforms.ts";
import type { Choice } from "./flags-and-choices.ts";
import type { LabelledText } from "./labelled-text.ts";
import { overlaps } from "./mentions.ts";
import { scoreMention } from "./score-mention.ts";
import type { Slot } from "./slots.ts";

const SEPARATOR = /\s*(?:[,;]\s*(?:and\s|or\s)?|\s(?:and|or|&)\s)\s*/i;
const MAX_ITEMS = 50;

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
  for (const part of text.split(SEPARATOR).slice(0, MAX_ITEMS)) {
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
  const value =
    slot.itemShape === undefined ? scalars(reading, slot, taken, conforms) : objects(reading, slot, conforms);
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

/** One object for each part of the sentence that fills it: "2 apples and 3 pears". */
function objects(reading: Reading, slot: Slot, conforms: Conforms): unknown[] {
  const shape = slot.itemShape;
  if (shape === undefined) return [];
  const parts = reading.text.split(SEPARATOR).slice(0, MAX_ITEMS);
  return parts.flatMap((part) => {
    const mentions = reading.mentions.flatMap((mention) => {
      const from = reading.text.indexOf(part);
      const isInside = mention.start >= from && mention.end <= from + part.length;
      return isInside ? [{ ...mention, start: mention.start - from, end: mention.end - from }] : [];
    });
    const item = buildArguments(shape, { text: part, mentions }, conforms);
    return item.missing.length === 0 && item.assignment.size > 0 ? [item.args] : [];
  });
}
