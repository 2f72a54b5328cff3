// Which types of values a schema takes, also where it does not say.
import { isJsonObject, type JsonObject, type JsonValue, toCanonicalJson } from "./json.ts";

/** The types of JSON Schema. */
export type SchemaType = "string" | "number" | "integer" | "boolean" | "object" | "array" | "null";

/** What a schema takes that says nothing. */
export const ALL_TYPES: readonly SchemaType[] = ["string", "number", "boolean", "object", "array", "null"];

/** Keywords that speak of one type: a schema that has one and no `type` means that type. */
const MEANT: Readonly<Record<string, SchemaType>> = {
  properties: "object",
  required: "object",
  additionalProperties: "object",
  patternProperties: "object",
  items: "array",
  prefixItems: "array",
  minItems: "array",
  maxItems: "array",
  uniqueItems: "array",
  pattern: "string",
  format: "string",
  minLength: "string",
  maxLength: "string",
  minimum: "number",
  maximum: "number",
  exclusiveMinimum: "number",
  exclusiveMaximum: "number",
  multipleOf: "number",
};

/** The types that values may have which fit all the schemas. */
export function typesOf(schemas: readonly JsonObject[]): SchemaType[] {
  const said = schemas.flatMap(({ type }) => (type === undefined ? [] : [toTypes(type)]));
  if (said.length > 0) return said.reduce(intersect);
  const meant = schemas.flatMap((schema) => Object.keys(schema).flatMap((key) => MEANT[key] ?? []));
  return meant.length > 0 ? [...new Set(meant)] : [...ALL_TYPES];
}

/** The values of `enum` and `const` that fit all the schemas and one of the types; null when there is neither keyword. */
export function valuesOf(schemas: readonly JsonObject[], types: readonly SchemaType[]): JsonValue[] | null {
  const lists = schemas.flatMap((schema) => [
    ...(Array.isArray(schema.enum) ? [schema.enum] : []),
    ...(Object.hasOwn(schema, "const") ? [[schema.const ?? null]] : []),
  ]);
  const [first, ...others] = lists.map(
    (values) => new Map(values.map((value) => [toCanonicalJson(value), value])),
  );
  if (!first) return null;
  return [...first]
    .filter(([text, value]) => others.every((list) => list.has(text)) && isOfTypes(value, types))
    .map(([, value]) => value);
}

/** The type of a value. */
export function typeOf(value: JsonValue): SchemaType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (isJsonObject(value)) return "object";
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "boolean";
  return Number.isInteger(Number(value)) ? "integer" : "number";
}

function isOfTypes(value: JsonValue, types: readonly SchemaType[]): boolean {
  const type = typeOf(value);
  return types.includes(type) || (type === "integer" && types.includes("number"));
}

function toTypes(type: JsonValue): SchemaType[] {
  const names = Array.isArray(type) ? type : [type];
  return names.filter(
    (name): name is SchemaType => name === "integer" || ALL_TYPES.includes(name as SchemaType),
  );
}

function intersect(one: readonly SchemaType[], other: readonly SchemaType[]): SchemaType[] {
  return one.flatMap((type) => {
    if (other.includes(type)) return [type];
    if (type === "integer" && other.includes("number")) return [type];
    return type === "number" && other.includes("integer") ? (["integer"] as const) : [];
  });
}
