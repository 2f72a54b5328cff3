// Constraints in words, for a model whose provider takes no keyword for them.
import { type JsonObject, type JsonValue, stringifyJson } from "./json.ts";

const TOLD: readonly string[] = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "default",
];

/** Longest value that is told, in characters: a model can do nothing with a longer one. */
const MAX_VALUE_CHARACTERS = 300;

/** What the schemas ask for, in words. */
export function toConstraintWords(schemas: readonly JsonObject[]): string[] {
  return schemas.flatMap((schema) =>
    TOLD.flatMap((key) => {
      const value = Object.hasOwn(schema, key) ? schema[key] : undefined;
      return value === undefined || value === false ? [] : [toPhrase(key, value)];
    }),
  );
}

/** One constraint in words. @example toPhrase("minLength", 2); // "minLength: 2" */
export function toPhrase(key: string, value: JsonValue): string {
  return `${key}: ${stringifyJson(value).slice(0, MAX_VALUE_CHARACTERS)}`;
}

/** A description with what is told beside it; undefined when there is neither. */
export function toDescription(
  description: JsonValue | undefined,
  words: readonly string[],
): string | undefined {
  const text = typeof description === "string" ? description : "";
  const told = words.length > 0 ? `(${[...new Set(words)].join("; ")})` : "";
  return [text, told].filter((part) => part !== "").join(" ") || undefined;
}
