/** Makes up a value that fits a schema, for answers and forced calls whose value nothing supplies. */
import type { Conforms } from "./conforms.ts";
import {
  allowedValues,
  branchesOf,
  examplesOf,
  type JsonRecord,
  propertiesOf,
  requiredOf,
  typesOf,
} from "./json-schema.ts";

const BY_FORMAT: Readonly<Record<string, string>> = {
  ...{
    email: "someone@example.com",
    "idn-email": "someone@example.com",
    uri: "https://example.com",
    url: "https://example.com",
  },
  ...{
    "uri-reference": "/",
    uuid: "00000000-0000-4000-8000-000000000000",
    date: "1970-01-01",
    time: "00:00:00Z",
  },
  ...{
    "date-time": "1970-01-01T00:00:00Z",
    hostname: "example.com",
    ipv4: "127.0.0.1",
    ipv6: "::1",
    duration: "PT0S",
  },
};

/** Texts tried where a `pattern` decides: the usual shapes of codes and ids. */
const SHAPES =
  "A AA AAA AAAA a aa aaa 0 00 000 0000 00000 000000 A1 A-1 A-1001 ORD-1 AB12 abc-1 00:00 1970-01-01 +10000000000 #000000 0.0.0".split(
    " ",
  );

const MAX_DEPTH = 6;
const MAX_LENGTH = 10_000;

/** A value that fits, or undefined when none was found. */
export function placeholderFor(schema: unknown, root: unknown, conforms: Conforms, depth = 0): unknown {
  if (depth > MAX_DEPTH) return undefined;
  for (const branch of branchesOf(schema, root)) {
    for (const value of guesses(branch, root, conforms, depth)) {
      if (value !== undefined && conforms(schema, value)) return value;
    }
  }
  return conforms(schema, null) ? null : undefined;
}

function* guesses(schema: JsonRecord, root: unknown, conforms: Conforms, depth: number): Generator<unknown> {
  yield schema.default;
  yield* (allowedValues(schema) ?? []).slice(0, 50);
  yield* examplesOf(schema).slice(0, 10);
  const types = typesOf(schema);
  const wants = (type: string) => types.size === 0 || types.has(type);
  if (wants("string")) yield* texts(schema);
  if (wants("integer") || wants("number")) yield* numbers(schema);
  if (wants("boolean")) yield false;
  if (wants("array")) yield items(schema, root, conforms, depth);
  if (wants("object")) yield members(schema, root, conforms, depth);
}

function* texts(schema: JsonRecord): Generator<string> {
  if (typeof schema.format === "string" && Object.hasOwn(BY_FORMAT, schema.format))
    yield BY_FORMAT[schema.format] ?? "";
  const least = boundOf(schema.minLength, 0);
  const most = boundOf(schema.maxLength, MAX_LENGTH);
  yield "unknown".padEnd(least, ".").slice(0, most);
  if (schema.pattern !== undefined) yield* SHAPES;
}

function* numbers(schema: JsonRecord): Generator<number> {
  const step = typeof schema.multipleOf === "number" && schema.multipleOf > 0 ? schema.multipleOf : 1;
  yield 0;
  for (const bound of [schema.minimum, schema.exclusiveMinimum]) {
    if (typeof bound === "number")
      yield* [Math.ceil(bound / step) * step, (Math.floor(bound / step) + 1) * step, bound];
  }
  for (const bound of [schema.maximum, schema.exclusiveMaximum]) {
    if (typeof bound === "number")
      yield* [Math.floor(bound / step) * step, (Math.ceil(bound / step) - 1) * step, bound];
  }
}

function boundOf(value: unknown, fallback: number): number {
  return typeof value === "number" && value >= 0 ? Math.min(value, MAX_LENGTH) : fallback;
}

function items(schema: JsonRecord, root: unknown, conforms: Conforms, depth: number): unknown[] {
  const count = Math.min(boundOf(schema.minItems, 0), 20);
  if (count === 0) return [];
  const choices = branchesOf(schema.items ?? {}, root).flatMap((branch) => allowedValues(branch) ?? []);
  if (schema.uniqueItems === true && choices.length >= count) return choices.slice(0, count);
  const item = placeholderFor(schema.items ?? {}, root, conforms, depth + 1);
  return Array.from({ length: count }, () => item);
}

function members(schema: JsonRecord, root: unknown, conforms: Conforms, depth: number): JsonRecord {
  const required = requiredOf(schema);
  const entries = propertiesOf(schema).filter(([name]) => required.has(name));
  const made = entries.map(([name, property]) => [name, placeholderFor(property, root, conforms, depth + 1)]);
  return Object.fromEntries(made.filter(([, value]) => value !== undefined)) as JsonRecord;
}
