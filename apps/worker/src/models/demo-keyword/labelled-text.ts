/** Finds values that a message introduces by name or by a phrase: "subject: Lunch", "titled Login fails", "search for x". */
import type { Mention } from "./mentions.ts";
import type { SlotKind } from "./slot-kind.ts";
import type { Slot } from "./slots.ts";
import { isStopWord } from "./words.ts";

/** A stretch of the message that a slot may take, and how sure that is. */
export interface LabelledText {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly score: number;
}

interface Label {
  readonly start: number;
  readonly end: number;
  readonly score: number;
  readonly slot: Slot;
}

/** Kinds whose value may be any words, so that a label followed by words is enough. */
const FREE_KINDS: ReadonlySet<SlotKind> = new Set([
  "title",
  "body",
  "query",
  "text",
  "person",
  "place",
  "path",
]);

/** Phrases that introduce a value of a kind though they do not name the parameter. */
const CUES: Partial<Readonly<Record<SlotKind, RegExp>>> = {
  title: /\b(?:titled|entitled|called|named|about|regarding|subject|title)\b/gi,
  body: /\b(?:saying|that says|says|telling (?:him|her|them)|with the (?:text|message)|body|message)\b/gi,
  query: /\b(?:search (?:the \w{2,12} )?for|search|look up|look for|find|google|query|regarding)\b/gi,
  person: /\b(?:named|called|name is|assigned to|assign(?: it)? to|assignee)\b/gi,
  text: /\b(?:called|named)\b/gi,
};

/** Kinds of mention at which a free text ends, because they belong to another parameter. */
const FENCES = new Set(["email", "url", "date", "time", "datetime", "uuid"]);

/** Every labelled text of every slot, the surest of each slot first. */
export function findLabelledText(
  text: string,
  slots: readonly Slot[],
  mentions: readonly Mention[],
  choices: readonly { start: number }[],
): Map<Slot, LabelledText[]> {
  const labels = slots.flatMap((slot) => labelsOf(text, slot)).sort((a, b) => a.start - b.start);
  const found = new Map<Slot, LabelledText[]>();
  for (const label of labels) {
    if (label.score === 0) continue;
    const span = spanAfter(text, label, labels, mentions, choices);
    if (span !== undefined) found.set(label.slot, [...(found.get(label.slot) ?? []), span]);
  }
  for (const spans of found.values()) spans.sort((a, b) => b.score - a.score);
  return found;
}

function labelsOf(text: string, slot: Slot): Label[] {
  const name = slot.words.map((word) => word.replace(/[^\p{L}\p{N}]/gu, "")).filter((word) => word !== "");
  const labels: Label[] = [];
  for (const words of name.length > 1 ? [name, name.slice(-1)] : [name]) {
    if (words.length === 0) continue;
    const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join("[\\s_-]?")})(?![\\p{L}\\p{N}])`, "giu");
    for (const match of text.matchAll(pattern)) labels.push(...toLabel(text, match, slot, words.join("")));
  }
  const cue = CUES[slot.kind];
  if (cue === undefined) return labels;
  for (const match of text.matchAll(cue)) {
    const label = { start: match.index, end: match.index + match[0].length, slot };
    if (!labels.some((other) => other.start === label.start))
      labels.push({ ...label, score: /^about|^regarding/i.test(match[0]) ? 5 : 7 });
  }
  return labels;
}

/** How sure a name in the text is a label: "subject: x" most, "subject is x" and "subject 'x'" next, "subject x" least. */
function toLabel(text: string, match: RegExpMatchArray, slot: Slot, word: string): Label[] {
  const start = match.index ?? 0;
  const end = start + match[0].length;
  const [after = ""] =
    /^\s*(?:[:=]|\b(?:is|as|named|called|reads|of)\b)?\s*/iu.exec(text.slice(end, end + 20)) ?? [];
  const label = { start, end: end + after.length, slot };
  if (/[:=]/.test(after)) return [{ ...label, score: 12 }];
  if (word.length < 3 || isStopWord(word)) return [];
  if (after.trim() !== "" || /^["“«`'‘]/.test(text.slice(label.end))) return [{ ...label, score: 9 }];
  if (FREE_KINDS.has(slot.kind) || slot.kind === "list") return [{ ...label, score: 6 }];
  // A bare "priority" introduces no text, but after "with" it ends the one before.
  return /(?:[,;]|\b(?:with|and|at|of))\s+(?:an?\s|the\s)?$/i.test(text.slice(0, start))
    ? [{ ...label, score: 0 }]
    : [];
}

function spanAfter(
  text: string,
  label: Label,
  labels: readonly Label[],
  mentions: readonly Mention[],
  choices: readonly { start: number }[],
): LabelledText | undefined {
  const start = label.end + (/^[\s,:]*/.exec(text.slice(label.end))?.[0].length ?? 0);
  const quoted = mentions.find((mention) => mention.kind === "quoted" && mention.start === start);
  if (quoted !== undefined && label.slot.kind !== "list") {
    return { start, end: quoted.end, text: String(quoted.values[0]), score: label.score };
  }
  const isBody = label.slot.kind === "body";
  const stops = [text.length];
  stops.push(
    ...labels
      .filter((other) => other.start > start && isOtherLabel(other, label))
      .map((other) => other.start),
  );
  const enders = isBody ? /\n\s*\n/ : /[.!?](?=\s|$)|[;\n]/;
  const ender = enders.exec(text.slice(start));
  if (ender !== null) stops.push(start + ender.index);
  if (!isBody) {
    stops.push(...mentions.filter((mention) => FENCES.has(mention.kind)).map((mention) => mention.start));
    stops.push(...choices.map((choice) => choice.start));
  }
  const end = Math.min(...stops.filter((stop) => stop > start));
  const value = isBody ? text.slice(start, end).trim() : trimEnd(text.slice(start, end));
  if (value === "" || (!FREE_KINDS.has(label.slot.kind) && label.slot.kind !== "list" && value.length > 500))
    return undefined;
  return { start, end: start + value.length, text: value, score: label.score };
}

function isOtherLabel(other: Label, label: Label): boolean {
  if (other.slot === label.slot) return false;
  return label.slot.kind === "body" ? other.score >= 9 : true;
}

/** Cuts the words that lead on to what comes next: "Login fails, with the" is "Login fails". */
function trimEnd(text: string): string {
  let trimmed = text.trim();
  let before = "";
  while (trimmed !== before) {
    before = trimmed;
    trimmed = trimmed
      .replace(/(?:[,;:–-]|\s(?:with|and|the|a|an|at|on|to|from|for|in|as|of|set|by|its|please))$/i, "")
      .trim();
  }
  return trimmed.replace(/[?!.]$/, "");
}
