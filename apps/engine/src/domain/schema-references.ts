// Local references of a JSON Schema: following them, and keeping them true when the schema around them changes.
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";

/** How many places are copied into `$defs`. Further references become "anything": each copy may be large. */
const MAX_COPIES = 32;

/** Keywords whose value is data, in which `$ref` is a field like any other. */
export const DATA: ReadonlySet<string> = new Set(["const", "default", "enum", "example", "examples"]);

/** Keywords whose value maps names, which are no keywords, to schemas. */
export const SCHEMAS_BY_NAME: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "dependencies",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

/** Keywords that take less when a schema in them takes more: what only widens must leave them, or drop them whole. */
export const CONTRARY: ReadonlySet<string> = new Set(["contains", "if", "not", "oneOf"]);

/** What a `$ref` such as `#/$defs/City` refers to; undefined when it is not local, or leads nowhere. */
export function resolveReference(root: JsonObject, reference: JsonValue | undefined): JsonValue | undefined {
  const tokens = toTokens(reference);
  return tokens?.reduce<JsonValue | undefined>((node, token) => {
    if (Array.isArray(node)) return /^\d+$/.test(token) ? node[Number(token)] : undefined;
    return isJsonObject(node) && Object.hasOwn(node, token) ? node[token] : undefined;
  }, root);
}

function toTokens(reference: JsonValue | undefined): string[] | null {
  if (typeof reference !== "string" || !/^#(\/|$)/.test(reference)) return null;
  try {
    const path = decodeURIComponent(reference).split("/").slice(1);
    return path.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
  } catch {
    return null;
  }
}

/**
 * Keeps references true in a schema that was made from `original`: what they refer to is copied into `$defs` when it
 * is not at its place any more. As a direct child, since Google's models take no other reference.
 */
export function keepReferences(schema: JsonObject, original: JsonObject): JsonObject {
  const defs: JsonObject = { ...(isJsonObject(schema.$defs) ? schema.$defs : {}) };
  const copies = new Map<string, string>();
  const waiting: [string, JsonValue][] = [];
  const move = (reference: string): string | null => {
    const target = resolveReference(original, reference);
    const isSame = resolveReference(schema, reference) === target;
    if (target === undefined || isSame) return reference;
    const known = copies.get(reference);
    if (known !== undefined) return known;
    if (copies.size >= MAX_COPIES) return null;
    const name = toFreeName(reference, defs);
    defs[name] = true;
    waiting.push([name, target]);
    copies.set(reference, `#/$defs/${name}`);
    return `#/$defs/${name}`;
  };
  const moved = mapReferences(schema, move);
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [name, target] = next;
    defs[name] = mapReferences(target === original ? withoutDefinitions(original) : target, move);
  }
  if (copies.size === 0 || !isJsonObject(moved)) return isJsonObject(moved) ? moved : schema;
  return { ...moved, $defs: { ...defs, ...(isJsonObject(moved.$defs) ? moved.$defs : {}) } };
}

/** References to them are absolute, so a copy of the root needs none of its own. */
function withoutDefinitions({ $defs: _defs, definitions: _definitions, ...rest }: JsonObject): JsonObject {
  return rest;
}

function toFreeName(reference: string, defs: JsonObject): string {
  const base = reference.replaceAll(/[^A-Za-z0-9]+/g, "_").replaceAll(/^_|_$/g, "") || "root";
  let name = base;
  for (let count = 2; Object.hasOwn(defs, name); count += 1) name = `${base}_${count}`;
  return name;
}

/** The schema with each `$ref` put through `move`; null takes it away. */
function mapReferences(schema: JsonValue, move: (reference: string) => string | null): JsonValue {
  if (Array.isArray(schema)) return schema.map((child) => mapReferences(child, move));
  if (!isJsonObject(schema)) return schema;
  const entries = Object.entries(schema).flatMap(([key, value]): [string, JsonValue][] => {
    if (key === "$ref" && typeof value === "string") {
      const reference = move(value);
      return reference === null ? [] : [[key, reference]];
    }
    if (DATA.has(key)) return [[key, value]];
    if (!SCHEMAS_BY_NAME.has(key) || !isJsonObject(value)) return [[key, mapReferences(value, move)]];
    const named = Object.entries(value).map(([name, child]) => [name, mapReferences(child, move)] as const);
    return [[key, Object.fromEntries(named)]];
  });
  return Object.fromEntries(entries);
}
