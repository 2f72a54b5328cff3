// Schemas that somebody wrote to hang or crash the process that reads them.
import { type JsonObject, parseJson } from "@tandem/engine/domain/json";
import { findValueFaults } from "@tandem/engine/domain/json-schema";
import { lowerForProvider } from "@tandem/engine/domain/lower-for-provider";
import type { Provider } from "@tandem/engine/domain/models";
import { findStrictFault } from "@tandem/engine/domain/strict-schema";
import { findToolFaults } from "@tandem/engine/domain/tools";
import { describe, expect, it } from "vitest";

const object = (properties: JsonObject, rest: JsonObject = {}) => ({ type: "object", properties, ...rest });

function nested(depth: number, wrap: (inner: JsonObject) => JsonObject): JsonObject {
  let schema: JsonObject = { type: "string" };
  for (let level = 0; level < depth; level += 1) schema = wrap(schema);
  return schema;
}

/** Definitions of which each asks for the next one twice. */
function fanOut(levels: number, keyword: string): JsonObject {
  const next = (level: number) => ({ $ref: `#/$defs/D${level + 1}` });
  const $defs: JsonObject = { [`D${levels}`]: object({ end: { type: "string" } }) };
  for (let level = 0; level < levels; level += 1)
    $defs[`D${level}`] = { [keyword]: [next(level), next(level)] };
  return object({ a: { $ref: "#/$defs/D0" } }, { $defs });
}

const many = (count: number, make: (index: number) => [string, JsonObject]) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => make(index)));

/** Refused, each with the beginning of its path and a word of the reason. */
const refused: [what: string, schema: JsonObject, path: (string | number)[], word: RegExp][] = [
  [
    "a pattern of nested quantifiers",
    object({ a: { type: "string", pattern: "^(a+)+$" } }),
    ["properties", "a", "pattern"],
    /backtrack/,
  ],
  [
    "the same in patternProperties",
    object({}, { patternProperties: { "^(x*)*$": {} } }),
    ["pattern"],
    /backtrack/,
  ],
  [
    "a huge enum",
    object({ a: { enum: Array.from({ length: 20_000 }, (_, index) => `v${index}`) } }),
    [],
    /longer/,
  ],
  ["deep nesting", nested(60, (inner) => object({ a: inner })), ["properties", "a"], /deeper/],
  [
    "deep nesting of combinations",
    object({ a: nested(200, (inner) => ({ allOf: [inner] })) }),
    ["properties", "a"],
    /deeper/,
  ],
  ["a reference to itself", { $ref: "#" }, ["$ref"], /descending/],
  [
    "a reference to itself below",
    object({ a: { $ref: "#/properties/a" } }),
    ["properties", "a", "$ref"],
    /descending/,
  ],
  [
    "a ring through allOf",
    object(
      { a: { allOf: [{ $ref: "#/$defs/A" }] } },
      { $defs: { A: { allOf: [{ anyOf: [{ $ref: "#/$defs/A" }] }] } } },
    ),
    [],
    /descending/,
  ],
  [
    "a ring of two",
    object(
      { a: { $ref: "#/$defs/A" } },
      { $defs: { A: { $ref: "#/$defs/B" }, B: { not: { $ref: "#/$defs/A" } } } },
    ),
    [],
    /descending/,
  ],
  [
    "a ring through conditions",
    object({ a: { if: { $ref: "#/properties/a" } } }),
    ["properties", "a", "if", "$ref"],
    /descending/,
  ],
  [
    "a remote reference",
    object({ a: { $ref: "https://evil.test/schema.json" } }),
    ["properties", "a", "$ref"],
    /local/,
  ],
  [
    "a reference to a file",
    object({ a: { $ref: "file:///etc/passwd" } }),
    ["properties", "a", "$ref"],
    /local/,
  ],
  [
    "another base by $id",
    object({ a: { $id: "https://evil.test/", $ref: "#/x" } }),
    ["properties", "a", "$id"],
    /not supported/,
  ],
  [
    "a dynamic reference",
    object({ a: { $dynamicRef: "#node" } }),
    ["properties", "a", "$dynamicRef"],
    /not supported/,
  ],
  ["an anchor", object({ a: { $anchor: "x" } }), ["properties", "a", "$anchor"], /not supported/],
  ["a promise in place of a check", object({}, { $async: true }), ["$async"], /not supported/],
  [
    "a hundred thousand properties",
    object(many(100_000, (index) => [`p${index}`, {}])),
    [],
    /longer|characters/,
  ],
  ["a reference that leads nowhere", object({ a: { $ref: "#/$defs/constructor" } }), [], /resolve/],
  ["a type that is none", object({ a: { type: "function" } }), [], /type/],
  ["a top level that is no object", { type: "array" }, ["type"], /object/],
];

/** Taken, and harmless. */
const taken: [what: string, schema: JsonObject][] = [
  [
    "keys called __proto__",
    parseJson(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{}},"required":["__proto__"]}',
    ) as JsonObject,
  ],
  [
    "NUL and half surrogate pairs",
    object({ "a\0b": { enum: ["\0", "\ud800"] }, "\udfff": {} }, { required: ["a\0b"] }),
  ],
  [
    "numbers beyond doubles",
    parseJson(
      '{"type":"object","properties":{"a":{"maximum":1e400,"enum":[12345678901234567890]},"b":{"not":{"minimum":-1e999}}}}',
    ) as JsonObject,
  ],
  ["fans of allOf", fanOut(20, "allOf")],
  ["fans of anyOf", fanOut(14, "anyOf")],
  ["a tree of four hands", object(many(4, (index) => [`c${index}`, { $ref: "#" }]))],
  [
    "hundreds of alternatives, twice",
    object({
      a: {
        anyOf: Array.from({ length: 200 }, (_, index) => object({ [`x${index}`]: {} })),
        oneOf: Array.from({ length: 200 }, (_, index) => object({ [`y${index}`]: {} })),
      },
    }),
  ],
  ["thousands of properties", object(many(3_000, (index) => [`p${index}`, { type: "string" }]))],
  [
    "a long chain of references",
    object(
      { a: { $ref: "#/$defs/D0" } },
      { $defs: many(1_000, (index) => [`D${index}`, index < 999 ? { $ref: `#/$defs/D${index + 1}` } : {}]) },
    ),
  ],
  [
    "keywords of other types",
    object({
      a: { items: "x", properties: [], required: 5, anyOf: {}, allOf: null, enum: "y", $ref: 7 },
    } as never),
  ],
];

const tool = (input_schema: JsonObject) => ({ name: "hostile", description: "d", input_schema });
const providers: Provider[] = ["openai", "anthropic", "google", "compatible", "demo"];

describe("a hostile schema", () => {
  it.each(refused)(
    "(%s) is refused with the tool's name, the path and the reason",
    (_, schema, path, word) => {
      const startedAt = performance.now();
      const [fault] = findToolFaults([tool(schema)], ["tools"]);
      expect(performance.now() - startedAt).toBeLessThan(2_000);
      expect(fault?.msg).toMatch(word);
      if (fault?.loc.length === 1) return; // The list is too long to be looked at.
      expect(fault?.msg).toContain('"hostile"');
      expect(fault?.loc.slice(0, 3)).toEqual(["tools", 0, "input_schema"]);
      for (const step of path) expect(fault?.loc).toContain(step);
    },
  );

  it.each(taken)("(%s) is refused or taken, and lowered for everybody, in bounded time", (_, schema) => {
    const startedAt = performance.now();
    const [fault] = findToolFaults([tool(schema)], ["tools"]);
    if (fault) expect(fault.msg).toContain('"hostile"');
    for (const provider of providers) {
      const { schema: lowered } = lowerForProvider(schema, provider);
      expect(lowered).toMatchObject({ type: "object" });
      expect(JSON.stringify(lowered).length).toBeLessThan(3_000_000);
      findStrictFault(lowered, provider);
      findValueFaults(lowered, {});
    }
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it.each(refused)(
    "(%s) that a session has all the same is lowered without an end or an error",
    (_, schema) => {
      const startedAt = performance.now();
      for (const provider of providers) {
        expect(lowerForProvider(schema, provider).schema).toMatchObject({ type: "object" });
      }
      expect(performance.now() - startedAt).toBeLessThan(5_000);
    },
  );

  it("costs a list of them no more than its budget", () => {
    const tools = refused.map(([, schema], index) => ({ ...tool(schema), name: `t${index}` }));
    const small = tools.filter(({ input_schema }) => JSON.stringify(input_schema).length < 20_000);
    expect(small.length).toBeGreaterThanOrEqual(15);
    const startedAt = performance.now();
    expect(findToolFaults(small, ["tools"])).toHaveLength(small.length);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });
});

describe("the examples of a tool", () => {
  const schema = object({ a: { type: "integer" } }, { required: ["a"] });
  it("must fit its schema", () => {
    const good = { ...tool(schema), examples: [{ a: 1 }] };
    expect(findToolFaults([good], ["tools"])).toEqual([]);
    const bad = { ...tool(schema), examples: [{ a: 1 }, { a: "x" }, 5] };
    expect(findToolFaults([bad as never], ["tools"]).map(({ loc }) => loc)).toEqual([
      ["tools", 0, "examples", 1],
      ["tools", 0, "examples", 2],
    ]);
  });

  it("are any objects without a schema", () => {
    const free = { name: "free", description: "d", examples: [{ any: 1 }, {}] };
    expect(findToolFaults([free], ["tools"])).toEqual([]);
  });
});
