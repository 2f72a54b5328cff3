import { ExactNumber } from "./exact-number.ts";
import { hasExactNumber, isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import { CONTRARY, DATA, SCHEMAS_BY_NAME } from "./schema-references.ts";

/**
 * The schema without keywords that need a number which a double cannot hold: a provider would be told another bound, or
 * an `enum` without the right value. What a model gives is checked against the caller's own schema.
 */
export function dropExactNumbers(schema: JsonObject): JsonObject {
  return hasExactNumber(schema) ? dropIn(schema) : schema;
}

function drop(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(drop);
  return isJsonObject(schema) ? dropIn(schema) : schema;
}

function dropIn(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).flatMap(([key, value]): [string, JsonValue][] => {
    if (value instanceof ExactNumber) return [];
    if (DATA.has(key) || CONTRARY.has(key)) return hasExactNumber(value) ? [] : [[key, value]];
    if (!SCHEMAS_BY_NAME.has(key) || !isJsonObject(value)) return [[key, drop(value)]];
    const named = Object.entries(value).map(([name, child]) => [name, drop(child)] as const);
    return [[key, Object.fromEntries(named)]];
  });
  return Object.fromEntries(entries);
}
