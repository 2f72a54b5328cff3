// Patterns that a server could refuse.
import { isObject, type JsonSchema } from "./json-schema.ts";

/** Keywords that hold values, not schemas. */
const valueKeywords = ["default", "const", "enum", "examples"];
/** Keywords that hold schemas by name: a name is no keyword. */
const namedKeywords = ["properties", "$defs", "definitions", "patternProperties", "dependentSchemas"];

/** What Zod 4 gives as the format of checks that only their pattern tells. */
const checkFormats = ["includes", "starts_with", "ends_with", "lowercase", "uppercase"];

/**
 * A library's schema without the patterns that stand beside a `format`, and without those whose groups repeat: a server
 * refuses what could backtrack for ever, as Zod 4's patterns of e-mail addresses and times could in its eyes. Nothing is
 * lost but a hint for the model: the library checks the arguments itself, in this process.
 */
export function withPlainPatterns(schema: JsonSchema): JsonSchema {
  const { pattern, format } = schema;
  const saysFormat = typeof format === "string" && !checkFormats.includes(format);
  const isLeftOut = typeof pattern === "string" && (saysFormat || isHeavy(pattern));
  const entries = Object.entries(schema)
    .filter(([key]) => key !== "pattern" || !isLeftOut)
    .map(([key, value]): [string, unknown] => {
      if (valueKeywords.includes(key)) return [key, value];
      const isNamed = namedKeywords.includes(key) && isObject(value);
      return [key, isNamed ? mapValues(value, descend) : descend(value)];
    });
  return Object.fromEntries(entries);
}

function descend(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(descend);
  return isObject(value) ? withPlainPatterns(value) : value;
}

function mapValues(value: Record<string, unknown>, change: (value: unknown) => unknown): JsonSchema {
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, change(each)]));
}

/** A group that repeats, or more repetitions than a server counts up to. Characters after a backslash are themselves. */
function isHeavy(pattern: string): boolean {
  const bare = pattern.replace(/\\./g, "_").replace(/\[[^\]]*\]/g, "_");
  return /\)[*+?{]/.test(bare) || (bare.match(/[*+?{]/g) ?? []).length > 20;
}
