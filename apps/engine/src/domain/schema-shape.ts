// What a JSON Schema says about an object's properties, with its combinators worked out. Where it cannot tell, it is
// wider than the schema, never narrower.
import { isJsonObject, type JsonObject, type JsonValue, toCanonicalJson } from "./json.ts";
import { resolveReference } from "./schema-references.ts";

/** The properties of the objects that a schema takes. */
export interface Shape {
  properties: Map<string, JsonValue>;
  required: Set<string>;
  /** True when no other properties are allowed. */
  isClosed: boolean;
}

/** How many subschemas are looked into. References fan out, and past this the rest is taken for "anything". */
const MAX_SUBSCHEMAS = 256;

/** Where a walk is: references lead anywhere in the root, and back. */
interface Walk {
  root: JsonObject;
  path: readonly JsonValue[];
  budget: { left: number };
}

/** The shape of the objects that fit the schema; null when none does. */
export function shapeOf(schema: JsonObject): Shape | null {
  return shapeWithin(schema, { root: schema, path: [], budget: { left: MAX_SUBSCHEMAS } });
}

function shapeWithin(schema: JsonValue | undefined, { root, path, budget }: Walk): Shape | null {
  if (schema === false) return null;
  if (!isJsonObject(schema) || path.includes(schema) || budget.left <= 0) return anyShape();
  budget.left -= 1;
  if (!takesObjects(schema.type)) return null;
  const walk = { root, path: [...path, schema], budget };
  const parts = [ownShape(schema)];
  if (schema.$ref !== undefined) parts.push(shapeWithin(resolveReference(root, schema.$ref), walk));
  for (const part of toList(schema.allOf)) parts.push(shapeWithin(part, walk));
  for (const branches of [toList(schema.anyOf), toList(schema.oneOf)]) {
    if (branches.length > 0) parts.push(uniteBranches(branches.map((branch) => shapeWithin(branch, walk))));
  }
  return parts.reduce((all, part) => all && part && joinShapes(all, part));
}

function anyShape(): Shape {
  return { properties: new Map(), required: new Set(), isClosed: false };
}

function ownShape(schema: JsonObject): Shape | null {
  const { properties, required, additionalProperties, patternProperties } = schema;
  return {
    properties: new Map(isJsonObject(properties) ? Object.entries(properties) : []),
    required: new Set(toList(required).filter((name) => typeof name === "string")),
    isClosed: additionalProperties === false && patternProperties === undefined,
  };
}

function takesObjects(type: JsonValue | undefined): boolean {
  return Array.isArray(type) ? type.includes("object") : typeof type !== "string" || type === "object";
}

/** Both hold. */
function joinShapes(one: Shape, other: Shape): Shape {
  const properties = new Map(one.properties);
  for (const [name, schema] of other.properties) {
    const known = properties.get(name);
    properties.set(name, known === undefined ? schema : joinSchemas(known, schema));
  }
  const required = new Set([...one.required, ...other.required]);
  return { properties, required, isClosed: one.isClosed || other.isClosed };
}

function joinSchemas(one: JsonValue, other: JsonValue): JsonValue {
  if (takesAnything(other)) return isEmpty(one) ? other : one;
  if (takesAnything(one)) return other;
  return combine("allOf", [one, other]);
}

/** At least one holds. An open branch that does not name a property takes any value there, and so must the union. */
function uniteBranches(branches: readonly (Shape | null)[]): Shape | null {
  const possible = branches.filter((branch) => branch !== null);
  const [first, ...others] = possible;
  if (!first) return null;
  const names = new Set(possible.flatMap((branch) => [...branch.properties.keys()]));
  const properties = [...names].map((name): [string, JsonValue] => {
    const schemas = possible.flatMap(({ properties }) => properties.get(name) ?? []);
    const isAny = possible.some(({ properties, isClosed }) => !isClosed && !properties.has(name));
    return [name, combine("anyOf", isAny ? [...schemas, true] : schemas)];
  });
  return {
    properties: new Map(properties),
    required: new Set(
      [...first.required].filter((name) => others.every(({ required }) => required.has(name))),
    ),
    isClosed: possible.every(({ isClosed }) => isClosed),
  };
}

/** One schema of several, without duplicates. Says `{}` for `true`, which providers do not take everywhere. */
function combine(keyword: "allOf" | "anyOf", schemas: readonly JsonValue[]): JsonValue {
  const different = new Map<string, JsonValue>();
  for (const schema of schemas.flatMap((one) => toOperands(keyword, one))) {
    if (keyword === "anyOf" && schema === false) continue;
    const operand = schema === true ? {} : schema;
    different.set(toCanonicalJson(operand), operand);
  }
  const [first, ...others] = different.values();
  return first === undefined ? false : others.length === 0 ? first : { [keyword]: [first, ...others] };
}

/** The operands of a combination that is nothing else, so that combinations of combinations stay flat. */
function toOperands(keyword: "allOf" | "anyOf", schema: JsonValue): JsonValue[] {
  const operands = isJsonObject(schema) && Object.keys(schema).length === 1 ? toList(schema[keyword]) : [];
  return operands.length > 0 ? operands : [schema];
}

function takesAnything(schema: JsonValue): boolean {
  return isEmpty(schema) || toOperands("anyOf", schema).some(isEmpty);
}

function isEmpty(schema: JsonValue): boolean {
  return schema === true || (isJsonObject(schema) && Object.keys(schema).length === 0);
}

function toList(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}
