// What providers take as a tool's parameters, whatever schema the caller wrote.
import type { JsonObject, JsonValue } from "@tandem/engine/domain/json";
import { toProviderSchema } from "@tandem/engine/domain/lower-schema";
import { offerTools } from "@tandem/worker/agent/offer-tools";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const refused = [
  ...["$ref", "$schema", "$id", "allOf", "anyOf", "oneOf", "not", "enum", "const", "if", "then", "else"],
  ...["dependentSchemas", "dependentRequired", "unevaluatedProperties", "patternProperties"],
];
const text = { type: "string" };
const number = { type: "number" };
const only = (properties: JsonObject, ...required: string[]) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

describe("a plain object schema", () => {
  it.each<[string, JsonObject]>([
    ["with properties", only({ a: text }, "a")],
    ["with words for the model", { type: "object", title: "T", description: "D", properties: { a: text } }],
    ["with combinators below", { type: "object", properties: { a: { oneOf: [text, number] } } }],
    ["with definitions", { type: "object", properties: { a: { $ref: "#/$defs/A" } }, $defs: { A: text } }],
    ["that refers to itself", { type: "object", properties: { child: { $ref: "#" } } }],
    ["with bounds", { type: "object", properties: {}, minProperties: 1, additionalProperties: text }],
    ["with a property called anyOf", { type: "object", properties: { anyOf: text, $ref: text } }],
  ])("%s comes out as it was", (_, schema) => {
    expect(toProviderSchema(schema)).toEqual(schema);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ["its type", { properties: { a: text } }, { type: "object", properties: { a: text } }],
    ["its properties", { type: "object" }, { type: "object", properties: {} }],
    ["both", {}, { type: "object", properties: {} }],
  ])("is given %s", (_, schema, lowered) => {
    expect(toProviderSchema(schema)).toEqual(lowered);
  });

  it("loses its dialect and its name", () => {
    const $schema = "http://json-schema.org/draft-07/schema#";
    expect(toProviderSchema({ $schema, $id: "https://x.test/a", ...only({ a: text }) })).toEqual(
      only({ a: text }),
    );
  });
});

describe("at the top level", () => {
  it.each<[string, JsonObject, JsonObject]>([
    [
      "a reference is replaced by what it refers to, and what stands beside it has the last word",
      {
        $ref: "#/$defs/A",
        description: "Mine",
        $defs: { A: { ...only({ a: text }, "a"), description: "A" } },
      },
      {
        ...only({ a: text }, "a"),
        description: "Mine",
        $defs: { A: { ...only({ a: text }, "a"), description: "A" } },
      },
    ],
    [
      "references to references are followed, also into definitions and escaped names",
      {
        $ref: "#/definitions/a~1b",
        definitions: { "a/b": { $ref: "#/definitions/c%20d" }, "c d": only({ a: text }) },
      },
      {
        type: "object",
        properties: { a: text },
        additionalProperties: false,
        definitions: { "a/b": { $ref: "#/definitions/c%20d" }, "c d": only({ a: text }) },
      },
    ],
    [
      "allOf unites properties and required",
      {
        type: "object",
        properties: { a: text },
        required: ["a"],
        additionalProperties: false,
        allOf: [{ properties: { b: number }, required: ["b"] }, { required: ["c"] }],
      },
      { type: "object", properties: { a: text, b: number }, required: ["a", "b", "c"] },
    ],
    [
      "allOf asks for both schemas of a property",
      {
        properties: { a: text },
        allOf: [{ properties: { a: { minLength: 2 } } }, { properties: { a: text } }],
      },
      { type: "object", properties: { a: { allOf: [text, { minLength: 2 }] } } },
    ],
    [
      "anyOf unites closed branches, and requires what each requires",
      {
        anyOf: [only({ k: { const: "a" }, a: text }, "k", "a"), only({ k: { const: "b" }, b: number }, "k")],
      },
      {
        type: "object",
        properties: { k: { anyOf: [{ const: "a" }, { const: "b" }] }, a: text, b: number },
        required: ["k"],
      },
    ],
    [
      "oneOf names each schema of a property once",
      { required: ["id"], oneOf: [only({ a: text }), only({ a: number }), only({ a: { type: "string" } })] },
      { type: "object", properties: { a: { anyOf: [text, number] } }, required: ["id"] },
    ],
    [
      "a property that an open branch does not name may be anything",
      { anyOf: [{ properties: { a: text } }, { properties: { b: number } }] },
      { type: "object", properties: { a: { anyOf: [text, {}] }, b: { anyOf: [number, {}] } } },
    ],
    [
      "branches that only require leave the properties alone",
      { ...only({ a: text, b: text }), anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      { type: "object", properties: { a: text, b: text }, additionalProperties: false },
    ],
    [
      "a branch that takes no object counts for nothing",
      { anyOf: [{ $ref: "#/$defs/A" }, { type: "null" }, false], $defs: { A: only({ a: text }, "a") } },
      { type: "object", properties: { a: text }, required: ["a"], $defs: { A: only({ a: text }, "a") } },
    ],
    [
      "conditions, values and dependencies are dropped",
      {
        type: "object",
        properties: { a: text },
        not: { required: ["z"] },
        if: { required: ["a"] },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { required: ["b"] },
        else: false,
        const: { a: "x" },
        enum: [{ a: "x" }],
        dependentSchemas: { a: { required: ["b"] } },
        dependentRequired: { a: ["b"] },
        unevaluatedProperties: false,
      },
      { type: "object", properties: { a: text } },
    ],
    [
      "patternProperties go, and with them what is said about all others",
      { type: "object", patternProperties: { "^x-": text }, additionalProperties: false },
      { type: "object", properties: {} },
    ],
  ])("%s", (_, schema, lowered) => {
    expect(toProviderSchema(schema)).toEqual(lowered);
  });
});

describe("a reference below", () => {
  it("to a place that is gone leads to a copy in $defs", () => {
    const schema = {
      anyOf: [only({ a: { enum: ["x"] } }), only({ b: { $ref: "#/anyOf/0/properties/a" } })],
    };
    expect(toProviderSchema(schema)).toEqual({
      type: "object",
      properties: { a: { enum: ["x"] }, b: { $ref: "#/$defs/anyOf_0_properties_a" } },
      $defs: { anyOf_0_properties_a: { enum: ["x"] } },
    });
  });

  it("to the whole schema still means the schema as it was", () => {
    const schema = { anyOf: [only({ child: { $ref: "#" } }), { type: "null" }] };
    const root = { anyOf: [only({ child: { $ref: "#/$defs/root" } }), { type: "null" }] };
    expect(toProviderSchema(schema)).toEqual({
      type: "object",
      properties: { child: { $ref: "#/$defs/root" } },
      $defs: { root },
    });
  });

  it("is left alone where it is data, or a property's name", () => {
    const properties = {
      a: { const: { $ref: "#/anyOf/0" } },
      $ref: text,
      default: { $ref: "#/properties/a" },
    };
    expect(toProviderSchema({ properties, anyOf: [true] })).toEqual({ type: "object", properties });
  });
});

describe("odd input", () => {
  const ring = { $ref: "#/$defs/A", $defs: { A: { $ref: "#/$defs/B" }, B: { $ref: "#/$defs/A" } } };
  it.each<[string, JsonObject]>([
    ["a ring of references", ring],
    ["a reference to itself", { $ref: "#" }],
    ["a ring through branches", { anyOf: [{ $ref: "#" }, { allOf: [{ $ref: "#/anyOf/1" }] }] }],
    ["a missing target", { $ref: "#/$defs/None" }],
    ["a target that every object inherits", { $ref: "#/$defs/constructor", $defs: {} }],
    ["a target that is no schema", { $ref: "#/$defs/A/0", $defs: { A: [5] } }],
    ["a reference that cannot be decoded", { $ref: "#/%E0%A4%A" }],
    ["a reference elsewhere", { $ref: "https://x.test/schema" }],
    [
      "keywords of other types",
      { $ref: 5, allOf: {}, anyOf: "x", oneOf: null, properties: [], required: "a" },
    ],
    ["branches of other types", { anyOf: [true, [], 5, null], allOf: [[], "x", true], oneOf: [] }],
    ["what no object fits", { type: "string", anyOf: [false], additionalProperties: false }],
    ["several types", { type: ["object", "null"], properties: {} }],
  ])("(%s) gives a plain schema", (_, schema) => {
    const lowered = toProviderSchema(schema);
    expect(lowered).toMatchObject({ type: "object", properties: {} });
    expect(Object.keys(lowered).filter((key) => refused.includes(key))).toEqual([]);
  });

  it("keeps a property whose name is __proto__ a property", () => {
    const schema = JSON.parse('{"allOf":[{"properties":{"__proto__":{"type":"string"}}}]}');
    const { properties } = toProviderSchema(schema);
    expect(JSON.stringify(properties)).toBe('{"__proto__":{"type":"string"}}');
  });

  it("that fans out without bound is cut off", () => {
    const levels = 30;
    const $defs: JsonObject = { D30: only({ end: text }) };
    for (let level = 0; level < levels; level += 1) {
      const next = { allOf: [{ $ref: `#/$defs/D${level + 1}` }] };
      const branch = (n: number) => ({ ...next, properties: { p: { minLength: level, maxLength: n } } });
      $defs[`D${level}`] = { anyOf: [branch(1), branch(2)] };
    }
    const startedAt = performance.now();
    const lowered = toProviderSchema({ $ref: "#/$defs/D0", $defs });
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect(JSON.stringify(lowered).length).toBeLessThan(200_000);
  });
});

describe("the tools of a request", () => {
  it("have lowered schemas, the finishing tool's too", () => {
    const schema = { oneOf: [only({ a: text }, "a")] };
    const agent = { name: "x", description: "x", environments: [], answer_format: schema };
    const tools = [
      { name: "one", description: "One", input_schema: schema },
      { name: "two", description: "Two" },
    ];
    const offer = offerTools({ agent, tools, mustAnswer: false });
    const lowered = { type: "object", properties: { a: text }, required: ["a"] };
    expect(offer.tools).toMatchObject([
      { name: "one", inputSchema: lowered },
      { name: "two", inputSchema: { type: "object", properties: {} } },
      { inputSchema: lowered },
    ]);
    expect(JSON.stringify(offer.tools)).not.toContain("oneOf");
  });
});

describe("lowering", () => {
  const names = ["a", "b", "c"];
  const value = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 2 },
      fc.constantFrom<JsonValue>(null, true, 0, 7, "", "x", "xyz"),
      tie("object"),
      fc.array(tie("value"), { maxLength: 2 }),
    ),
    object: fc.dictionary(fc.constantFrom(...names, "d"), tie("value"), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  }));

  const pick = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 1 });
  const reference = fc.constantFrom(
    ...[
      "#/$defs/A",
      "#/$defs/B",
      "#",
      "#/properties/a",
      "#/anyOf/0",
      "#/allOf/0/properties/b",
      "#/$defs/A/anyOf/0",
    ],
  );
  const leaf = fc.constantFrom<JsonValue>(
    ...[
      true,
      false,
      {},
      text,
      number,
      { const: "x" },
      { enum: ["x", 7] },
      { type: "null" },
      { minLength: 2 },
    ],
    ...[{ type: "array" }, { not: text }, { $ref: "#" }, { $ref: "#/anyOf/0" }, { $ref: "#/properties/a" }],
  );
  const { schema } = fc.letrec<{ schema: JsonValue; node: JsonObject; branch: JsonValue }>((tie) => {
    const map = fc.dictionary(fc.constantFrom(...names), tie("schema"), {
      maxKeys: 3,
      noNullPrototype: true,
    });
    const branches = fc.array(tie("branch"), { minLength: 1, maxLength: 3 });
    const few = fc.uniqueArray(fc.constantFrom(...names), { maxLength: 2 });
    return {
      schema: fc.oneof(
        { maxDepth: 3 },
        { arbitrary: leaf, weight: 2 },
        { arbitrary: tie("node"), weight: 1 },
      ),
      branch: fc.oneof(
        { maxDepth: 3 },
        { arbitrary: leaf, weight: 1 },
        { arbitrary: tie("node"), weight: 4 },
      ),
      node: fc
        .record(
          {
            type: fc.constantFrom<JsonValue>("object", "object", ["object", "null"], "string"),
            properties: map,
            required: few,
            additionalProperties: fc.constantFrom<JsonValue>(false, false, true, text),
            patternProperties: fc.constantFrom<JsonObject>({ "^c": number }, { d: true }),
            minProperties: fc.constantFrom(0, 1),
            anyOf: branches,
            oneOf: branches,
            allOf: branches,
            not: tie("schema"),
            if: tie("schema"),
            // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
            then: tie("schema"),
            $ref: reference,
            dependentRequired: fc.constant<JsonObject>({ a: ["b"] }),
            unevaluatedProperties: fc.constant(false),
          },
          { requiredKeys: [] },
        )
        .chain((full) =>
          // Few keywords each, or nothing would fit and nothing be tested.
          fc
            .subarray(Object.keys(full), { maxLength: Math.min(4, Object.keys(full).length) })
            .map(
              (keys) =>
                Object.fromEntries(Object.entries(full).filter(([key]) => keys.includes(key))) as JsonObject,
            ),
        ),
    };
  });
  const root = fc
    .tuple(
      schema.filter((one) => typeof one === "object"),
      pick(fc.record({ A: schema, B: schema })),
    )
    .map(([one, $defs]) => ({ ...(one as JsonObject), ...($defs ? { $defs } : {}) }));

  const ajv = new Ajv2020({ strict: false, logger: false, addUsedSchema: false });
  /** Ajv's verdict; null when the schema, or its check, has no end or no meaning. */
  const check = (of: JsonObject) => {
    try {
      const validate = ajv.compile(of);
      return (candidate: JsonObject) => {
        try {
          return validate(candidate);
        } catch {
          return null;
        }
      };
    } catch {
      return null;
    } finally {
      ajv.removeSchema(of);
    }
  };

  it("refuses no object that the schema takes, and leaves no keyword that a provider refuses", () => {
    let accepted = 0;
    fc.assert(
      fc.property(root, fc.array(value.object, { minLength: 12, maxLength: 12 }), (original, candidates) => {
        const lowered = toProviderSchema(original);
        expect(lowered).toMatchObject({ type: "object", properties: {} });
        expect(Object.keys(lowered).filter((key) => refused.includes(key))).toEqual([]);
        const takes = check(original);
        if (!takes) return;
        const stillTakes = check(lowered);
        if (!stillTakes) throw new Error(`${JSON.stringify(lowered)} does not compile`);
        for (const candidate of candidates) {
          if (takes(candidate) !== true) continue;
          accepted += 1;
          expect([candidate, stillTakes(candidate)]).toEqual([candidate, true]);
        }
      }),
      { numRuns: 500 },
    );
    expect(accepted).toBeGreaterThan(300);
  });
});
