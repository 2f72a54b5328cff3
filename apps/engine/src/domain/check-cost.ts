// Whether checking a value against a schema is quick for sure, so that nobody has to stand by to end it.
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";

/**
 * Keywords whose checks may take far longer than the value is long: regular expressions, comparisons of all with all, and
 * what leads elsewhere.
 */
const SLOW_KEYWORDS = new Set(["pattern", "patternProperties", "format", "uniqueItems", "$ref"]);

/** Values in a schema, and in a value that is checked against it, for which the product of both is nothing. */
const MAX_SCHEMA_VALUES = 500;
const MAX_VALUES = 500;

/** True for a schema against which any small value is checked quickly. A property with the name of a keyword counts. */
export function isQuickSchema(schema: JsonObject): boolean {
  return countValues(schema, MAX_SCHEMA_VALUES, (key) => SLOW_KEYWORDS.has(key)) <= MAX_SCHEMA_VALUES;
}

/** True for a value of which a quick schema makes short work. */
export function isSmallValue(value: JsonValue): boolean {
  return countValues(value, MAX_VALUES, () => false) <= MAX_VALUES;
}

/** Counts the values in a value, and no further than up to a limit; more than it when a key is refused. */
function countValues(value: JsonValue, limit: number, isRefused: (key: string) => boolean): number {
  if (Array.isArray(value)) return countAll(value);
  if (!isJsonObject(value)) return 1;
  if (Object.keys(value).some(isRefused)) return limit + 1;
  return countAll(Object.values(value));

  function countAll(children: readonly JsonValue[]): number {
    let count = 1;
    for (const child of children) {
      if (count > limit) break;
      count += countValues(child, limit - count, isRefused);
    }
    return count;
  }
}
