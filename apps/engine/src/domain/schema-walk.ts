// Walking a JSON Schema: which of its values are schemas, and where they stand.
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import { SCHEMAS_BY_NAME } from "./schema-references.ts";

/** Where in a schema: keywords, names and positions from the top. */
export type SchemaPath = readonly (string | number)[];

const SINGLE: ReadonlySet<string> = new Set([
  "additionalItems",
  "additionalProperties",
  "contains",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);

const LISTS: ReadonlySet<string> = new Set(["allOf", "anyOf", "items", "oneOf", "prefixItems"]);

/** The schema with each schema right below it put through `map`, which is told where it stands. */
export function mapSubschemas(
  schema: JsonObject,
  map: (child: JsonValue, path: SchemaPath) => JsonValue,
): JsonObject {
  const entries = Object.entries(schema).map(([key, value]): [string, JsonValue] => {
    if (Array.isArray(value)) {
      return [key, LISTS.has(key) ? value.map((child, index) => map(child, [key, index])) : value];
    }
    if (SINGLE.has(key)) return [key, map(value, [key])];
    if (!SCHEMAS_BY_NAME.has(key) || !isJsonObject(value)) return [key, value];
    const named = Object.entries(value).map(
      ([name, child]) => [name, Array.isArray(child) ? child : map(child, [key, name])] as const,
    );
    return [key, Object.fromEntries(named)];
  });
  return Object.fromEntries(entries);
}

/** Longest name of a place in a text, in characters. */
const SHOWN_CHARACTERS = 200;

/** A place in words. @example toPlace(["properties", "a"]); // "properties.a" */
export function toPlace(path: SchemaPath): string {
  return path.length === 0 ? "top level" : path.join(".").slice(0, SHOWN_CHARACTERS);
}
