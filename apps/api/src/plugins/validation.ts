// Checking requests against the route schemas, and saying what is wrong in the reference's 422 shape.

import type { TSchema } from "@sinclair/typebox";
import { type Fault, TandemError } from "@tandem/engine/domain/errors";
import { toOrdinaryJson } from "@tandem/engine/domain/json";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import type { FastifySchemaCompiler } from "fastify";
import { findWrongTag, type SchemaNode } from "../schemas/branches.ts";
import { namedSchemas } from "../schemas/index.ts";

const OPTIONS = { strict: false, allErrors: false, verbose: true, removeAdditional: false } as const;

/**
 * Bodies keep their types, and numbers that a double cannot hold are checked as the nearest ones; only text from the
 * URL is turned into numbers and booleans.
 */
const bodies = createAjv({ ...OPTIONS, useDefaults: false, coerceTypes: false });
const urls = createAjv({ ...OPTIONS, useDefaults: true, coerceTypes: true });

function createAjv(options: ConstructorParameters<typeof Ajv>[0]): Ajv {
  const ajv = addFormats.default(new Ajv(options));
  ajv.addKeyword({ keyword: "errorHint", schemaType: "string" });
  for (const schema of namedSchemas) ajv.addSchema(schema, `${schema.$id}#`);
  return ajv;
}

/** The part of the URL or message that a schema is for, in the reference's words. */
const PARTS: Record<string, string> = {
  body: "body",
  querystring: "query",
  params: "path",
  headers: "header",
};

/** Compiles a route's schema; its check throws the 422 itself. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const ajv = httpPart === "body" ? bodies : urls;
  const validate = ajv.compile(httpPart === "headers" ? withLowerCaseNames(schema) : schema);
  const part = PARTS[httpPart ?? "body"] ?? "body";
  return (value: unknown) => {
    const fault = findFault(validate, httpPart === "body" ? toOrdinaryJson(value) : value, part);
    if (fault) throw new TandemError("invalid_request", fault.msg, { faults: [fault] });
    return { value };
  };
};

/** Headers arrive in lower case, whatever the document calls them. */
function withLowerCaseNames(schema: TSchema): TSchema {
  const entries = Object.entries(schema.properties ?? {});
  return {
    ...schema,
    properties: Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value])),
  };
}

/** Checks one value against a schema that is made for it and not used again: nothing of it is kept. */
export function checkOnce(schema: object, value: unknown, loc: (string | number)[]): Fault | null {
  const fault = compileFragment(schema)(value, loc);
  bodies.removeSchema(schema);
  return fault;
}

/** A check of a value against part of a named schema, for values that are not a whole body. */
export function compileFragment(schema: object): (value: unknown, loc: (string | number)[]) => Fault | null {
  const validate = bodies.compile(schema);
  return (value, loc) => {
    const fault = findFault(validate, toOrdinaryJson(value), "");
    return fault && { ...fault, loc: [...loc, ...fault.loc.slice(1)] };
  };
}

function findFault(validate: ValidateFunction, value: unknown, part: string): Fault | null {
  if (validate(value)) return null;
  const errors = validate.errors ?? [];
  const tagFault = errors.map((error) => findTagFault(error, part)).find((fault) => fault !== null);
  if (tagFault) return tagFault;
  const best = errors.reduce((a, b) => (rank(b) > rank(a) ? b : a));
  return { loc: [part, ...toPath(best)], msg: toWords(best), type: best.keyword };
}

/** Where a value may have several shapes and says that it has none of them, that is its fault, whatever else is. */
function findTagFault(error: ErrorObject, part: string): Fault | null {
  if (error.keyword !== "anyOf" || !isObject(error.data)) return null;
  const wrong = findWrongTag(error.schema as SchemaNode[], error.data as object);
  if (!wrong) return null;
  const path = [...toPath(error), wrong.field];
  const msg = `${path.join(".")} must be ${wrong.allowed.map((tag) => JSON.stringify(tag)).join(" or ")}`;
  return { loc: [part, ...path], msg, type: "const" };
}

/**
 * How much an error says. Where a value may have several shapes, each shape that does not fit gives an error; the
 * one that got furthest into the value is about the shape that was meant. At the same depth a wrong tag, or an object
 * where text could be, says least: another shape was meant.
 */
function rank(error: ErrorObject): number {
  const depth = error.instancePath.split("/").length;
  if (error.keyword === "anyOf" || error.keyword === "oneOf") return -1;
  if (error.keyword === "additionalProperties") return depth + 0.3;
  if (error.keyword === "required") return depth + 0.25;
  if (error.keyword === "const" || error.keyword === "not") return depth - 0.8;
  const isOtherShape = error.keyword === "type" && (isObject(error.data) || error.params.type === "null");
  return isOtherShape ? depth - 0.5 : depth;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function toPath(error: ErrorObject): (string | number)[] {
  const path = error.instancePath
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((segment) => (/^\d+$/.test(segment) ? Number(segment) : segment));
  const field = error.params.missingProperty ?? error.params.additionalProperty;
  return field === undefined ? path : [...path, String(field)];
}

function toWords(error: ErrorObject): string {
  const name = toPath(error).join(".") || "the value";
  switch (error.keyword) {
    case "required":
      return `${name} is required`;
    case "const":
      return `${name} must be ${JSON.stringify(error.params.allowedValue)}`;
    case "additionalProperties":
      return `${name} is not a field here`;
    case "enum":
      return `${name} must be one of ${error.params.allowedValues.join(", ")}`;
    case "type":
      return `${name} must be of type ${error.params.type}, not ${typeName(error.data)}`;
    case "pattern":
      return `${name} must be ${error.parentSchema?.errorHint ?? `text of the form ${error.params.pattern}`}`;
    case "format":
      return `${name} must be a ${error.params.format}`;
    default:
      return `${name} ${error.message ?? "is not allowed"}`;
  }
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
