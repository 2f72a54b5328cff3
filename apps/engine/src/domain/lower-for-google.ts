// Gemini takes a subset of OpenAPI's schemas: each place has a type, or alternatives and nothing else; arrays have
// `items`; `enum` holds text; references, combinations and conditions are unknown. What it has no keyword for is told in
// the description. https://ai.google.dev/api/caching#Schema
import { ANY_ITEM, toNode, toWidestNode } from "./google-node.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import type { LoweringNotes } from "./lowering-notes.ts";
import { type Layers, type LayerWalk, toLayers } from "./schema-layers.ts";
import { ALL_TYPES, type SchemaType, typeOf, typesOf, valuesOf } from "./schema-types.ts";
import type { SchemaPath } from "./schema-walk.ts";
import { toConstraintWords, toDescription, toPhrase } from "./schema-words.ts";

/** How many subschemas are looked into, and how deep: references and alternatives multiply. */
const MAX_SUBSCHEMAS = 1_500;
const MAX_DEPTH = 16;

/** How many alternatives are made of those that must hold together. Of more, the first list alone is told. */
const MAX_ALTERNATIVES = 32;

/** The formats that Gemini knows, by type. It refuses requests with others. */
const FORMATS: Partial<Record<SchemaType, readonly string[]>> = {
  string: ["date-time"],
  number: ["float", "double"],
  integer: ["int32", "int64"],
};

/** What the provider's library handles under its own name alone. */
const LOST_NAMES: ReadonlySet<string> = new Set(["__proto__"]);

/** Schemas that must all hold, and where they stand. */
interface Place {
  schemas: readonly JsonValue[];
  walk: LayerWalk;
  path: SchemaPath;
  depth: number;
  notes: LoweringNotes;
}

/**
 * The schema in the words that Gemini takes. A plain object schema, `root` stays one. It may be narrower in two ways that
 * nobody means: a place without a type is taken for the type that its keywords speak of; and where anything may stand,
 * lists of lists of lists are not named.
 */
export function lowerForGoogle(root: JsonObject, notes: LoweringNotes): JsonObject {
  const walk = { root, followed: [root], budget: { left: MAX_SUBSCHEMAS } };
  const lowered = lowerPlace({ schemas: [root], walk, path: [], depth: 0, notes });
  return lowered?.type === "object"
    ? { type: "object", properties: {}, ...lowered }
    : { type: "object", properties: {} };
}

/** Null when nothing fits. */
function lowerPlace(place: Place): JsonObject | null {
  const layers = toLayers(place.schemas, place.walk);
  if (!layers) return null;
  const types = typesOf(layers.schemas);
  if (layers.walk.budget.left <= 0 || place.depth > MAX_DEPTH) {
    place.notes.add(place.path, "too deep or too large; what is below is offered as anything");
    return toWidestNode(types.length > 0 ? types : ["object"]);
  }
  noteLayers(place, layers);
  const alternatives = lowerAlternatives(place, layers);
  return alternatives === undefined ? lowerTypes(place, layers, types) : alternatives;
}

/** The first `anyOf` or `oneOf` that tells something, each branch with all that holds beside it; undefined: none does. */
function lowerAlternatives(place: Place, layers: Layers): JsonObject | null | undefined {
  for (const [index, layer] of layers.schemas.entries()) {
    for (const keyword of ["anyOf", "oneOf"] as const) {
      const branches = layer[keyword];
      if (!Array.isArray(branches) || !branches.some(tellsShape)) continue;
      const { [keyword]: _branches, description, ...rest } = layer;
      if (keyword === "oneOf") place.notes.add([...place.path, "oneOf"], "offered as anyOf");
      const schemas = layers.schemas.map((schema, at) =>
        at === index ? rest : { ...schema, description: null },
      );
      const isTooMany = branches.length * countAlternatives(schemas) > MAX_ALTERNATIVES;
      const beside = isTooMany ? schemas.map(toSingle) : schemas;
      const lowered = branches.flatMap((branch, at): JsonObject[] => {
        const path = [...place.path, keyword, at];
        // The branch first: its description is nearer to what is meant.
        const all = [branch, ...beside];
        const one = lowerPlace({ ...place, schemas: all, walk: layers.walk, path, depth: place.depth + 1 });
        return one === null ? [] : [one];
      });
      if (lowered.length === 0) return null;
      return toNode(lowered, toDescription(description ?? describe(layers), []));
    }
  }
  return undefined;
}

function countAlternatives(schemas: readonly JsonObject[]): number {
  const lists = schemas.flatMap(({ anyOf, oneOf }) => [anyOf, oneOf].filter(Array.isArray));
  return lists.reduce((product, list) => product * Math.max(list.length, 1), 1);
}

function toSingle({ anyOf: _anyOf, oneOf: _oneOf, ...schema }: JsonObject): JsonObject {
  return schema;
}

const TELLING = [
  "$ref",
  "additionalProperties",
  "allOf",
  "anyOf",
  "const",
  "enum",
  "items",
  "oneOf",
  "prefixItems",
];

/** True when a branch says what a value looks like, and not only which properties are required. */
function tellsShape(branch: JsonValue): boolean {
  if (!isJsonObject(branch)) return false;
  return [...TELLING, "properties", "type"].some((keyword) => Object.hasOwn(branch, keyword));
}

function lowerTypes(place: Place, layers: Layers, types: readonly SchemaType[]): JsonObject | null {
  const values = valuesOf(layers.schemas, types);
  const possible = values === null ? types : toSeparateTypes(values.map(typeOf));
  if (possible.length === 0) return null;
  const words = toConstraintWords(layers.schemas);
  if (values !== null && !isTextEnum(values)) {
    words.push(toPhrase("one of", values));
    place.notes.add([...place.path, "enum"], "values that are no text are told in the description");
  }
  if (layers.isCut) words.push("of the same form as the one around it");
  const format = layers.schemas.find((schema) => typeof schema.format === "string")?.format;
  const isKnown = possible.some((type) => FORMATS[type]?.includes(String(format)));
  if (format !== undefined && !isKnown) {
    words.push(toPhrase("format", format));
    place.notes.add([...place.path, "format"], `${String(format).slice(0, 50)} is told in the description`);
  }
  const nodes = toSeparateTypes(possible).map((type) => lowerType(type, { place, layers, values }));
  return toNode(nodes, toDescription(describe(layers), words));
}

/** Each type once; whole numbers are numbers where there are others. */
function toSeparateTypes(types: readonly SchemaType[]): SchemaType[] {
  const different = [...new Set(types)];
  return different.includes("number") ? different.filter((type) => type !== "integer") : different;
}

interface Typed {
  place: Place;
  layers: Layers;
  values: JsonValue[] | null;
}

function lowerType(type: SchemaType, { place, layers, values }: Typed): JsonObject {
  if (type === "object") return lowerObject(place, layers);
  if (type === "array") return { type, items: lowerItems(place, layers) };
  const texts = (values ?? []).filter((value) => typeof value === "string");
  if (type === "string" && texts.length > 0 && !texts.includes("")) return { type, enum: texts };
  const format = layers.schemas.find(({ format }) => FORMATS[type]?.includes(String(format)))?.format;
  return format === undefined ? { type } : { type, format };
}

function lowerObject(place: Place, layers: Layers): JsonObject {
  const schemas = new Map<string, JsonValue[]>();
  for (const { properties } of layers.schemas) {
    if (!isJsonObject(properties)) continue;
    for (const [name, schema] of Object.entries(properties)) {
      schemas.set(name, [...(schemas.get(name) ?? []), schema]);
    }
  }
  const properties = [...schemas].flatMap(([name, all]): [string, JsonValue][] => {
    const path = [...place.path, "properties", name];
    const lowered = LOST_NAMES.has(name)
      ? null
      : lowerPlace({ ...place, schemas: all, walk: layers.walk, path, depth: place.depth + 1 });
    if (lowered === null) place.notes.add(path, "left out");
    return lowered === null ? [] : [[name, lowered]];
  });
  if (properties.length === 0) return { type: "object" };
  const required = new Set(
    layers.schemas.flatMap((schema) => (Array.isArray(schema.required) ? schema.required : [])),
  );
  const known = properties.map(([name]) => name).filter((name) => required.has(name));
  if (known.length < required.size)
    place.notes.add([...place.path, "required"], "only names of properties are kept");
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(known.length > 0 ? { required: known } : {}),
  };
}

/** What may stand in a list. A tuple becomes a list of whatever one of its places takes. */
function lowerItems(place: Place, layers: Layers): JsonObject {
  const lists = layers.schemas.flatMap((schema): JsonValue[] => {
    if (!Array.isArray(schema.prefixItems)) return schema.items === undefined ? [] : [schema.items];
    return [{ anyOf: [...schema.prefixItems, schema.items ?? {}] }];
  });
  if (lists.every(isAnything)) return ANY_ITEM;
  const path = [...place.path, "items"];
  const lowered = lowerPlace({ ...place, schemas: lists, walk: layers.walk, path, depth: place.depth + 1 });
  return lowered ?? toWidestNode(ALL_TYPES);
}

function isAnything(schema: JsonValue): boolean {
  return isJsonObject(schema) && Object.keys(schema).length === 0;
}

function isTextEnum(values: readonly JsonValue[]): boolean {
  const texts = values.filter((value) => value !== null);
  return texts.length > 0 && texts.every((value) => typeof value === "string" && value !== "");
}

function describe({ schemas }: Layers): JsonValue | undefined {
  return schemas.find(({ description }) => typeof description === "string")?.description;
}

/** Keywords that are kept, worked in, or told; `title` and the like say nothing about a value. */
const HANDLED: ReadonlySet<string> = new Set([
  ...["anyOf", "oneOf", "const", "enum", "format", "items", "prefixItems", "properties", "required", "type"],
  ...["description", "title", "$defs", "definitions", "$comment", "examples", "example", "deprecated"],
  ...["readOnly", "writeOnly"],
]);

function noteLayers(place: Place, layers: Layers): void {
  for (const schema of place.schemas) {
    if (!isJsonObject(schema)) continue;
    if (schema.$ref !== undefined) place.notes.add([...place.path, "$ref"], "written out in its place");
    if (schema.allOf !== undefined) place.notes.add([...place.path, "allOf"], "joined into one schema");
  }
  if (layers.isCut)
    place.notes.add(place.path, "refers to itself; from here on any value of its type is offered");
  for (const key of new Set(
    layers.schemas.slice(0, layers.ofFirst).flatMap((schema) => Object.keys(schema)),
  )) {
    if (HANDLED.has(key)) continue;
    const isTold = toConstraintWords(layers.schemas).some((words) => words.startsWith(`${key}:`));
    place.notes.add([...place.path, key], isTold ? "told in the description" : "left out");
  }
}
