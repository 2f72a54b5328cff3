// The flags of `tandem tools call`: made from a schema, read from a command line, told in a help text.
import { describeTool } from "@tandem/cli/tools-file/describe-flags";
import { readFlags } from "@tandem/cli/tools-file/read-flags";
import { type Flag, listFlagless, toFlags, toKebab } from "@tandem/cli/tools-file/schema-flags";
import { tool } from "@tandem/sdk";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { z as zodThree } from "zod3/v3";

const object = (properties: Record<string, object>, rest: object = {}) => ({
  type: "object",
  properties,
  ...rest,
});
const flag = (schema: object, name = "x"): Flag | undefined =>
  toFlags(object({ [name]: schema })).find(({ property }) => property === name);
const read = (words: string[], properties: Record<string, object>) =>
  readFlags(words, toFlags(object(properties))).args;

describe("flags of a schema", () => {
  it.each([
    ["orderId", "order-id"],
    ["order_id", "order-id"],
    ["HTTPServerURL", "http-server-url"],
    ["already-kebab", "already-kebab"],
    ["v2Beta", "v2-beta"],
    ["größeCm", "größe-cm"],
  ])("call %s --%s", (property, name) => {
    expect(toKebab(property)).toBe(name);
  });

  it("keep both properties apart that would have one name", () => {
    expect(toFlags(object({ orderId: {}, order_id: {}, other: {} })).map(({ name }) => name)).toEqual([
      "orderId",
      "order_id",
      "other",
    ]);
  });

  it.each([
    [{ type: "string" }, { kind: "text", isList: false }],
    [{ type: "integer" }, { kind: "integer" }],
    [{ type: ["number", "null"] }, { kind: "number", isNullable: true }],
    [{ anyOf: [{ type: "boolean" }, { type: "null" }] }, { kind: "boolean", isNullable: true }],
    [{ enum: ["a", "b", null] }, { kind: "text", choices: ["a", "b"] }],
    [{ const: 3 }, { kind: "json", choices: [3] }],
    [
      { type: "array", items: { type: "integer" } },
      { kind: "integer", isList: true },
    ],
    [
      { type: "array", items: { enum: ["s"] } },
      { kind: "text", isList: true, choices: ["s"] },
    ],
    [{ type: "array" }, { kind: "json", isList: true }],
    [{ type: "object" }, { kind: "json", isList: false }],
    [{ type: ["string", "number"] }, { kind: "json" }],
    [{}, { kind: "json" }],
  ])("take %j as %j", (schema, expected) => {
    expect(flag(schema)).toMatchObject(expected);
  });

  it("follow references, and what a schema is combined from", () => {
    const flags = toFlags({
      allOf: [{ $ref: "#/$defs/base" }],
      anyOf: [object({ b: { $ref: "#/$defs/size" } }, { required: ["b"] })],
      $defs: { base: object({ a: { type: "string" } }, { required: ["a"] }), size: { enum: ["s", "m"] } },
    });
    expect(flags).toMatchObject([
      { name: "a", kind: "text", isRequired: true },
      { name: "b", choices: ["s", "m"], isRequired: false },
    ]);
  });

  it("survive a schema that refers to itself", () => {
    const schema = {
      ...object({ next: { $ref: "#" }, lost: { $ref: "#/$defs/none" } }),
      anyOf: [{ $ref: "#" }],
    };
    expect(toFlags(schema).map(({ kind }) => kind)).toEqual(["json", "json"]);
    expect(toFlags({ $ref: "#" })).toEqual([]);
  });

  it("leave the flags that every tool has to themselves", () => {
    expect(toFlags(object({ json: {}, help: {}, jsonFile: {} }))).toEqual([]);
  });

  it("tell which properties have none, since only JSON can give those", () => {
    const schema = object({ a: {}, help: {}, "": {}, "😀": {}, "x=y": {} }, { required: ["help"] });
    expect(listFlagless(schema)).toEqual([
      { property: "help", isRequired: true },
      ...["", "😀", "x=y"].map((property) => ({ property, isRequired: false })),
    ]);
    const help = tool({ name: "one", description: "One.", inputSchema: schema, fn: () => null });
    expect(describeTool("t.ts", help)).toContain(
      'By --json or --json-file alone: "help" (required), "", "😀", "x=y"',
    );
  });

  it("are the same for Zod 4, Zod 3 and JSON Schema", () => {
    const four = tool({
      name: "four",
      description: "x",
      inputSchema: z.object({ orderId: z.string(), tags: z.array(z.string()).optional() }),
      fn: () => null,
    });
    const three = tool({
      name: "three",
      description: "x",
      inputSchema: zodThree.object({
        orderId: zodThree.string(),
        tags: zodThree.array(zodThree.string()).optional(),
      }),
      fn: () => null,
    });
    const tags = { type: "array", items: { type: "string" } };
    const plain = toFlags(object({ orderId: { type: "string" }, tags }, { required: ["orderId"] }));
    expect(toFlags(four.inputSchema)).toEqual(plain);
    expect(toFlags(three.inputSchema)).toEqual(plain);
  });
});

describe("a command line", () => {
  it("gives values after a space or an equals sign, in kebab-case or by the property's own name", () => {
    const properties = { orderId: { type: "string" }, note: { type: "string" } };
    expect(read(["--order-id", "A 1", "--note=a=b"], properties)).toEqual({ orderId: "A 1", note: "a=b" });
    expect(read(["--orderId=A"], properties)).toEqual({ orderId: "A" });
  });

  it("gives values that begin with a dash", () => {
    expect(read(["--n", "-5", "--s", "--x"], { n: { type: "integer" }, s: { type: "string" } })).toEqual({
      n: -5,
      s: "--x",
    });
  });

  it("turns booleans on and off", () => {
    const properties = { dryRun: { type: "boolean" }, noCache: { type: "boolean" } };
    expect(read(["--dry-run", "--no-cache"], properties)).toEqual({ dryRun: true, noCache: true });
    expect(read(["--no-dry-run", "--no-no-cache"], properties)).toEqual({ dryRun: false, noCache: false });
    expect(read(["--dry-run=false"], properties)).toEqual({ dryRun: false });
  });

  it("repeats lists, or gives one as JSON", () => {
    const properties = {
      tags: { type: "array", items: { type: "string" } },
      ns: { type: "array", items: { type: "number" } },
    };
    expect(read(["--tags", "a", "--ns", "1", "--tags", "b", "--ns=2.5"], properties)).toEqual({
      tags: ["a", "b"],
      ns: [1, 2.5],
    });
    expect(read(["--tags", "[]", "--ns", "[1, 2]"], properties)).toEqual({ tags: [], ns: [1, 2] });
  });

  it("gives objects and values of several types as JSON, and text where it is none", () => {
    const properties = { place: { type: "object" }, any: {}, size: { enum: [1, "1", true] } };
    expect(read(["--place", '{"a":[1]}', "--any", "plain", "--size", "1"], properties)).toEqual({
      place: { a: [1] },
      any: "plain",
      size: 1,
    });
  });

  it("gives null where a value may be that, and keeps it as text where text is asked for", () => {
    const properties = { n: { type: ["integer", "null"] }, s: { type: ["string", "null"] } };
    expect(read(["--n", "null", "--s", "null"], properties)).toEqual({ n: null, s: "null" });
  });

  it("takes true and false after a boolean, and leaves other words alone", () => {
    const properties = { on: { type: "boolean" }, n: { type: "integer" } };
    expect(read(["--on", "false", "--n", "1"], properties)).toEqual({ on: false, n: 1 });
    expect(read(["--on", "true"], properties)).toEqual({ on: true });
    expect(() => read(["--on", "yes"], properties)).toThrow('"yes" is no flag');
  });

  it("gives lists of lists one by one, or all at once", () => {
    const properties = { rows: { type: "array", items: { type: "array", items: { type: "number" } } } };
    expect(read(["--rows", "[1,2]", "--rows", "[3]"], properties)).toEqual({ rows: [[1, 2], [3]] });
    expect(read(["--rows", "[[1,2],[3]]"], properties)).toEqual({ rows: [[1, 2], [3]] });
  });

  it("sets a property of any name as one of its own", () => {
    const args = read(["--__proto__", "x"], JSON.parse('{"__proto__": {"type": "string"}}'));
    expect(Object.keys(args)).toEqual(["__proto__"]);
  });

  it.each([
    [["--n", "1.5"], "a whole number"],
    [["--n", "12abc"], "a whole number"],
    [["--n", ""], "a whole number"],
    [["--size", "l"], "one of s, m"],
    [["--on=maybe"], "true or false"],
    [["--nope", "1"], "There are: --n, --size, --on"],
    [["--no-n"], "no flag --no-n"],
    [["--n"], "needs a value"],
    [["--n", "9007199254740993"], "at most 9007199254740991"],
    [["word"], '"word" is no flag'],
  ])("is refused for %j", (words, reason) => {
    const properties = { n: { type: "integer" }, size: { enum: ["s", "m"] }, on: { type: "boolean" } };
    expect(() => read(words, properties)).toThrow(reason);
  });
});

describe("a tool's help", () => {
  it("lists its flags with what they mean, and which are required", () => {
    const text = describeTool(
      "tools.ts",
      tool({
        name: "send",
        description: "Sends it. \u001b[31m",
        inputSchema: object(
          {
            to: { type: "array", items: { type: "string" }, description: "Who gets it." },
            urgent: { type: "boolean" },
            size: { enum: ["s", "m"], default: "s" },
          },
          { required: ["to"] },
        ),
        examples: [{ to: ["it's"] }],
        fn: () => null,
      }),
    );
    expect(text).toContain("Usage: tandem tools call tools.ts send --to <text>... [flags]");
    expect(text).toMatch(/--to <text>\.\.\. +Who gets it\. \(required, may be repeated\)/);
    expect(text).toMatch(/--urgent, --no-urgent/);
    expect(text).toMatch(/--size <s\|m> +\(default: "s"\)/);
    expect(text).toContain(`--json '{"to":["it'\\''s"]}'`);
    expect(text).not.toContain("\u001b");
  });
});
