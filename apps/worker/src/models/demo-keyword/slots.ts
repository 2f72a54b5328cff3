/** Turns a JSON Schema into the flat list of values that a message would have to supply. */
import {
  allowedValues,
  branchesOf,
  isRecord,
  type JsonRecord,
  propertiesOf,
  requiredOf,
  typesOf,
  wordingOf,
} from "./json-schema.ts";
import { type SlotKind, slotKind } from "./slot-kind.ts";
import { isStopWord, stem, toNameWords } from "./words.ts";

/** One value of the arguments that is not an object: a scalar, or a list as a whole. */
export interface Slot {
  readonly path: readonly string[];
  /** Words of the property's name; a nested one has its parent's words too. */
  readonly words: readonly string[];
  readonly kind: SlotKind;
  /** The property's schema as given, for checking a value. */
  readonly schema: unknown;
  /** The same, resolved, for reading. */
  readonly resolved: JsonRecord;
  readonly allowed: readonly unknown[] | undefined;
  /** Required here and in every object around it. */
  readonly required: boolean;
  /** For a list of scalars: what its items are. */
  readonly itemSlot: Slot | undefined;
  /** For a list of objects: the shape of one. */
  readonly itemShape: Shape | undefined;
}

/** An object schema as a tree whose leaves are slots. */
export type Shape =
  | { readonly kind: "object"; readonly schema: unknown; readonly members: readonly Member[] }
  | { readonly kind: "slot"; readonly slot: Slot };

export interface Member {
  readonly name: string;
  readonly required: boolean;
  readonly shape: Shape;
}

/** Bounds that keep a hostile schema cheap; what lies beyond is left out of the arguments. */
const MAX_DEPTH = 5;
const MAX_SCHEMAS = 200;

/** What is known about the place of a schema inside its root. */
interface Place {
  readonly root: unknown;
  readonly path: readonly string[];
  readonly depth: number;
  /** Counts the schemas that may still be looked at. */
  readonly budget: { left: number };
  readonly required: boolean;
  /** Words of the tool, which tell what a parameter named only "from" means. */
  readonly context: string;
  /** Decides between alternatives of an object by what the message says. */
  readonly isMentioned: (value: string) => boolean;
}

/** The shape of a tool's input schema; anything but an object schema has no members. */
export function toShape(schema: unknown, context: string, isMentioned: (value: string) => boolean): Shape {
  const budget = { left: MAX_SCHEMAS };
  return objectShape(schema, {
    root: schema,
    path: [],
    depth: 0,
    budget,
    required: true,
    context,
    isMentioned,
  });
}

/** All slots of a shape, in the order of the schema. */
export function slotsOf(shape: Shape): Slot[] {
  return shape.kind === "slot" ? [shape.slot] : shape.members.flatMap((member) => slotsOf(member.shape));
}

/** The words that tell one slot from its neighbours: those it does not share with another slot. */
export function distinctWords(slot: Slot, slots: readonly Slot[]): string[] {
  const others = new Set(slots.filter((other) => other !== slot).flatMap((other) => other.words.map(stem)));
  return slot.words.filter((word) => !others.has(stem(word)));
}

function objectShape(schema: unknown, place: Place): Shape {
  const branch = pickBranch(branchesOf(schema, place.root), place);
  const required = requiredOf(branch);
  const members = propertiesOf(branch).flatMap(([name, property]): Member[] => {
    place.budget.left -= 1;
    if (place.budget.left < 0) return [];
    const isRequired = required.has(name);
    const inner = { ...deeper(place), path: [...place.path, name], required: place.required && isRequired };
    return [{ name, required: isRequired, shape: memberShape(property, inner) }];
  });
  return { kind: "object", schema, members };
}

function deeper(place: Place): Place {
  return { ...place, depth: place.depth + 1 };
}

function memberShape(schema: unknown, place: Place): Shape {
  const branches = branchesOf(schema, place.root);
  const isObject = branches.some((branch) => isRecord(branch.properties));
  if (isObject && place.depth < MAX_DEPTH) return objectShape(schema, place);
  return { kind: "slot", slot: toSlot(schema, branches, place) };
}

function toSlot(schema: unknown, branches: readonly JsonRecord[], place: Place): Slot {
  const allowed = branches.every((branch) => allowedValues(branch) !== undefined)
    ? branches.flatMap((branch) => allowedValues(branch) ?? [])
    : undefined;
  const types = new Set(branches.flatMap((branch) => [...typesOf(branch)]));
  const [first = {}] = branches;
  const resolved = {
    ...first,
    description: wordingOf(first) || wordingOf(branchesOf(schema, place.root)[0] ?? {}),
  };
  const words = place.path.flatMap(toNameWords).slice(0, 12);
  const name = toNameWords(place.path.at(-1) ?? "");
  const kind = slotKind({
    name,
    words,
    types,
    resolved,
    hasChoices: allowed !== undefined,
    context: place.context,
  });
  const items = kind === "list" && place.depth < MAX_DEPTH ? itemsOf(resolved, place) : undefined;
  return {
    ...{
      path: place.path,
      words: words.filter((word) => !isStopWord(word) || name.includes(word)),
      kind,
      schema,
    },
    ...{ resolved, allowed, required: place.required },
    itemSlot: items?.kind === "slot" ? items.slot : undefined,
    itemShape: items?.kind === "object" ? items : undefined,
  };
}

/** What the items of a list are; they are named after the list. */
function itemsOf(list: JsonRecord, place: Place): Shape {
  return memberShape(list.items ?? {}, { ...deeper(place), required: true });
}

/** The alternative whose constant (`{"type": {"const": "card"}}`) the message names, else the first. */
function pickBranch(branches: readonly JsonRecord[], place: Place): JsonRecord {
  const named = branches.find((branch) =>
    propertiesOf(branch).some(([, property]) => {
      const values = isRecord(property) ? (allowedValues(property) ?? []) : [];
      return values.length === 1 && typeof values[0] === "string" && place.isMentioned(values[0]);
    }),
  );
  return named ?? branches.find((branch) => isRecord(branch.properties)) ?? branches[0] ?? {};
}
