// Flags for a tool's arguments, made from its JSON Schema. Pure.
import type { JsonSchema } from "@tandem/sdk";

/** What a flag's text is read as. `json` is anything else: an object, or a value of several types. */
export type FlagKind = "text" | "number" | "integer" | "boolean" | "json";

/** One flag: `--city`, for the property `city`. */
export interface Flag {
  /** Without the dashes: the property in kebab-case, or as it is when two would be the same. */
  name: string;
  property: string;
  kind: FlagKind;
  /** True for a list: the flag may be repeated, each time one item of `kind`. */
  isList: boolean;
  /** True for a list whose items are lists. */
  holdsLists: boolean;
  isRequired: boolean;
  /** True when null is a value too. */
  isNullable: boolean;
  /** The only values there are; empty when there are others. */
  choices: readonly unknown[];
  description: string;
  default: unknown;
}

/** Flags that every tool has. A property of such a name is given through `--json`. */
export const RESERVED_FLAGS = ["json", "json-file", "help"];

/** The flags of a schema's properties, in their order. */
export function toFlags(schema: JsonSchema | undefined): Flag[] {
  const root = schema ?? {};
  const { properties, required } = collectProperties(root, root);
  const names = toNames([...properties.keys()]);
  return [...properties].flatMap(([property, node]) => {
    const name = names.get(property) ?? null;
    if (name === null) return [];
    return [{ name, property, isRequired: required.has(property), ...describe(node, root) }];
  });
}

/** The properties that no flag gives, since their names are taken, or could not be typed: `--json` alone does. */
export function listFlagless(schema: JsonSchema | undefined): Pick<Flag, "property" | "isRequired">[] {
  const root = schema ?? {};
  const { properties, required } = collectProperties(root, root);
  return [...toNames([...properties.keys()])].flatMap(([property, name]) =>
    name === null ? [{ property, isRequired: required.has(property) }] : [],
  );
}

/** The flag of each property; null where there is none. */
function toNames(properties: readonly string[]): Map<string, string | null> {
  const kebabs = properties.map(toKebab);
  return new Map(
    properties.map((property) => {
      const kebab = toKebab(property);
      const isShared = kebabs.filter((name) => name === kebab).length > 1;
      const name = isShared || kebab === "" ? property : kebab;
      const isTaken = RESERVED_FLAGS.includes(name) || !/^[\p{L}\p{N}_][^\s=]*$/u.test(name);
      return [property, isTaken ? null : name];
    }),
  );
}

/** `orderId`, `order_id` and `Order ID` are all `order-id`. */
export function toKebab(name: string): string {
  return name
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1-$2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1-$2")
    .replace(/[\s_.]+/g, "-")
    .replace(/-+/g, "-")
    .replace(/^-|-$/g, "")
    .toLowerCase();
}

/** The properties of an object schema, with those of what it is combined from; alternatives require nothing. */
function collectProperties(
  node: JsonSchema,
  root: JsonSchema,
  depth = 0,
): { properties: Map<string, JsonSchema>; required: Set<string> } {
  const properties = new Map<string, JsonSchema>();
  const resolved = resolveReference(node, root);
  const required = new Set(toList(resolved.required).filter((name) => typeof name === "string"));
  for (const [name, child] of Object.entries(Object(resolved.properties)))
    properties.set(name, toNode(child));
  if (depth >= MAX_DEPTH) return { properties, required };
  for (const key of ["allOf", "anyOf", "oneOf"]) {
    for (const part of toList(resolved[key])) {
      const inner = collectProperties(toNode(part), root, depth + 1);
      for (const [name, child] of inner.properties) if (!properties.has(name)) properties.set(name, child);
      if (key === "allOf") for (const name of inner.required) required.add(name);
    }
  }
  return { properties, required };
}

/** How deep combinations and references are followed: a schema may refer to itself. */
const MAX_DEPTH = 8;

type Description = Omit<Flag, "name" | "property" | "isRequired">;

function describe(node: JsonSchema, root: JsonSchema): Description {
  const { isNullable, ...schema } = withoutNull(resolveReference(node, root), root);
  const outer = resolveReference(node, root);
  const description = [outer.description, schema.description].find((text) => typeof text === "string");
  const shown = {
    isNullable,
    description: (description as string | undefined) ?? "",
    default: outer.default,
  };
  if (toKind(schema) === "list") {
    const { isNullable: _, ...item } = withoutNull(resolveReference(toNode(schema.items), root), root);
    const kind = toKind(item);
    const holdsLists = kind === "list";
    return { ...shown, isList: true, holdsLists, kind: holdsLists ? "json" : kind, choices: toChoices(item) };
  }
  const kind = toKind(schema) as FlagKind;
  return { ...shown, isList: false, holdsLists: false, kind, choices: toChoices(schema) };
}

/** The schema of what is not null, as `type: ["string", "null"]` and `anyOf: [{…}, { type: "null" }]` have it. */
function withoutNull(node: JsonSchema, root: JsonSchema): JsonSchema & { isNullable: boolean } {
  const types = toList(node.type);
  if (types.includes("null")) {
    const others = types.filter((type) => type !== "null");
    return { ...node, type: others.length === 1 ? others[0] : others, isNullable: true };
  }
  const alternatives = toList(node.anyOf ?? node.oneOf).map((part) => resolveReference(toNode(part), root));
  const others = alternatives.filter((part) => part.type !== "null");
  const [only] = others;
  if (others.length === 1 && only) return { ...only, isNullable: alternatives.length > 1 };
  return { ...node, isNullable: alternatives.length > others.length };
}

function toKind(schema: JsonSchema): FlagKind | "list" {
  const choices = toChoices(schema);
  if (choices.length > 0) {
    if (choices.every((choice) => typeof choice === "boolean")) return "boolean";
    return choices.every((choice) => typeof choice === "string") ? "text" : "json";
  }
  switch (schema.type) {
    case "string":
      return "text";
    case "number":
    case "integer":
    case "boolean":
      return schema.type;
    case "array":
      return "list";
    default:
      return "json";
  }
}

function toChoices(schema: JsonSchema): unknown[] {
  if (Array.isArray(schema.enum)) return schema.enum.filter((choice) => choice !== null);
  return "const" in schema ? [schema.const] : [];
}

/** Follows `#/$defs/…`. What leads nowhere, or round and round, is a schema that says nothing. */
function resolveReference(node: JsonSchema, root: JsonSchema): JsonSchema {
  let current = node;
  for (let step = 0; typeof current.$ref === "string"; step += 1) {
    if (step >= MAX_DEPTH || !current.$ref.startsWith("#")) return {};
    const parts = current.$ref.slice(1).split("/").filter(Boolean);
    const names = parts.map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
    const target = names.reduce<unknown>((at, name) => Object(at)[name], root);
    const { $ref: _, ...beside } = current;
    current = { ...toNode(target), ...beside };
  }
  return current;
}

function toNode(value: unknown): JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonSchema) : {};
}

function toList(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined ? [] : [value];
}
