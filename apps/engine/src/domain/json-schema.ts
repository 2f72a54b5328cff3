// JSON Schemas that come from callers: which are accepted, and checking values against them.
// Hostile schemas must neither hang nor crash a process, so size, depth and patterns are bounded.
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import isSafePattern from "safe-regex2";
import { isQuickSchema, isSmallValue } from "./check-cost.ts";
import { TandemError } from "./errors.ts";
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson, toOrdinaryJson } from "./json.ts";
import { findReferenceCycle } from "./reference-cycle.ts";
import { cpuTimeMs, withTimeLimit } from "./time-limit.ts";

/** Longest JSON text of a schema, in characters. Compiling much more would hold up the process. */
const MAX_SCHEMA_CHARACTERS = 65_536;

/** Deepest nesting of a schema. */
const MAX_SCHEMA_DEPTH = 32;

/** Longest time to compile a schema and to run it once, in milliseconds. Real ones take a few. */
const COMPILE_LIMIT_MS = 1_000;

/** Longest time to check one value, in milliseconds: an innocent pattern may still backtrack for ever. */
const CHECK_LIMIT_MS = 300;

/** What is wrong with a schema, and where in it. */
export interface SchemaFault {
  path: (string | number)[];
  msg: string;
}

/**
 * Says why a schema cannot be taken, or null when it can.
 *
 * @throws {TandemError} `unavailable` when the machine is too busy to tell
 */
export function findSchemaFault(schema: JsonObject): SchemaFault | null {
  if (stringifyJson(schema).length > MAX_SCHEMA_CHARACTERS) {
    return { path: [], msg: `the schema is longer than ${MAX_SCHEMA_CHARACTERS} characters` };
  }
  const fault = findNodeFault(schema, [], 0) ?? findTopLevelFault(schema) ?? findCycleFault(schema);
  return fault ?? findCompileFault(schema);
}

/**
 * Checks a value against a schema that passed {@link findSchemaFault}. The checks know doubles: a number that none can
 * hold, in the value or in the schema, counts as the nearest one.
 *
 * @param limitMs longest time for the check, in milliseconds
 * @returns the faults in words, empty when the value fits
 * @throws {TandemError} `unavailable` when the machine is too busy to tell
 */
export function findValueFaults(schema: JsonObject, value: JsonValue, limitMs = CHECK_LIMIT_MS): string[] {
  return findFaults(schema, value, (check) => withTimeLimit(limitMs, check));
}

/** @param limited runs a check that may take its time */
function findFaults(
  schema: JsonObject,
  value: JsonValue,
  limited: (check: () => boolean) => boolean,
): string[] {
  try {
    const { validate, isQuick } = compile(schema);
    const ordinary = toOrdinaryJson(value);
    const check = () => validate(ordinary) as boolean;
    const isRight = isQuick && isSmallValue(ordinary) ? check() : limited(check);
    if (isRight) return [];
    return (validate.errors ?? []).slice(0, MAX_REPORTED_FAULTS).map(toWords);
  } catch (error) {
    if (error instanceof TandemError) throw error;
    return [`the value cannot be checked against the schema: ${messageOf(error)}`];
  }
}

/** What is left of a budget below this is nothing, in milliseconds: a busy machine gives no process so short a time. */
const LEAST_CHECK_MS = 20;

/** Checks values like {@link findValueFaults}. */
export type ValueChecker = (schema: JsonObject, value: JsonValue) => string[];

/** A checker of many values that have one budget of time together, in milliseconds. */
export function createValueChecker(budgetMs: number): ValueChecker {
  let leftMs = budgetMs;
  const limited = (check: () => boolean) => {
    const startedAt = cpuTimeMs();
    try {
      return withTimeLimit(Math.ceil(Math.min(leftMs, CHECK_LIMIT_MS)), check);
    } finally {
      leftMs -= cpuTimeMs() - startedAt;
    }
  };
  return (schema, value) => {
    if (leftMs < LEAST_CHECK_MS) return ["the value was not checked: the values before it took all the time"];
    return findFaults(schema, value, limited);
  };
}

const MAX_REPORTED_FAULTS = 8;

/** Longest part of a key or of a place that a fault shows, in characters: the value's author knows the rest. */
const SHOWN_CHARACTERS = 200;

function findTopLevelFault(schema: JsonObject): SchemaFault | null {
  if (schema.type === undefined || schema.type === "object") return null;
  return {
    path: ["type"],
    msg: `the top level must be of type "object", not ${JSON.stringify(schema.type)}`,
  };
}

/** Walks a schema for what a compiler would accept and a process could not bear. */
function findNodeFault(node: JsonValue, path: (string | number)[], depth: number): SchemaFault | null {
  if (depth > MAX_SCHEMA_DEPTH)
    return { path, msg: `the schema nests deeper than ${MAX_SCHEMA_DEPTH} levels` };
  if (Array.isArray(node)) return firstFault(node.entries(), path, depth);
  if (!isJsonObject(node)) return null;
  if (typeof node.$ref === "string" && !node.$ref.startsWith("#")) {
    return {
      path: [...path, "$ref"],
      msg: `$ref ${JSON.stringify(node.$ref)} is not local; only #… is followed`,
    };
  }
  const names = depth === 0 ? FORBIDDEN : [...FORBIDDEN, "$id"];
  const forbidden = names.find((key) => typeof node[key] === "string" || node[key] === true);
  if (forbidden !== undefined) {
    return { path: [...path, forbidden], msg: `${forbidden} is not supported` };
  }
  const patterns = isJsonObject(node.patternProperties) ? Object.keys(node.patternProperties) : [];
  if (typeof node.pattern === "string") patterns.push(node.pattern);
  const unsafe = patterns.find((pattern) => !isSafePattern(pattern));
  if (unsafe !== undefined) {
    const msg = `the regular expression ${JSON.stringify(unsafe)} is invalid or could backtrack for ever`;
    return { path: [...path, "pattern"], msg };
  }
  return firstFault(Object.entries(node), path, depth);
}

/** Keywords that would name a schema beyond itself, or turn its check into a promise that is always true. */
const FORBIDDEN = ["$async", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef"];

function firstFault(
  entries: Iterable<[string | number, JsonValue]>,
  path: (string | number)[],
  depth: number,
): SchemaFault | null {
  for (const [key, child] of entries) {
    const fault = findNodeFault(child, [...path, key], depth + 1);
    if (fault) return fault;
  }
  return null;
}

function findCycleFault(schema: JsonObject): SchemaFault | null {
  const path = findReferenceCycle(schema);
  return path && { path: [...path], msg: "$ref leads back to itself without descending into a value" };
}

/** Compiles the schema and runs it once: a `$ref` that leads back to itself only shows when it runs. */
function findCompileFault(schema: JsonObject): SchemaFault | null {
  try {
    const known = compile(schema);
    if (known.hasRun) return null;
    withTimeLimit(CHECK_LIMIT_MS, () => known.validate({}));
    known.hasRun = true;
    return null;
  } catch (error) {
    if (error instanceof TandemError) throw error;
    return { path: [], msg: `the schema is not valid: ${messageOf(error)}` };
  }
}

const OPTIONS = {
  strict: false,
  allErrors: true,
  validateFormats: true,
  logger: false,
} as const;
const createDraft7 = () => addFormats.default(new Ajv(OPTIONS));
const createDraft2020 = () => addFormats.default(new Ajv2020(OPTIONS));
const ajvs = { draft7: createDraft7(), draft2020: createDraft2020() };

/** A schema that can be checked against. */
interface CompiledSchema {
  validate: ValidateFunction;
  /** True when it has checked a value and come to an end. */
  hasRun: boolean;
  /** True when a small value needs no time limit. */
  isQuick: boolean;
}

/** Compiled schemas by their text. Bounded, since callers make the keys; the oldest goes first. */
const compiled = new Map<string, CompiledSchema>();
let compiledCharacters = 0;
const MAX_COMPILED_CHARACTERS = 2_000_000;

function compile(schema: JsonObject): CompiledSchema {
  const key = stringifyJson(schema);
  const known = compiled.get(key);
  if (known) return known;
  // `$schema` and `$id` would make the validator look up or register a name that another schema may hold.
  const { $schema, $id: _id, ...rest } = toOrdinaryJson(schema);
  const draft = typeof $schema === "string" && /draft-0?[4-7]/.test($schema) ? "draft7" : "draft2020";
  const made = { validate: compileWithin(draft, rest), hasRun: false, isQuick: isQuickSchema(schema) };
  compiled.set(key, made);
  compiledCharacters += key.length;
  for (const oldest of compiled.keys()) {
    if (compiledCharacters <= MAX_COMPILED_CHARACTERS) break;
    compiled.delete(oldest);
    compiledCharacters -= oldest.length;
  }
  return made;
}

function compileWithin(draft: keyof typeof ajvs, schema: object): ValidateFunction {
  // Work that is ended from outside does not tidy up behind itself: the compiler it was in is done for.
  const replaceCompiler = () => {
    if (draft === "draft7") ajvs.draft7 = createDraft7();
    else ajvs.draft2020 = createDraft2020();
  };
  try {
    return withTimeLimit(COMPILE_LIMIT_MS, () => ajvs[draft].compile(schema), replaceCompiler);
  } finally {
    // Ajv keeps each compiled schema for good, all but the last; the bounded map above is our cache.
    ajvs[draft].removeSchema(schema);
  }
}

function toWords(error: ErrorObject): string {
  const path = error.instancePath.slice(1, SHOWN_CHARACTERS).replaceAll("/", ".");
  const place = path === "" ? "" : `${path}: `;
  const extra = error.params as { additionalProperty?: string; allowedValues?: unknown[] };
  if (extra.additionalProperty !== undefined)
    return `${place}has no field ${JSON.stringify(extra.additionalProperty.slice(0, SHOWN_CHARACTERS))}`;
  if (extra.allowedValues) return `${place}must be one of ${JSON.stringify(extra.allowedValues)}`;
  return `${place}${error.message ?? error.keyword}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
