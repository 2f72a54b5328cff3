/** Puts the values found for an object's slots together, and says what is missing. */
import { type Assignment, assignSlots, type Reading } from "./assign-slots.ts";
import type { Conforms } from "./conforms.ts";
import type { JsonRecord } from "./json-schema.ts";
import { LIST_SEPARATOR, MAX_ITEMS } from "./list-values.ts";
import { type Shape, type Slot, slotsOf } from "./slots.ts";

/** Supplies a value that the message does not: from earlier results, or made up. Undefined when it has none. */
export type Supply = (slot: Slot, conforms: Conforms) => unknown;

export interface BuiltArguments {
  readonly args: JsonRecord;
  readonly missing: readonly Slot[];
  readonly assignment: Assignment;
}

export interface Supplies {
  /** Asked before the message. */
  readonly first?: Supply | undefined;
  /** Adds to what was read from the message. */
  readonly amend?: ((assignment: Assignment, slots: readonly Slot[]) => void) | undefined;
  /** Asked for required values that nothing else gave. */
  readonly last?: Supply | undefined;
}

/** Slots filled for one object; a schema with more than that is not a tool a keyword matcher can serve. */
const MAX_SLOTS = 80;

export function buildArguments(
  shape: Shape,
  reading: Reading,
  conforms: Conforms,
  supplies: Supplies = {},
): BuiltArguments {
  const slots = slotsOf(shape).slice(0, MAX_SLOTS);
  const supplied: Assignment = new Map();
  for (const slot of slots) {
    const value = supplies.first?.(slot, conforms);
    if (value !== undefined && conforms(slot.schema, value)) supplied.set(slot, { value, start: 0, end: 0 });
  }
  const open = slots.filter((slot) => !supplied.has(slot));
  const assignment: Assignment = new Map([...supplied, ...assignSlots(reading, open, conforms)]);
  for (const slot of open) {
    const rows = assignment.has(slot) ? [] : rowsFor(slot, reading, conforms);
    if (rows.length > 0) assignment.set(slot, { value: rows, start: 0, end: 0 });
  }
  supplies.amend?.(assignment, open);
  const missing: Slot[] = [];
  const args = assemble(shape, { assignment, conforms, last: supplies.last, missing });
  return { args: (args ?? {}) as JsonRecord, missing, assignment };
}

/** The value of a required list of objects: one for each part of the sentence that fills one, "2 apples and 3 pears". */
function rowsFor(slot: Slot, reading: Reading, conforms: Conforms): unknown[] {
  const { itemShape } = slot;
  if (itemShape === undefined || !slot.required) return [];
  const rows: unknown[] = [];
  let end = 0;
  for (const part of reading.text.split(LIST_SEPARATOR).slice(0, MAX_ITEMS)) {
    const start = reading.text.indexOf(part, end);
    end = start + part.length;
    const inside = reading.mentions.filter((mention) => mention.start >= start && mention.end <= end);
    const mentions = inside.map((mention) => ({
      ...mention,
      start: mention.start - start,
      end: mention.end - start,
    }));
    const item = buildArguments(itemShape, { text: part, mentions }, conforms);
    if (item.missing.length === 0 && item.assignment.size > 0) rows.push(item.args);
  }
  return conforms(slot.schema, rows) ? rows : [];
}

interface Assembly {
  readonly assignment: Assignment;
  readonly conforms: Conforms;
  readonly last: Supply | undefined;
  readonly missing: Slot[];
}

/** The object's members that have a value; an optional object is left out unless it can be completed. */
function assemble(shape: Shape, assembly: Assembly): unknown {
  if (shape.kind === "slot") return slotValue(shape.slot, assembly);
  const entries: Array<[string, unknown]> = [];
  for (const member of shape.members) {
    const isNamed = slotsOf(member.shape).some((slot) => assembly.assignment.has(slot));
    if (!member.required && !isNamed) continue;
    const gaps: Slot[] = [];
    const value = assemble(member.shape, { ...assembly, missing: gaps });
    if (gaps.length > 0 && !member.required) continue;
    assembly.missing.push(...gaps);
    if (value !== undefined) entries.push([member.name, value]);
  }
  return Object.fromEntries(entries);
}

function slotValue(slot: Slot, { assignment, conforms, last, missing }: Assembly): unknown {
  const assigned = assignment.get(slot);
  if (assigned !== undefined) return assigned.value;
  const fallback =
    standIns(slot).find((value) => value !== undefined && conforms(slot.schema, value)) ??
    last?.(slot, conforms);
  if (fallback !== undefined) return fallback;
  // `null` is a value, so it cannot go through `??` above.
  if (conforms(slot.schema, null)) return null;
  missing.push(slot);
  return undefined;
}

/** Values that need no message: the default, the only listed value, "no" for a flag, nothing for a map. */
function standIns(slot: Slot): unknown[] {
  const only = slot.allowed?.length === 1 ? slot.allowed[0] : undefined;
  const empty = slot.kind === "record" ? {} : slot.kind === "list" && slot.path.length > 0 ? [] : undefined;
  return [slot.resolved.default, only, slot.kind === "flag" ? false : undefined, empty];
}
