// From a caller's schema to one that every provider takes as the parameters of a tool. It may only widen: what a
// model gives is checked against the caller's own schema.

import { dropExactNumbers } from "./drop-exact-numbers.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import { keepReferences, resolveReference } from "./schema-references.ts";
import { shapeOf } from "./schema-shape.ts";

/** Keywords that a provider refuses at the top level, or that say nothing there once the others are gone. */
const DROPPED: ReadonlySet<string> = new Set([
  "$ref",
  "allOf",
  "anyOf",
  "const",
  "dependencies",
  "dependentRequired",
  "dependentSchemas",
  "else",
  "enum",
  "if",
  "not",
  "oneOf",
  "patternProperties",
  "then",
  "unevaluatedProperties",
]);

/**
 * Lowers a schema to a plain object schema at its top level: `type` is "object", `properties` is there, and no
 * combinator, reference or condition is. What lies below `properties` stays as it is, except for references to places
 * that the lowering takes away. A plain object schema comes out as it was, without `$schema` and `$id`.
 *
 * Any object that fits `schema` fits the result too. Odd input gives a wide schema, never an error.
 *
 * @example
 * toProviderSchema({ anyOf: [{ properties: { a: {} }, required: ["a"] }, { type: "null" }] });
 * // { type: "object", properties: { a: {} }, required: ["a"] }
 */
export function toProviderSchema(schema: JsonObject): JsonObject {
  const { $schema: _dialect, $id: _id, ...root } = dropExactNumbers(schema);
  if (isPlain(root)) return { ...root, properties: root.properties ?? {} };
  const layers = toLayers(root);
  const shape = shapeOf(root);
  const properties = Object.fromEntries(shape?.properties ?? []);
  const required = [...(shape?.required ?? [])];
  const { required: _required, additionalProperties, ...kept } = toKeptKeywords(layers);
  const lowered = {
    ...kept,
    type: "object",
    properties,
    ...(required.length > 0 ? { required } : {}),
    ...(additionalProperties !== undefined && isComplete(layers, properties) ? { additionalProperties } : {}),
  };
  return keepReferences(lowered, root);
}

function isPlain(root: JsonObject): boolean {
  const { type, properties = {} } = root;
  return type === "object" && isJsonObject(properties) && !Object.keys(root).some((key) => DROPPED.has(key));
}

/** The schema, what its `$ref` refers to, and so on: the first has the last word. */
function toLayers(root: JsonObject): JsonObject[] {
  const layers: JsonObject[] = [];
  const followed = new Set<JsonValue>();
  for (let layer: JsonValue | undefined = root; isJsonObject(layer) && !followed.has(layer); ) {
    layers.push(layer);
    followed.add(layer);
    layer = resolveReference(root, layer.$ref);
  }
  return layers;
}

function toKeptKeywords(layers: readonly JsonObject[]): JsonObject {
  const entries = layers.toReversed().flatMap((layer) => Object.entries(layer));
  return Object.fromEntries(
    entries.filter(([key]) => !DROPPED.has(key) && key !== "$schema" && key !== "$id"),
  );
}

/** True when `additionalProperties` can stay: its own layer named, and still names, every property there is. */
function isComplete(layers: readonly JsonObject[], properties: JsonObject): boolean {
  const owner = layers.find((layer) => layer.additionalProperties !== undefined);
  if (!owner || owner.patternProperties !== undefined) return false;
  const named = isJsonObject(owner.properties) ? owner.properties : {};
  return Object.keys(properties).every((name) => Object.hasOwn(named, name));
}
