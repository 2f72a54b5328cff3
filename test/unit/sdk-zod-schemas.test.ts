// Schemas of Zod as tools tell them to the server: those of Zod 3, which we convert, beside those of Zod 4, which converts
// them itself.

import type { JsonObject, JsonValue } from "@tandem/engine/domain/json";
import { findSchemaFault, findValueFaults } from "@tandem/engine/domain/json-schema";
import { type JsonSchema, tool } from "@tandem/sdk";
import { describe, expect, it } from "vitest";
import * as z4 from "zod";
import { z as z3 } from "zod3";

/** What both versions have under the same names. */
type Z = typeof z3;

/** Enums as TypeScript compiles them: those of numbers have their names as values too. */
const Color = { Red: "red", Blue: "blue" } as const;
const Level = { Low: 0, High: 1, 0: "Low", 1: "High" } as const;

const toTool = (inputSchema: object) =>
  tool({ name: "x", description: "d", inputSchema: inputSchema as { "~standard": never }, fn: () => null });
const toSchema = (inputSchema: object): JsonSchema => toTool(inputSchema).inputSchema as JsonSchema;

/** A value inside an object, as both versions make it. */
const both = (make: (z: Z) => z3.ZodTypeAny) => ({
  three: toSchema(z3.object({ value: make(z3) })),
  four: toSchema(z4.object({ value: make(z4 as unknown as Z) as never })),
});

/** What differs and means the same, or is a hint alone: bounds of safe integers, `readOnly`, defaults of `catch`, names. */
function withoutHints(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutHints);
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (key === "$schema" || key === "readOnly" || key === "contentEncoding") return [];
    if (Math.abs(value) === Number.MAX_SAFE_INTEGER) return [];
    if (key === "propertyNames" && Object.keys(value).length === 1) return [];
    if (key === "oneOf") return [["anyOf", withoutHints(value)]];
    if (key === "format" && ["includes", "starts_with", "ends_with"].includes(value)) return [];
    return [[key, withoutHints(value)]];
  });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const alike: [string, (z: Z) => z3.ZodTypeAny][] = [
  ["text", (z) => z.string()],
  ["text with a description", (z) => z.string().describe("A city.")],
  ["text with bounds", (z) => z.string().min(2).max(9)],
  ["text of a length", (z) => z.string().length(4)],
  ["text with two lower bounds", (z) => z.string().min(2).min(5)],
  ["e-mail address", (z) => z.string().email()],
  ["URL", (z) => z.string().url()],
  ["UUID", (z) => z.string().uuid()],
  ["CUID", (z) => z.string().cuid()],
  ["CUID2", (z) => z.string().cuid2()],
  ["ULID", (z) => z.string().ulid()],
  ["Nano ID", (z) => z.string().nanoid()],
  ["JWT", (z) => z.string().jwt()],
  ["emoji", (z) => z.string().emoji()],
  ["base64", (z) => z.string().base64()],
  ["base64url", (z) => z.string().base64url()],
  ["date and time", (z) => z.string().datetime()],
  ["date and time with an offset", (z) => z.string().datetime({ offset: true })],
  ["date", (z) => z.string().date()],
  ["time, which has no zone", (z) => z.string().time()],
  ["duration", (z) => z.string().duration()],
  ["pattern", (z) => z.string().regex(/^[a-z]{3}\d+$/)],
  ["two patterns", (z) => z.string().regex(/^a/).regex(/b$/)],
  ["beginning", (z) => z.string().startsWith("a.b")],
  ["end", (z) => z.string().endsWith("(c)")],
  ["part", (z) => z.string().includes("[d]")],
  ["trimmed text", (z) => z.string().trim().min(1)],
  ["number", (z) => z.number()],
  ["whole number", (z) => z.number().int()],
  ["number with bounds", (z) => z.number().min(1).max(5)],
  ["number with open bounds", (z) => z.number().gt(1).lt(5)],
  ["number above zero", (z) => z.number().positive()],
  ["multiple", (z) => z.number().multipleOf(5)],
  ["multiple of two", (z) => z.number().multipleOf(4).multipleOf(6)],
  ["finite number", (z) => z.number().finite()],
  ["coerced number", (z) => z.coerce.number()],
  ["boolean", (z) => z.boolean()],
  ["null", (z) => z.null()],
  ["never", (z) => z.never()],
  ["literal text", (z) => z.literal("a")],
  ["literal number", (z) => z.literal(7)],
  ["literal boolean", (z) => z.literal(true)],
  ["enum", (z) => z.enum(["a", "b"])],
  ["TypeScript enum of texts", (z) => z.nativeEnum(Color)],
  ["TypeScript enum of numbers", (z) => z.nativeEnum(Level)],
  ["union of types", (z) => z.union([z.string(), z.number()])],
  ["union", (z) => z.union([z.string().min(1), z.object({ a: z.number() })])],
  ["union with an optional branch", (z) => z.union([z.string().optional(), z.number()])],
  [
    "discriminated union",
    (z) =>
      z.discriminatedUnion("kind", [
        z.object({ kind: z.literal("a"), n: z.number() }),
        z.object({ kind: z.literal("b") }),
      ]),
  ],
  [
    "intersection",
    (z) => z.intersection(z.object({ a: z.string() }), z.object({ b: z.string().optional() })),
  ],
  ["list", (z) => z.array(z.string())],
  ["list with bounds", (z) => z.array(z.string()).min(1).max(3)],
  ["list of a length", (z) => z.array(z.string()).length(2)],
  ["list that is not empty", (z) => z.array(z.string()).nonempty()],
  ["tuple", (z) => z.tuple([z.string(), z.number()])],
  ["tuple with a rest", (z) => z.tuple([z.string()]).rest(z.boolean())],
  ["record", (z) => z.record(z.string(), z.number())],
  ["record with narrow keys", (z) => z.record(z.string().min(2), z.number())],
  ["object", (z) => z.object({ a: z.string(), b: z.number().optional() })],
  ["strict object", (z) => z.object({ a: z.string() }).strict()],
  ["object that lets more through", (z) => z.object({ a: z.string() }).passthrough()],
  ["object with a type for more", (z) => z.object({ a: z.string() }).catchall(z.number())],
  ["key that is no name", (z) => z.object({ "a-b": z.string(), $ref: z.number() })],
  ["nullable type", (z) => z.string().nullable()],
  ["nullable with bounds", (z) => z.string().min(1).nullable()],
  ["optional", (z) => z.string().optional()],
  ["nullish", (z) => z.string().nullish()],
  ["default", (z) => z.string().default("a")],
  ["default of a list", (z) => z.array(z.string()).default(["a"])],
  ["default that a function makes", (z) => z.number().default(() => 4)],
  ["optional inside a wrapper", (z) => z.string().optional().readonly()],
  ["refinement", (z) => z.string().refine((text) => text !== "")],
  ["transform", (z) => z.string().transform((text) => text.length)],
  ["pipeline", (z) => z.string().transform(Number).pipe(z.number())],
  ["preprocessed", (z) => z.preprocess((value) => value, z.string())],
  ["branded", (z) => z.string().brand("Id")],
  ["read-only", (z) => z.object({ a: z.string() }).readonly()],
  ["lazy", (z) => z.lazy(() => z.string())],
  ["description outside a wrapper", (z) => z.string().optional().describe("A city.")],
];

describe("the JSON Schema of Zod 3 is that of Zod 4", () => {
  it.each(alike)("for a %s", (_, make) => {
    const { three, four } = both(make);
    expect(withoutHints(three)).toEqual(withoutHints(four));
  });
});

describe("the server takes the JSON Schema of both", () => {
  it.each(alike)("for a %s", (_, make) => {
    const { three, four } = both(make);
    expect([findSchemaFault(three as JsonObject), findSchemaFault(four as JsonObject)]).toEqual([null, null]);
  });

  it.each<[string, object]>([
    ["address", z4.ipv6()],
    ["network", z4.cidrv6()],
    ["time", z4.iso.time()],
    ["host name", z4.hostname()],
    ["template", z4.templateLiteral(["a", z4.number()])],
    ["pattern that repeats groups", z4.string().regex(/^(\w+\s?)+$/)],
  ])("for a Zod 4 %s", (_, value) => {
    const schema = toSchema(z4.object({ value: value as z4.ZodString })) as JsonObject;
    expect(findSchemaFault(schema)).toBeNull();
  });
});

describe("a Zod 3 schema", () => {
  it("keeps descriptions at every level", () => {
    const schema = z3
      .object({
        city: z3.string().describe("A city."),
        days: z3.array(z3.number().describe("A day.")).optional().describe("Days."),
      })
      .describe("A question.");
    expect(toSchema(schema)).toEqual({
      type: "object",
      properties: {
        city: { type: "string", description: "A city." },
        days: { type: "array", items: { type: "number", description: "A day." }, description: "Days." },
      },
      required: ["city"],
      description: "A question.",
    });
  });

  it("leaves checks after a change of the text, and patterns with flags, to Zod", () => {
    const make = (value: z3.ZodTypeAny) => (toSchema(z3.object({ value })).properties as JsonSchema).value;
    expect(make(z3.string().trim().max(5))).toEqual({ type: "string" });
    expect(
      make(
        z3
          .string()
          .toLowerCase()
          .regex(/^[a-z]+$/),
      ),
    ).toEqual({ type: "string" });
    expect(make(z3.string().regex(/^[a-z]+$/i))).toEqual({ type: "string" });
    expect(make(z3.string().ip({ version: "v4" }))).toEqual({ type: "string", format: "ipv4" });
    expect(make(z3.string().ip())).toEqual({ type: "string" });
  });

  it("does not ask for what may be anything", () => {
    expect(toSchema(z3.object({ a: z3.any(), b: z3.unknown() })).required).toBeUndefined();
  });

  it("that leads back to itself refers to itself, at the top and below it", () => {
    interface Tree {
      name: string;
      children: Tree[];
    }
    const tree: z3.ZodType<Tree> = z3.object({
      name: z3.string(),
      children: z3.lazy(() => z3.array(tree)),
    });
    const value = { name: "a", children: [{ name: "b", children: [] }] };
    const wrong = { name: "a", children: [{ name: 1, children: [] }] };
    for (const schema of [tree, tree.transform((each) => each.name)]) {
      const json = toSchema(schema) as JsonObject;
      expect(json.type).toBe("object");
      expect(findSchemaFault(json)).toBeNull();
      expect(findValueFaults(json, value as unknown as JsonValue)).toEqual([]);
      expect(findValueFaults(json, wrong as unknown as JsonValue)).not.toEqual([]);
    }
    const below = toSchema(z3.object({ tree, other: tree })) as JsonObject;
    expect(findValueFaults(below, { tree: value, other: value } as unknown as JsonValue)).toEqual([]);
    expect(findValueFaults(below, { tree: value, other: wrong } as unknown as JsonValue)).not.toEqual([]);
  });

  it("whose lazy part has no end is refused", () => {
    const endless = (): z3.ZodTypeAny => z3.object({ next: z3.lazy(endless) });
    expect(() => toTool(z3.object({ list: endless() }))).toThrow(
      /^Tool "x": inputSchema\.list\.next.*has no end$/,
    );
  });
});

describe("a schema that JSON Schema cannot say is refused with its path", () => {
  const parts: [string, (z: Z) => z3.ZodTypeAny, string][] = [
    ["date", (z) => z.date(), "a Zod date has no JSON Schema"],
    ["coerced date", (z) => z.coerce.date(), "a Zod date has no JSON Schema"],
    ["bigint", (z) => z.bigint(), "a Zod bigint has no JSON Schema"],
    ["map", (z) => z.map(z.string(), z.string()), "a Zod map has no JSON Schema"],
    ["set", (z) => z.set(z.string()), "a Zod set has no JSON Schema"],
    ["symbol", (z) => z.symbol(), "a Zod symbol has no JSON Schema"],
    ["undefined", (z) => z.undefined(), "a Zod undefined has no JSON Schema"],
    ["void", (z) => z.void(), "a Zod void has no JSON Schema"],
    ["NaN", (z) => z.nan(), "a Zod nan has no JSON Schema"],
    ["literal bigint", (z) => z.literal(1n), "a Zod literal of type bigint has no JSON Schema"],
  ];
  const inList = (z: Z, part: z3.ZodTypeAny) =>
    z.object({ items: z.array(z.object({ due: part.optional().nullable() })) });

  it.each(parts)("in Zod 3: %s", (_, make, fault) => {
    expect(() => toTool(inList(z3, make(z3)))).toThrow(`Tool "x": inputSchema.items[].due: ${fault}`);
  });

  it.each(parts)("in Zod 4: %s", (_, make) => {
    const z = z4 as unknown as Z;
    expect(() => toTool(inList(z, make(z)))).toThrow(
      /^Tool "x": inputSchema\.items\[\]\.due: .*JSON Schema$/,
    );
  });

  it("in Zod 3 alone: functions and promises", () => {
    for (const part of [z3.function(), z3.promise(z3.string())]) {
      expect(() => toTool(z3.object({ part }))).toThrow(/inputSchema\.part: a Zod (function|promise) has no/);
    }
  });

  it.each(["three", "four"])("in every kind of part, in Zod %s", (version) => {
    const z = version === "three" ? z3 : (z4 as unknown as Z);
    const date = z.date();
    const places: [z3.ZodTypeAny, string][] = [
      [z.tuple([z.string(), date]), ".part[1]"],
      [z.tuple([z.string()]).rest(date), ".part[]"],
      [z.record(z.string(), date), ".part.*"],
      [z.object({}).catchall(date), ".part.*"],
      [z.union([z.string(), z.object({ "a b": date })]), '.part["a b"]'],
      [z.intersection(z.object({}), z.object({ a: date })), ".part.a"],
      [z.lazy(() => z.object({ a: date.default(new Date()) })), ".part.a"],
      [date.transform(String), ".part"],
    ];
    for (const [part, place] of places) {
      expect(() => toTool(z.object({ part }))).toThrow(`Tool "x": inputSchema${place}: `);
    }
  });
});
