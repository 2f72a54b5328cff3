// The JSON Schema of what a Zod 3 schema takes. Zod 3 gives none itself. The known library for it imports Zod at run time,
// so every user of this package would ship it, with or without a Zod schema; hence this walk of our own, which knows
// schemas by their shape.
import type { JsonSchema } from "./json-schema.ts";
import {
  type LengthBounds,
  toLengths,
  toNumberSchema,
  toStringSchema,
  type ZodCheck,
} from "./zod-three-checks.ts";

/** As much of a Zod 3 schema as is read. */
export interface ZodNode {
  readonly _def: ZodDef;
}

interface ZodDef extends Partial<LengthBounds> {
  readonly typeName: string;
  readonly description?: string;
  readonly checks: readonly ZodCheck[];
  readonly value: unknown;
  readonly values: readonly string[] | Record<string, unknown>;
  readonly shape: () => Record<string, ZodNode>;
  readonly unknownKeys: "strip" | "strict" | "passthrough";
  readonly catchall: ZodNode;
  /** A list, or in old versions a map of the discriminator's values. */
  readonly options: { values(): Iterable<ZodNode> };
  readonly left: ZodNode;
  readonly right: ZodNode;
  readonly items: readonly ZodNode[];
  readonly rest: ZodNode | null;
  readonly keyType: ZodNode;
  readonly valueType: ZodNode;
  readonly innerType: ZodNode;
  readonly schema: ZodNode;
  readonly in: ZodNode;
  readonly type: ZodNode;
  readonly defaultValue: () => unknown;
  readonly getter: () => ZodNode;
}

/** One conversion. */
interface Walk {
  readonly root: ZodNode;
  /** The schemas that the walk is inside of. One that comes again leads back to itself: it is referred to. */
  readonly open: Set<ZodNode>;
  readonly names: Map<ZodNode, string>;
  readonly definitions: Record<string, JsonSchema>;
}

type ToSchema = (def: ZodDef, walk: Walk, path: string) => JsonSchema;

/** A `lazy` that makes a new schema each time has no end; nobody writes arguments that are this deep. */
const maxDepth = 100;

/**
 * Converts a schema. Descriptions are kept; what cannot be said in JSON Schema, like refinements, is left to Zod.
 *
 * @throws {Error} when a part has no JSON Schema; the message begins with the part's path below `path`
 */
export function fromZodThree(schema: ZodNode, path: string): JsonSchema {
  const walk: Walk = { root: schema, open: new Set(), names: new Map(), definitions: {} };
  const json = convert(schema, walk, path);
  if (walk.names.size === 0) return json;
  const { $ref, ...rest } = json;
  // The top level is said there, and not referred to: it has to be an object.
  const top = typeof $ref === "string" ? walk.definitions[$ref.slice("#/$defs/".length)] : {};
  return { ...top, ...rest, $defs: walk.definitions };
}

function convert(node: ZodNode, walk: Walk, path: string): JsonSchema {
  const { typeName, description } = node._def;
  if (walk.open.has(node)) return { $ref: toReference(node, walk) };
  if (walk.open.size > maxDepth) throw new Error(`${path.slice(0, 200)}: the schema has no end`);
  const toSchema = converters[typeName];
  if (!toSchema) throw new Error(`${path}: a ${toTypeWords(typeName)} has no JSON Schema`);
  walk.open.add(node);
  const json = toSchema(node._def, walk, path);
  walk.open.delete(node);
  const described = description === undefined ? json : { ...json, description };
  const name = walk.names.get(node);
  if (name === undefined) return described;
  walk.definitions[name] = described;
  return node === walk.root ? described : { $ref: `#/$defs/${name}` };
}

function toReference(node: ZodNode, { root, names }: Walk): string {
  if (node === root) return "#";
  const name = names.get(node) ?? `schema${names.size}`;
  names.set(node, name);
  return `#/$defs/${name}`;
}

const inside: ToSchema = ({ innerType }, walk, path) => convert(innerType, walk, path);
const anything: ToSchema = () => ({});
const alternatives: ToSchema = ({ options }, walk, path) =>
  toAnyOf([...options.values()].map((option) => convert(option, walk, path)));

/** What is not here has no JSON Schema: dates, big integers, maps, sets, functions, symbols, promises, undefined, NaN. */
const converters: Record<string, ToSchema> = {
  ZodAny: anything,
  ZodUnknown: anything,
  ZodNever: () => ({ not: {} }),
  ZodNull: () => ({ type: "null" }),
  ZodBoolean: () => ({ type: "boolean" }),
  ZodString: ({ checks }) => toStringSchema(checks),
  ZodNumber: ({ checks }) => toNumberSchema(checks),
  ZodLiteral: ({ value }, _, path) => toLiteral(value, path),
  ZodEnum: ({ values }) => toEnum(values as readonly string[]),
  ZodNativeEnum: ({ values }) => toEnum(toEnumValues(values as Record<string, unknown>)),
  ZodObject: toObject,
  ZodRecord: toRecord,
  ZodArray: (def, walk, path) => ({
    type: "array",
    items: convert(def.type, walk, `${path}[]`),
    ...toLengths(def),
  }),
  ZodTuple: toTuple,
  ZodUnion: alternatives,
  ZodDiscriminatedUnion: alternatives,
  ZodIntersection: ({ left, right }, walk, path) =>
    toAllOf(convert(left, walk, path), convert(right, walk, path)),
  ZodOptional: inside,
  ZodNullable: ({ innerType }, walk, path) => toAnyOf([convert(innerType, walk, path), { type: "null" }]),
  ZodDefault: ({ innerType, defaultValue }, walk, path) => ({
    ...convert(innerType, walk, path),
    default: defaultValue(),
  }),
  ZodCatch: inside,
  ZodReadonly: inside,
  ZodBranded: ({ type }, walk, path) => convert(type, walk, path),
  ZodEffects: ({ schema }, walk, path) => convert(schema, walk, path),
  ZodPipeline: (def, walk, path) => convert(def.in, walk, path),
  ZodLazy: ({ getter }, walk, path) => convert(getter(), walk, path),
};

function toObject({ shape, unknownKeys, catchall }: ZodDef, walk: Walk, path: string): JsonSchema {
  const fields = Object.entries(shape());
  const required = fields.filter(([, field]) => !isOptional(field, new Set())).map(([key]) => key);
  const json: JsonSchema = {
    type: "object",
    properties: Object.fromEntries(
      fields.map(([key, field]) => [key, convert(field, walk, toFieldPath(path, key))]),
    ),
    ...(required.length > 0 && { required }),
  };
  if (catchall._def.typeName !== "ZodNever") {
    return { ...json, additionalProperties: convert(catchall, walk, `${path}.*`) };
  }
  if (unknownKeys === "strip") return json;
  return { ...json, additionalProperties: unknownKeys === "strict" ? false : {} };
}

/** Keys are texts in JSON, so the type of a key is told for texts alone. */
function toRecord({ keyType, valueType }: ZodDef, walk: Walk, path: string): JsonSchema {
  const names = convert(keyType, walk, `${path}.*`);
  const isNarrow = names.type === "string" && Object.keys(names).length > 1;
  return {
    type: "object",
    ...(isNarrow && { propertyNames: names }),
    additionalProperties: convert(valueType, walk, `${path}.*`),
  };
}

function toTuple({ items, rest }: ZodDef, walk: Walk, path: string): JsonSchema {
  return {
    type: "array",
    prefixItems: items.map((item, index) => convert(item, walk, `${path}[${index}]`)),
    items: rest ? convert(rest, walk, `${path}[]`) : false,
    minItems: items.length,
    ...(!rest && { maxItems: items.length }),
  };
}

function toLiteral(value: unknown, path: string): JsonSchema {
  if (value === null) return { type: "null" };
  if (!["string", "number", "boolean"].includes(typeof value)) {
    throw new Error(`${path}: a Zod literal of type ${typeof value} has no JSON Schema`);
  }
  return { type: typeof value, const: value };
}

function toEnum(values: readonly unknown[]): JsonSchema {
  const [type, ...others] = new Set(values.map((value) => typeof value));
  return { ...(others.length === 0 && { type }), enum: values };
}

/** TypeScript's enums of numbers have the names as values too. */
function toEnumValues(values: Record<string, unknown>): unknown[] {
  return Object.entries(values)
    .filter(([key]) => typeof values[String(values[key])] !== "number")
    .map(([, value]) => value);
}

/** One of several. Where they are bare types it is a list of types, which every provider understands. */
function toAnyOf(schemas: readonly JsonSchema[]): JsonSchema {
  const types = schemas.map(({ type, ...rest }) => (Object.keys(rest).length === 0 ? type : undefined));
  return types.every((type) => typeof type === "string") ? { type: [...new Set(types)] } : { anyOf: schemas };
}

/** Both of two. Plain objects are put together, unless they share a property. */
function toAllOf(left: JsonSchema, right: JsonSchema): JsonSchema {
  const properties = [left, right].map((schema) =>
    isPlain(schema) ? (schema.properties as JsonSchema) : null,
  );
  const [ours, theirs] = properties;
  if (!ours || !theirs || Object.keys(ours).some((key) => key in theirs)) return { allOf: [left, right] };
  const required = [left, right].flatMap((schema) => (schema.required ?? []) as string[]);
  return {
    type: "object",
    properties: { ...ours, ...theirs },
    ...(required.length > 0 && { required }),
  };
}

function isPlain(schema: JsonSchema): boolean {
  return (
    schema.type === "object" && Object.keys(schema).every((key) => /^(?:type|properties|required)$/.test(key))
  );
}

/** Whether a field may be missing. What a `catch` takes is no matter: the model is told what is right. */
function isOptional({ _def: def }: ZodNode, seen: Set<unknown>): boolean {
  if (seen.has(def)) return false;
  seen.add(def);
  switch (def.typeName) {
    case "ZodOptional":
    case "ZodDefault":
    case "ZodAny":
    case "ZodUnknown":
      return true;
    case "ZodUnion":
      return [...def.options.values()].some((option) => isOptional(option, seen));
    case "ZodNullable":
    case "ZodReadonly":
    case "ZodCatch":
      return isOptional(def.innerType, seen);
    case "ZodBranded":
      return isOptional(def.type, seen);
    case "ZodEffects":
      return isOptional(def.schema, seen);
    case "ZodPipeline":
      return isOptional(def.in, seen);
    case "ZodLazy":
      return isOptional(def.getter(), seen);
    default:
      return false;
  }
}

/** A place below a place. */
export function toFieldPath(path: string, key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

function toTypeWords(typeName: string): string {
  return typeName.replace(/^Zod/, "Zod ").toLowerCase().replace("zod", "Zod");
}
