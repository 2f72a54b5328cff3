/** Reads the parts of JSON Schema that say what an argument looks like; never throws on an odd schema. */

export type JsonRecord = Record<string, unknown>;

/** `$ref`s followed in a row before giving up on a schema that refers to itself. */
const MAX_REFERENCES = 20;
/** Alternatives of one `anyOf` or `oneOf` that are looked at. */
const MAX_BRANCHES = 20;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A schema with its local `$ref` followed and its `allOf` merged in; `{}` for anything else. */
export function resolve(schema: unknown, root: unknown, depth = 0): JsonRecord {
  if (!isRecord(schema) || depth > MAX_REFERENCES) return {};
  let resolved: JsonRecord = schema;
  if (typeof schema.$ref === "string") {
    const { $ref, ...siblings } = schema;
    resolved = { ...resolve(lookUp($ref as string, root), root, depth + 1), ...siblings };
  }
  if (!Array.isArray(resolved.allOf)) return resolved;
  const { allOf, ...rest } = resolved;
  const parts = (allOf as unknown[]).slice(0, MAX_BRANCHES).map((part) => resolve(part, root, depth + 1));
  return [...parts, rest].reduce(mergeSchemas, {});
}

function lookUp(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#")) return undefined;
  let target = root;
  for (const step of reference.slice(1).split("/").slice(1)) {
    const key = step.replace(/~1/g, "/").replace(/~0/g, "~");
    if (!isRecord(target) || !Object.hasOwn(target, key)) return undefined;
    target = target[key];
  }
  return target;
}

function mergeSchemas(left: JsonRecord, right: JsonRecord): JsonRecord {
  const merged = { ...left, ...right };
  if (isRecord(left.properties) && isRecord(right.properties)) {
    merged.properties = { ...left.properties, ...right.properties };
  }
  if (Array.isArray(left.required) && Array.isArray(right.required)) {
    merged.required = [...left.required, ...right.required];
  }
  return merged;
}

/** The alternatives a value may take (`anyOf`, `oneOf`), each complete, without `null`; one when there are none. */
export function branchesOf(schema: unknown, root: unknown): JsonRecord[] {
  const resolved = resolve(schema, root);
  const options = [resolved.anyOf, resolved.oneOf].find(Array.isArray) as unknown[] | undefined;
  if (options === undefined) return [resolved];
  const { anyOf: _any, oneOf: _one, ...base } = resolved;
  const branches = options
    .slice(0, MAX_BRANCHES)
    .map((option) => mergeSchemas(base, resolve(option, root)))
    .filter((branch) => branch.type !== "null" && branch.const !== null);
  return branches.length === 0 ? [base] : branches;
}

/** The types a schema names or implies; empty means anything. `null` is left out. */
export function typesOf(schema: JsonRecord): ReadonlySet<string> {
  const named = Array.isArray(schema.type) ? schema.type : [schema.type];
  const types = new Set(named.filter((type): type is string => typeof type === "string" && type !== "null"));
  if (types.size > 0) return types;
  if (isRecord(schema.properties)) types.add("object");
  if (schema.items !== undefined || schema.prefixItems !== undefined) types.add("array");
  for (const value of allowedValues(schema) ?? []) if (value !== null) types.add(typeof value);
  return types;
}

/** The values a schema lists (`enum`, `const`), or undefined when it lists none. */
export function allowedValues(schema: JsonRecord): unknown[] | undefined {
  if (Object.hasOwn(schema, "const")) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
}

/** The properties of an object schema, in order. */
export function propertiesOf(schema: JsonRecord): Array<[name: string, schema: unknown]> {
  return isRecord(schema.properties) ? Object.entries(schema.properties) : [];
}

export function requiredOf(schema: JsonRecord): ReadonlySet<string> {
  const names = Array.isArray(schema.required) ? schema.required : [];
  return new Set(names.filter((name): name is string => typeof name === "string"));
}

/** What a schema says in words: title, description, and examples that are text. */
export function wordingOf(schema: JsonRecord): string {
  const texts = [schema.title, schema.description].filter((text) => typeof text === "string");
  return texts.join(" ").slice(0, 500);
}

/** Values the schema shows as examples of itself. */
export function examplesOf(schema: JsonRecord): unknown[] {
  const examples = Array.isArray(schema.examples) ? schema.examples : [];
  return schema.example === undefined ? examples : [...examples, schema.example];
}
