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

/**
 * Characters that count as one value more. A text may be measured by each part of a schema, and a key is written into the
 * place of each fault, which takes longer.
 */
const TEXT_PER_VALUE = 32;
const KEY_PER_VALUE = 8;

/** True for a schema against which any small value is checked quickly. A property with the name of a keyword counts. */
export function isQuickSchema(schema: JsonObject): boolean {
  const weigh: Weigh = (text, { isKey }) => (isKey && SLOW_KEYWORDS.has(text) ? Number.POSITIVE_INFINITY : 0);
  return countValues(schema, MAX_SCHEMA_VALUES, weigh) <= MAX_SCHEMA_VALUES;
}

/** True for a value of which a quick schema makes short work. */
export function isSmallValue(value: JsonValue): boolean {
  const weigh: Weigh = ({ length }, { isKey }) =>
    Math.floor(length / (isKey ? KEY_PER_VALUE : TEXT_PER_VALUE));
  return countValues(value, MAX_VALUES, weigh) <= MAX_VALUES;
}

/** For how many values more a text counts, or a key. */
type Weigh = (text: string, options: { isKey: boolean }) => number;

/** Counts the values in a value, and no further than up to a limit. */
function countValues(value: JsonValue, limit: number, weigh: Weigh): number {
  let count = 1;
  if (typeof value === "string") return count + weigh(value, { isKey: false });
  const isObject = isJsonObject(value);
  if (isObject) for (const key of Object.keys(value)) count += weigh(key, { isKey: true });
  if (!isObject && !Array.isArray(value)) return count;
  for (const child of Object.values(value) as JsonValue[]) {
    if (count > limit) break;
    count += countValues(child, limit - count, weigh);
  }
  return count;
}
