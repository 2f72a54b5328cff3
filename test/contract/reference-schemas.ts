// The reference API's machine form as JSON Schema, so that replies can be held against it.
import { readFile } from "node:fs/promises";
import { Ajv2020, type ErrorObject, type Options } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

/** A schema of the reference in its own notation: a name, or an object. */
export type ReferenceNode = string | ReferenceObject;

export interface ReferenceObject {
  type?: string;
  nullable?: boolean;
  ref?: string;
  anyOf?: ReferenceNode[];
  oneOf?: ReferenceNode[];
  discriminator?: string;
  mapping?: Record<string, string>;
  items?: ReferenceNode;
  props?: Record<string, ReferenceNode>;
  required?: string[] | boolean;
  additionalProperties?: boolean;
  enum?: unknown[];
  const?: unknown;
  format?: string;
  default?: unknown;
  min?: number;
  max?: number;
  exclMin?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  repeatable?: boolean;
  brief?: boolean;
  propNames?: string[];
}

export interface ReferenceEndpoint {
  method: string;
  path: string;
  query: Record<string, ReferenceObject>;
  headers: Record<string, ReferenceObject>;
  pathParams?: Record<string, ReferenceObject>;
  body: ReferenceNode | null;
  bodyRequired?: boolean;
  /** By status; null where the reference declares no body. */
  responses: Record<string, ReferenceNode | null>;
}

export interface ReferenceApi {
  endpoints: ReferenceEndpoint[];
  schemas: Record<string, ReferenceObject>;
}

export type JsonSchema = { [keyword: string]: unknown };

/** The repository's own copy: a clone elsewhere has no `shared/` beside it. */
export async function readReferenceApi(): Promise<ReferenceApi> {
  return JSON.parse(
    await readFile(new URL("fixtures/reference-api.json", import.meta.url), "utf8"),
  ) as ReferenceApi;
}

const primitives = new Set(["string", "integer", "number", "boolean", "object"]);

/** Keywords that become JSON Schema under the same or another name. */
const constraints: Record<string, string> = {
  enum: "enum",
  const: "const",
  format: "format",
  default: "default",
  min: "minimum",
  max: "maximum",
  exclMin: "exclusiveMinimum",
  minLength: "minLength",
  maxLength: "maxLength",
  minItems: "minItems",
  additionalProperties: "additionalProperties",
};

/** Keywords that the conversion reads in other ways. A keyword in neither list is an error: nothing gets lost. */
const structure = new Set([
  ...["type", "nullable", "ref", "anyOf", "oneOf", "discriminator", "mapping", "items", "props", "required"],
  ...["brief", "propNames", "repeatable"],
]);

/**
 * Turns one node of the reference's notation into JSON Schema.
 *
 * @throws for a keyword or type that it does not know
 */
export function toJsonSchema(node: ReferenceNode): JsonSchema {
  if (typeof node === "string") return toNamed(node);
  for (const keyword of Object.keys(node)) {
    if (!structure.has(keyword) && !(keyword in constraints)) {
      throw new Error(`The reference's notation has a keyword that is not read here: ${keyword}`);
    }
  }
  const schema = toShape(node);
  for (const [keyword, name] of Object.entries(constraints)) {
    const value = node[keyword as keyof ReferenceObject];
    if (value !== undefined) schema[name] = value;
  }
  return node.nullable ? { anyOf: [schema, { type: "null" }] } : schema;
}

function toNamed(name: string): JsonSchema {
  if (name === "any") return {};
  return primitives.has(name) ? { type: name } : { $ref: `#/$defs/${name}` };
}

function toShape(node: ReferenceObject): JsonSchema {
  if (node.oneOf && node.discriminator) return toDiscriminated(node.discriminator, node.mapping ?? {});
  if (node.oneOf) return { oneOf: node.oneOf.map(toJsonSchema) };
  if (node.anyOf) return { anyOf: node.anyOf.map(toJsonSchema) };
  if (node.props || node.brief) return toObject(node);
  if (node.type === "array") return { type: "array", items: toJsonSchema(node.items ?? "any") };
  if (node.ref !== undefined) return toNamed(node.ref);
  if (node.type === undefined) throw new Error(`No shape in ${JSON.stringify(node)}`);
  return toNamed(node.type);
}

function toObject(node: ReferenceObject): JsonSchema {
  const properties = Object.entries(node.props ?? {}).map(([name, prop]) => [name, toJsonSchema(prop)]);
  return { type: "object", properties: Object.fromEntries(properties), required: node.required };
}

/** The tag has to be there and decides alone, so that a fault is told of the schema that was meant. */
function toDiscriminated(tag: string, mapping: Record<string, string>): JsonSchema {
  return {
    type: "object",
    required: [tag],
    properties: { [tag]: { enum: Object.keys(mapping) } },
    allOf: Object.entries(mapping).map(([value, name]) => ({
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: toNamed(name),
      if: { required: [tag], properties: { [tag]: { const: value } } },
    })),
  };
}

/** Says what is wrong with a value, one line per fault; empty when it fits. */
export type Check = (value: unknown) => string[];

/** Checks values against the reference. */
export interface ReferenceValidator {
  /** Holds a value against a node of the reference, as the response of an endpoint. */
  check(node: ReferenceNode, value: unknown): string[];
  /**
   * Holds an event against the reference's schema of its own type. Types that the reference does not know go by
   * its untyped fallback, and only those.
   */
  checkEvent: Check;
}

export function createReferenceValidator(reference: ReferenceApi): ReferenceValidator {
  const defs = Object.entries(reference.schemas).map(([name, schema]) => [name, toJsonSchema(schema)]);
  const ajv = createAjv();
  ajv.addSchema({ $id: "reference:", $defs: Object.fromEntries(defs) });
  const compiled = new Map<string, Check>();
  const check = (node: ReferenceNode, value: unknown) => {
    const key = JSON.stringify(node);
    const known = compiled.get(key) ?? compileCheck(ajv, withBase(toJsonSchema(node)));
    compiled.set(key, known);
    return known(value);
  };
  return {
    check,
    checkEvent(event) {
      const type = (event as { type?: unknown } | null)?.type;
      const isTyped = typeof type === "string" && type.endsWith("Event") && type in reference.schemas;
      return check(isTyped ? type : "TrajectoryEvent", event);
    },
  };
}

/** A document of schemas that refer to each other, with the formats that both documents use. */
export function createAjv(options: Options = {}): Ajv2020 {
  return addFormats.default(new Ajv2020({ allErrors: true, strict: false, verbose: true, ...options }));
}

export function compileCheck(ajv: Ajv2020, schema: JsonSchema): Check {
  const validate = ajv.compile(schema);
  return (value) => (validate(value) ? [] : (validate.errors ?? []).map(toLine));
}

function toLine({ instancePath, message, params, data }: ErrorObject): string {
  const shown = JSON.stringify(data)?.slice(0, 200);
  return `${instancePath || "/"} ${message} ${JSON.stringify(params)}: ${shown}`;
}

/** References inside a converted node are relative to the document of all schemas. */
function withBase(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === "$ref" && typeof value === "string" ? `reference:${value}` : value,
  ) as JsonSchema;
}
