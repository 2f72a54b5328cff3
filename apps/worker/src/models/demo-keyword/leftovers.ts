/** Gives slots that no mention suits the plain words of the message: "Add buy milk to my todo list" is "buy milk". */
import type { Assignment, Reading } from "./assign-slots.ts";
import type { Conforms } from "./conforms.ts";
import type { SlotKind } from "./slot-kind.ts";
import type { Slot } from "./slots.ts";
import { isStopWord, likeness, stem, toNameWords, toWordSet, toWords } from "./words.ts";

export interface LeftoversRequest {
  readonly reading: Reading;
  readonly slots: readonly Slot[];
  readonly assignment: Assignment;
  readonly conforms: Conforms;
  readonly toolName: string;
  readonly description: string;
}

/** Kinds that plain words can be, the most willing first. */
const WILLING: readonly SlotKind[] = ["query", "title", "body", "text", "place", "person", "path"];
/** Kinds whose last words are part of the value even when they say little: "call me there". */
const PROSE: ReadonlySet<SlotKind> = new Set(["query", "title", "body", "text"]);
/** Words at the end of prose that belong to what followed: "Bohemian Rhapsody by". */
const LEADS_ON = /^(?:please|thanks|now|and|by|to|in|into|on|for|from|of|at|with|as|the|a)$/;
const POLITE =
  /^(?:(?:hello|hi|hey|please|kindly|ok|so|and|can you|could you|would you|will you|i want to|i need to|i'd like to)[\s,!]+)+/i;

export function assignLeftovers(request: LeftoversRequest): void {
  const open = request.slots.filter((slot) => isOpen(slot, request));
  const [slot] = open.sort((a, b) => WILLING.indexOf(a.kind) - WILLING.indexOf(b.kind));
  // Two open slots of the same kind could be swapped, so neither is guessed.
  const isAmbiguous = open.filter((other) => other.kind === slot?.kind).length > 1;
  if (slot !== undefined && !isAmbiguous) {
    const value = leftoverFor(slot, request);
    if (value !== "" && request.conforms(slot.schema, value))
      request.assignment.set(slot, { value, start: 0, end: 0 });
  }
  repeatTitle(request);
}

function isOpen(slot: Slot, { assignment, conforms }: LeftoversRequest): boolean {
  const isFilled = assignment.has(slot) || slot.resolved.default !== undefined || conforms(slot.schema, null);
  return slot.required && !isFilled && WILLING.includes(slot.kind);
}

function leftoverFor(slot: Slot, request: LeftoversRequest): string {
  const text = request.reading.text;
  const content = /^[^:"“`]{1,80}:\s+(\S[\s\S]*)$/.exec(text)?.[1];
  const from = text.length - (content?.length ?? 0);
  if (content !== undefined && [...request.assignment.values()].every(({ end }) => end <= from))
    return content.trim();
  if (slot.kind === "query" && request.assignment.size === 0) {
    return isCommand(text, request.toolName) ? bareWords(slot, request) : text.trim().replace(POLITE, "");
  }
  return bareWords(slot, request);
}

function isCommand(text: string, toolName: string): boolean {
  const [first = ""] = text.trim().replace(POLITE, "").split(/\s/);
  return likeness(toWordSet(toNameWords(toolName)), first.toLowerCase()) > 0;
}

/** The words between the tool's own words and the values already taken, without what merely leads in or out. */
function bareWords(
  slot: Slot,
  { reading, assignment, toolName, slots, description }: LeftoversRequest,
): string {
  let text = reading.text.replace(POLITE, "");
  for (const { start, end } of assignment.values()) text = text.replace(reading.text.slice(start, end), "\n");
  const isProse = PROSE.has(slot.kind);
  for (const mention of reading.mentions) {
    if (mention.kind === "day" && !isProse) text = text.replace(String(mention.values.at(-1)), "\n");
  }
  const own = toWordSet([...toNameWords(toolName), ...slots.flatMap((other) => other.words)]);
  const isOwn = (word: string) => word === "" || likeness(own, word) > 0;
  const isLeadIn = (word: string) => isOwn(word) || isStopWord(word.replace(/'.*$/, ""));
  const isLeadOut = isProse ? (word: string) => isOwn(word) || LEADS_ON.test(word) : isLeadIn;
  const pieces = text.split(/[\n?!;]|\.\s/).map((piece) => trimWords(piece, isLeadIn, isLeadOut));
  const longest = pieces.reduce((best, piece) => (piece.length > best.length ? piece : best), "");
  const purpose = toWordSet(toWords(description));
  return cutAddition(longest, (word) => isLeadIn(word) || purpose.stems.has(stem(word)));
}

/** Without a last phrase that only repeats what the tool is for: "buy milk" of "buy milk to my todo list". */
function cutAddition(text: string, isExpected: (word: string) => boolean): string {
  const words = text.split(" ");
  const at = words.findLastIndex((word) => /^(?:to|in|into|on|for|from|of)$/i.test(word));
  return at > 0 && words.slice(at + 1).every((word) => isExpected(bare(word)))
    ? words.slice(0, at).join(" ")
    : text;
}

function trimWords(
  text: string,
  isLeadIn: (word: string) => boolean,
  isLeadOut: (word: string) => boolean,
): string {
  const words = text.split(/\s+/);
  let from = 0;
  let to = words.length;
  while (from < to && isLeadIn(bare(words[from]))) from += 1;
  while (to > from && isLeadOut(bare(words[to - 1]))) to -= 1;
  const trimmed = words.slice(from, to).join(" ");
  return trimmed.replace(/[.,;:!?]+$/, "");
}

function bare(word = ""): string {
  return word.toLowerCase().replace(/[^\p{L}\p{N}']/gu, "");
}

/** A description that is required but not given repeats the title. */
function repeatTitle(request: LeftoversRequest): void {
  const { slots, assignment, conforms } = request;
  const title = slots.find((slot) => slot.kind === "title" && assignment.has(slot));
  const value = title === undefined ? undefined : assignment.get(title)?.value;
  const details = slots.find(
    (slot) => /\b(?:description|details|summary)\b/.test(slot.words.join(" ")) && isOpen(slot, request),
  );
  if (details !== undefined && typeof value === "string" && conforms(details.schema, value)) {
    assignment.set(details, { value, start: 0, end: 0 });
  }
}
