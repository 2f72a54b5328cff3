/** Decides which piece of a message goes into which slot: the best pairs first, each piece and each slot once. */
import type { Conforms } from "./conforms.ts";
import { findChoices, readFlag } from "./flags-and-choices.ts";
import { findLabelledText, type LabelledText } from "./labelled-text.ts";
import { leftoverList, listFromLabel } from "./list-values.ts";
import { type Mention, type MentionKind, overlaps } from "./mentions.ts";
import { ALL_OPTIONAL_THRESHOLD, OPTIONAL_THRESHOLD, scoreMention } from "./score-mention.ts";
import { distinctWords, type Slot } from "./slots.ts";

/** A message and what was found in it. */
export interface Reading {
  readonly text: string;
  readonly mentions: readonly Mention[];
}

/** A value for a slot and the place in the message it was read from. */
export interface Assigned {
  readonly value: unknown;
  readonly start: number;
  readonly end: number;
  readonly mention?: MentionKind;
}

export type Assignment = Map<Slot, Assigned>;

interface Candidate {
  readonly slot: Slot;
  readonly score: number;
  readonly start: number;
  readonly end: number;
  readonly values: readonly unknown[];
  readonly mention?: MentionKind;
}

/** What a label or a listed value must score before an optional slot takes it. */
const OPTIONAL_LABEL_THRESHOLD = 5;

export function assignSlots(reading: Reading, slots: readonly Slot[], conforms: Conforms): Assignment {
  const choices = new Map(
    slots.map((slot) => [slot, findChoices(reading.text, listedValues(slot), reading.mentions)]),
  );
  const labelled = findLabelledText(reading.text, slots, reading.mentions, [...choices.values()].flat());
  const assignment: Assignment = new Map();
  for (const slot of slots) {
    if (slot.kind !== "list") continue;
    const list = listFromLabel(reading, slot, labelled.get(slot) ?? [], choices.get(slot) ?? [], conforms);
    if (list !== undefined) assignment.set(slot, list);
  }
  const scalars = slots.filter(
    (slot) => slot.kind !== "list" && slot.kind !== "record" && slot.kind !== "flag",
  );
  const candidates = scalars.flatMap((slot) => [
    ...labelCandidates(reading, slot, labelled.get(slot) ?? []),
    ...choiceCandidates(slot, choices.get(slot) ?? []),
    ...mentionCandidates(reading, slot, slots),
  ]);
  takeBest(candidates, assignment, conforms);
  for (const slot of slots) assignRest(reading, slot, assignment, choices.get(slot) ?? [], conforms);
  return assignment;
}

function takeBest(candidates: Candidate[], assignment: Assignment, conforms: Conforms): void {
  candidates.sort((a, b) => b.score - a.score);
  const taken: Array<{ start: number; end: number }> = [...assignment.values()];
  for (const candidate of candidates) {
    if (assignment.has(candidate.slot) || taken.some((span) => overlaps(span, candidate))) continue;
    const value = candidate.values.find((option) => conforms(candidate.slot.schema, option));
    if (value === undefined) continue;
    const { start, end, mention } = candidate;
    assignment.set(candidate.slot, { value, start, end, ...(mention === undefined ? {} : { mention }) });
    taken.push(candidate);
  }
}

/** Booleans take no words away from other slots, and unlabelled lists take what no other slot wanted. */
function assignRest(
  reading: Reading,
  slot: Slot,
  assignment: Assignment,
  choices: readonly { start: number; end: number; value: unknown }[],
  conforms: Conforms,
): void {
  if (assignment.has(slot)) return;
  if (slot.kind === "flag") {
    const value = readFlag(reading.text, slot);
    if (value !== undefined && conforms(slot.schema, value))
      assignment.set(slot, { value, start: 0, end: 0 });
  }
  if (slot.kind === "list") {
    const list = leftoverList(reading, slot, choices, [...assignment.values()], conforms);
    if (list !== undefined) assignment.set(slot, list);
  }
}

/** The values a choice, or the items of a list, may take. */
function listedValues(slot: Slot): readonly unknown[] {
  if (slot.kind !== "list") return slot.allowed ?? [];
  return slot.itemSlot?.allowed ?? [];
}

function labelCandidates(reading: Reading, slot: Slot, spans: readonly LabelledText[]): Candidate[] {
  return spans.map(({ start, end, text, score }): Candidate => {
    const [word = ""] = text.split(/\s/);
    const bare = word.replace(/[.,;:!?]+$/, "");
    const values: unknown[] = [text, bare];
    if (/^-?\d{1,15}(?:\.\d{1,12})?$/.test(bare)) values.push(Number(bare));
    // A label's text may hold the value in another form: "date: March 3, 2026".
    for (const mention of reading.mentions) if (mention.start === start) values.push(...mention.values);
    const isOneWord = slot.kind === "id" || slot.kind === "uuid" || slot.kind === "email";
    if (!isOneWord) return { slot, score, start, end, values };
    return { slot, score, start, end: start + word.length, values: [bare, ...values.slice(2)] };
  });
}

function choiceCandidates(
  slot: Slot,
  choices: readonly { start: number; end: number; value: unknown }[],
): Candidate[] {
  return choices.map(({ start, end, value }) => ({ slot, score: 8, start, end, values: [value] }));
}

function mentionCandidates(reading: Reading, slot: Slot, slots: readonly Slot[]): Candidate[] {
  const distinct = distinctWords(slot, slots);
  const optional = slots.some((other) => other.required) ? OPTIONAL_THRESHOLD : ALL_OPTIONAL_THRESHOLD;
  const threshold = slot.required ? 1 : optional;
  return reading.mentions.flatMap((mention): Candidate[] => {
    const { start, end, values, kind } = mention;
    if (slot.kind === "choice") {
      const value = slot.allowed?.find((allowed) => values.includes(allowed));
      return value === undefined
        ? []
        : [{ slot, score: OPTIONAL_LABEL_THRESHOLD, start, end, values: [value] }];
    }
    const score = scoreMention(reading.text, mention, slot, distinct);
    return score < threshold ? [] : [{ slot, score, start, end, values, mention: kind }];
  });
}
