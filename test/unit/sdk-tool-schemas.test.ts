// What a tool makes of its schema: what the server is told, and the check of a call's arguments.
import { tool } from "@tandem/sdk";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import * as mini from "zod/mini";
import { z as z3 } from "zod3";

const named = { name: "x", description: "d" };
const fn = () => null;

/** A Standard Schema of no library: an object with a number `n`, which it doubles. */
const standard = (more: object = {}) => ({
  "~standard": {
    version: 1 as const,
    vendor: "plain",
    validate: (value: unknown) => {
      const { n } = value as { n?: unknown };
      return typeof n === "number"
        ? { value: { n: n * 2 } }
        : { issues: [{ message: "expected a number", path: [{ key: "n" }] }] };
    },
    ...more,
  },
});

const numberSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };

describe("the JSON Schema of a tool", () => {
  it("is the one that is given, and none without one", () => {
    expect(tool({ ...named, inputSchema: numberSchema, fn }).inputSchema).toBe(numberSchema);
    expect(tool({ ...named, fn }).inputSchema).toBeUndefined();
  });

  it("is asked of a Standard Schema for draft 2020-12", () => {
    const asked: unknown[] = [];
    const jsonSchema = { input: (options: unknown) => asked.push(options) && numberSchema };
    expect(tool({ ...named, inputSchema: standard({ jsonSchema }), fn }).inputSchema).toEqual(numberSchema);
    expect(asked).toEqual([{ target: "draft-2020-12" }]);
  });

  it("is asked of a schema that is a function too", () => {
    const schema = Object.assign(() => null, standard({ jsonSchema: { input: () => numberSchema } }));
    expect(tool({ ...named, inputSchema: schema, fn }).inputSchema).toEqual(numberSchema);
  });

  it("comes from `toJsonSchema`, for what a call is made with", () => {
    const schema = mini.object({ n: mini._default(mini.number(), 1) });
    expect(() => tool({ ...named, inputSchema: schema, fn })).toThrow(
      'Tool "x": inputSchema: this zod schema gives no JSON Schema; pass `toJsonSchema`, for Zod 4 `toJsonSchema: z.toJSONSchema`',
    );
    const made = tool({ ...named, inputSchema: schema, toJsonSchema: mini.toJSONSchema, fn });
    expect(made.inputSchema).toMatchObject({ properties: { n: { type: "number", default: 1 } } });
    expect(made.inputSchema?.required).toBeUndefined();
  });

  it("from `toJsonSchema` tells the path of what it cannot say, and must be an object", () => {
    const schema = mini.object({ list: mini.array(mini.object({ due: mini.date() })) });
    expect(() => tool({ ...named, inputSchema: schema, toJsonSchema: mini.toJSONSchema, fn })).toThrow(
      /^Tool "x": inputSchema\.list\[\]\.due: /,
    );
    expect(() => tool({ ...named, inputSchema: standard(), toJsonSchema: () => "no" as never, fn })).toThrow(
      "must give a JSON Schema object",
    );
  });

  it.each<[string, object]>([
    ["JSON Schema", { type: "string" }],
    ["Zod 4", z.array(z.string())],
    ["Zod 3", z3.string()],
    ["a union of Zod 4", z.union([z.string(), z.object({})])],
  ])("must be an object at its top level: %s", (_, inputSchema) => {
    expect(() => tool({ ...named, inputSchema: inputSchema as { type: "x" }, fn })).toThrow(
      'Tool "x": inputSchema: the top level must be an object',
    );
  });

  it("may be a union of objects", () => {
    const union = z3.discriminatedUnion("a", [
      z3.object({ a: z3.literal(1) }),
      z3.object({ a: z3.literal(2) }),
    ]);
    expect(tool({ ...named, inputSchema: union, fn }).inputSchema).toHaveProperty("anyOf");
  });

  it("keeps properties that are named like keywords, and values that look like schemas", () => {
    const inputSchema = z.object({
      pattern: z.string(),
      format: z.string(),
      value: z.any().default({ format: "email", pattern: "(a+)+" }),
    });
    expect(tool({ ...named, inputSchema, fn }).inputSchema?.properties).toEqual({
      pattern: { type: "string" },
      format: { type: "string" },
      value: { default: { format: "email", pattern: "(a+)+" } },
    });
  });
});

describe("arguments", () => {
  it("of a plain JSON Schema pass as they are: the server has checked them", async () => {
    const args = { n: "one" };
    expect(await tool({ ...named, inputSchema: numberSchema, fn }).parse(args)).toEqual({
      ok: true,
      value: args,
    });
  });

  it.each<[string, object]>([
    ["Zod 4", z.object({ n: z.number().transform(async (n) => n * 2), unit: z.string().default("c") })],
    ["Zod 3", z3.object({ n: z3.number().transform(async (n) => n * 2), unit: z3.string().default("c") })],
    [
      "Zod 3 before Standard Schema",
      Object.defineProperty(
        z3.object({ n: z3.number().transform(async (n) => n * 2), unit: z3.string().default("c") }),
        "~standard",
        { value: undefined },
      ),
    ],
  ])("are checked and transformed by %s, async parts included", async (_, inputSchema) => {
    const { parse } = tool({ ...named, inputSchema: inputSchema as typeof numberSchema, fn });
    expect(await parse({ n: 2, more: true })).toEqual({ ok: true, value: { n: 4, unit: "c" } });
    expect(await parse({ n: "2" })).toEqual({
      ok: false,
      error: expect.stringMatching(/^args\.n: .*number/),
    });
  });

  it("are checked by any Standard Schema, with the places of its faults", async () => {
    const inputSchema = standard({ jsonSchema: { input: () => numberSchema } });
    const { parse } = tool({ ...named, inputSchema, fn });
    expect(await parse({ n: 2 })).toEqual({ ok: true, value: { n: 4 } });
    expect(await parse({})).toEqual({ ok: false, error: "args.n: expected a number" });
  });

  it("with many faults have the first told, with their places", async () => {
    const inputSchema = z.object({ list: z.array(z.object({ "a b": z.number("no number") })) });
    const { parse } = tool({ ...named, inputSchema, fn });
    expect(await parse({ list: [{ "a b": 1 }, { "a b": "x" }] })).toEqual({
      ok: false,
      error: 'args.list[1]["a b"]: no number',
    });
    const many = await parse({ list: Array(10).fill({}) });
    expect(many).toMatchObject({ error: expect.stringMatching(/args\.list\[7\].*; and 2 more$/) });
  });

  it("that make the schema throw do not fit", async () => {
    const inputSchema = z.object({
      n: z.number().transform(() => {
        throw new Error("Out of order");
      }),
    });
    expect(await tool({ ...named, inputSchema, fn }).parse({ n: 1 })).toEqual({
      ok: false,
      error: "args: Out of order",
    });
  });
});
