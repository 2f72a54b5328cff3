/** Looks values up by name in what tools returned: an `order_id` that one tool found is another's argument. */
import type { Supply } from "./build-arguments.ts";
import type { ToolOutcome } from "./conversation.ts";
import { isRecord, type JsonRecord } from "./json-schema.ts";
import type { Slot } from "./slots.ts";
import { stem, toNameWords } from "./words.ts";

interface Fact {
  readonly words: readonly string[];
  readonly value: unknown;
}

const MAX_FACTS = 500;
const MAX_DEPTH = 5;

/** What a lookup may take: only the same name, or a name with the same words in it as well. */
export type Closeness = "same" | "similar";

/**
 * Returns a lookup of values by a slot's name. Results win over the arguments that led to them, later over earlier.
 */
export function createFacts(outcomes: readonly ToolOutcome[], closeness: Closeness): Supply {
  const facts: Fact[] = [];
  const newestFirst = outcomes.filter((outcome) => !outcome.isError).reverse();
  for (const outcome of newestFirst) collect(outcome.value, facts, 0);
  for (const outcome of newestFirst) collect(outcome.args, facts, 0);
  return (slot, conforms) => {
    const ranked = facts
      .map((fact) => ({ fact, rank: closenessOf(slot, fact) }))
      .filter(({ rank }) => rank >= (closeness === "same" ? 3 : 1))
      .sort((a, b) => b.rank - a.rank);
    for (const { fact } of ranked) {
      const value = formsOf(fact.value, slot).find((form) => conforms(slot.schema, form));
      if (value !== undefined) return value;
    }
    return undefined;
  };
}

/** The records that results are made of: each result with its call's arguments, or the items of a listed result. */
export function recordsOf(outcomes: readonly ToolOutcome[]): JsonRecord[] {
  return outcomes
    .filter((outcome) => !outcome.isError)
    .flatMap(({ args, value }): JsonRecord[] => {
      const list = Array.isArray(value)
        ? value
        : isRecord(value)
          ? Object.values(value).find(isListOfRecords)
          : undefined;
      if (isListOfRecords(list)) return list;
      if (isRecord(value)) return [{ ...args, ...value }];
      return [{ ...args, result: value }];
    });
}

function isListOfRecords(value: unknown): value is JsonRecord[] {
  return Array.isArray(value) && value.length > 0 && value.every(isRecord);
}

function collect(value: unknown, facts: Fact[], depth: number): void {
  if (depth > MAX_DEPTH || facts.length >= MAX_FACTS) return;
  if (Array.isArray(value)) for (const item of value.slice(0, 20)) collect(item, facts, depth + 1);
  if (!isRecord(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    if (facts.length >= MAX_FACTS) return;
    facts.push({ words: toNameWords(name).map(stem), value: inner });
  }
  for (const inner of Object.values(value)) collect(inner, facts, depth + 1);
}

/** 3 for the same name, 2 and 1 when all words of one name are in the other, else 0. */
function closenessOf(slot: Slot, fact: Fact): number {
  const own = toNameWords(slot.path.at(-1) ?? "").map(stem);
  if (own.length === 0 || fact.words.length === 0) return 0;
  if (own.join(" ") === fact.words.join(" ")) return 3;
  if (own.every((word) => fact.words.includes(word))) return 2;
  return fact.words.every((word) => own.includes(word)) ? 1 : 0;
}

/** A value as it is, and in the other forms that a slot may want. */
function formsOf(value: unknown, slot: Slot): unknown[] {
  const forms = [value];
  if (typeof value === "number" || typeof value === "boolean") forms.push(String(value));
  if (typeof value === "string") {
    const number = /^\s*-?\d{1,15}(?:\.\d{1,12})?/.exec(value)?.[0];
    if (number !== undefined) forms.push(Number(number));
    if (/^(?:true|yes)$/i.test(value)) forms.push(true);
    if (/^(?:false|no)$/i.test(value)) forms.push(false);
    const listed = slot.allowed?.find((allowed) => String(allowed).toLowerCase() === value.toLowerCase());
    if (listed !== undefined) forms.push(listed);
  }
  if (typeof value === "number") forms.push(Math.round(value));
  if (!Array.isArray(value)) forms.push([value]);
  return forms;
}
