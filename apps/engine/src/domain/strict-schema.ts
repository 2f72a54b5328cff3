// Strict tools: which schemas a provider can hold a model to. It refuses the request when one cannot be held, so a tool is
// strict only when all is sure, and is offered as ever otherwise.
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import type { Provider } from "./models.ts";
import { mapSubschemas, type SchemaPath, toPlace } from "./schema-walk.ts";
import { findRecursion, measureStrict } from "./strict-measure.ts";

/** What a provider takes in the schema of a strict tool. */
interface StrictRules {
  keywords: ReadonlySet<string>;
  formats: ReadonlySet<string>;
  /** Every property must be required. */
  isAllRequired: boolean;
  mayRecurse: boolean;
}

const WORDS = ["$defs", "$ref", "anyOf", "const", "definitions", "description", "enum", "format", "items"];
const OBJECTS = ["additionalProperties", "properties", "required", "title", "type"];
const FORMATS = ["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"];

/**
 * Sources: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas and
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
 */
const RULES: Record<"openai" | "anthropic", StrictRules> = {
  openai: {
    keywords: new Set([
      ...[...WORDS, ...OBJECTS, "minItems", "maxItems", "pattern"],
      ...["multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"],
    ]),
    formats: new Set(FORMATS),
    isAllRequired: true,
    mayRecurse: true,
  },
  anthropic: {
    keywords: new Set([...WORDS, ...OBJECTS, "default"]),
    formats: new Set([...FORMATS, "uri"]),
    isAllRequired: false,
    mayRecurse: false,
  },
};

/**
 * Why a provider would not take a schema for a strict tool; null when it would.
 *
 * @param schema as the provider gets it: the outcome of `lowerForProvider`
 */
export function findStrictFault(schema: JsonObject, provider: Provider): string | null {
  if (provider !== "openai" && provider !== "anthropic") return `${provider} has no strict tools`;
  const rules = RULES[provider];
  const fault = findFault(schema, [], rules);
  if (fault) return fault;
  if (!rules.mayRecurse && findRecursion(schema)) return "a reference leads back to where it stands";
  return measureStrict(schema, provider);
}

function findFault(node: JsonObject, path: SchemaPath, rules: StrictRules): string | null {
  const fault = findKeywordFault(node, rules) ?? findTypeFault(node) ?? findObjectFault(node, rules);
  if (fault) return `${toPlace(path)}: ${fault}`;
  let below: string | null = null;
  mapSubschemas(node, (child, at) => {
    if (below === null && isJsonObject(child)) below = findFault(child, [...path, ...at], rules);
    return child;
  });
  return below;
}

function findKeywordFault(node: JsonObject, { keywords, formats }: StrictRules): string | null {
  const unknown = Object.keys(node).find((key) => !keywords.has(key));
  if (unknown !== undefined) return `${unknown.slice(0, 100)} is not supported`;
  if (typeof node.format === "string" && !formats.has(node.format)) {
    return `format ${node.format.slice(0, 100)} is not supported`;
  }
  if (Array.isArray(node.enum) && node.enum.some((value) => typeof value === "object" && value !== null)) {
    return "enum holds more than plain values";
  }
  return null;
}

function findTypeFault(node: JsonObject): string | null {
  if (node.$ref !== undefined) {
    const beside = Object.keys(node).find((key) => key !== "$ref");
    return beside === undefined ? null : `${beside} stands beside $ref`;
  }
  if (node.anyOf !== undefined) return null;
  if (node.type === undefined) return "there is no type";
  return includesType(node.type, "array") && !isTypedSchema(node.items) ? "items must be a schema" : null;
}

function findObjectFault(node: JsonObject, { isAllRequired }: StrictRules): string | null {
  if (!includesType(node.type, "object") && node.properties === undefined) return null;
  if (node.additionalProperties !== false) return "additionalProperties must be false";
  const names = Object.keys(isJsonObject(node.properties) ? node.properties : {});
  const required = Array.isArray(node.required) ? node.required : [];
  const optional = names.find((name) => !required.includes(name));
  if (isAllRequired && optional !== undefined) return `property ${optional.slice(0, 100)} is not required`;
  const unknown = required.find((name) => !names.includes(String(name)));
  return unknown === undefined ? null : "required names a property that does not exist";
}

function includesType(type: JsonValue | undefined, name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name));
}

function isTypedSchema(schema: JsonValue | undefined): boolean {
  return isJsonObject(schema) && Object.keys(schema).length > 0;
}
