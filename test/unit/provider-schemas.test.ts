// What each provider is told about the tools that people write.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { isJsonObject, type JsonObject, type JsonValue, toCanonicalJson } from "@tandem/engine/domain/json";
import { findValueFaults } from "@tandem/engine/domain/json-schema";
import { lowerForProvider } from "@tandem/engine/domain/lower-for-provider";
import { createLoweringNotes } from "@tandem/engine/domain/lowering-notes";
import type { Provider } from "@tandem/engine/domain/models";
import { toModernDialect } from "@tandem/engine/domain/modern-dialect";
import { findToolFaults } from "@tandem/engine/domain/tools";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { toolSchemas } from "../support/tool-schemas/index.ts";
import { objectOf, only } from "../support/tool-schemas/tool-schema.ts";

const providers: Provider[] = ["openai", "anthropic", "google", "compatible", "demo"];
const meta = new Ajv2020({ strict: false });

describe("the schemas of real tools", () => {
  it("are sixty at least, with names of their own", () => {
    expect(toolSchemas.length).toBeGreaterThanOrEqual(60);
    expect(new Set(toolSchemas.map(({ name }) => name)).size).toBe(toolSchemas.length);
  });

  it("are all taken at create time", () => {
    const tools = toolSchemas.map(({ name, schema }) => ({ name, description: "d", input_schema: schema }));
    expect(findToolFaults(tools, ["tools"])).toEqual([]);
  });

  it.each(providers)("are lowered for %s, and what fits them still fits", (provider) => {
    for (const { name, schema, args } of toolSchemas) {
      const lowered = lowerForProvider(schema, provider);
      expect([name, lowered.refused, lowered.changes.join()]).toEqual([
        name,
        null,
        expect.not.stringContaining("cannot be told"),
      ]);
      for (const one of args) {
        expect([name, findValueFaults(schema, one)]).toEqual([name, []]);
        // The demo model reads schemas as they are, old ones too.
        if (provider === "demo" && schema.$schema) continue;
        expect([name, findValueFaults(lowered.schema, one)]).toEqual([name, []]);
      }
    }
  });

  it.each(providers)("are valid in draft 2020-12 as %s gets them", (provider) => {
    for (const { name, schema } of toolSchemas) {
      const lowered = lowerForProvider(schema, provider).schema;
      if (provider !== "demo") expect([name, meta.validateSchema(lowered)]).toEqual([name, true]);
      expect(lowered).toMatchObject({ type: "object", properties: expect.any(Object) });
    }
  });
});

/** The tools of a request as a provider's own library sends them. */
async function send(provider: "google" | "anthropic", schema: JsonObject): Promise<JsonObject> {
  let sent = "{}";
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    sent = String(init?.body);
    return new Response("{}", { status: 400 });
  };
  const model =
    provider === "google"
      ? createGoogleGenerativeAI({ apiKey: "k", fetch })("gemini-x")
      : createAnthropic({ apiKey: "k", fetch })("claude-x");
  const inputSchema = lowerForProvider(schema, provider).schema as object;
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Hi" }] }];
  const tools = [{ type: "function" as const, name: "t", description: "d", inputSchema }];
  await Promise.resolve(model.doGenerate({ prompt, tools })).catch(() => {});
  return JSON.parse(sent).tools[0];
}

/** Why Gemini would refuse a place of a schema. */
function findGeminiFaults(node: JsonValue | undefined, path: string): string[] {
  if (!isJsonObject(node)) return [`${path} is no schema`];
  const { type, anyOf, items, properties, required, format, ...rest } = node;
  const faults = Object.keys(rest).filter((key) => !["description", "enum", "nullable"].includes(key));
  if (anyOf !== undefined) {
    const beside = Object.keys(node).filter((key) => key !== "anyOf" && key !== "description");
    const branches = (anyOf as JsonValue[]).flatMap((branch, at) =>
      findGeminiFaults(branch, `${path}.${at}`),
    );
    return [...beside.map((key) => `${path} has ${key} beside anyOf`), ...branches];
  }
  const found = faults.map((key) => `${path} has ${key}`);
  if (typeof type !== "string") found.push(`${path} has no type`);
  if ((type === "array") !== (items !== undefined)) found.push(`${path} has items, or lacks them`);
  if (rest.enum !== undefined && type !== "string") found.push(`${path} has an enum`);
  if (((rest.enum ?? []) as JsonValue[]).some((value) => typeof value !== "string" || value === ""))
    found.push(`${path} has odd values`);
  const formats: Record<string, string[]> = {
    string: ["date-time"],
    number: ["float", "double"],
    integer: ["int32", "int64"],
  };
  if (format !== undefined && !formats[String(type)]?.includes(String(format)))
    found.push(`${path} has a format`);
  if (properties !== undefined && type !== "object") found.push(`${path} has properties`);
  const named = isJsonObject(properties) ? properties : {};
  if (((required ?? []) as string[]).some((name) => !Object.hasOwn(named, name)))
    found.push(`${path} requires`);
  const below = Object.entries(named).flatMap(([name, child]) => findGeminiFaults(child, `${path}.${name}`));
  return [...found, ...below, ...(items === undefined ? [] : findGeminiFaults(items, `${path}.items`))];
}

describe("on the wire", () => {
  it("Gemini gets no schema that it refuses", async () => {
    for (const { name, schema } of toolSchemas) {
      const { functionDeclarations } = (await send("google", schema)) as {
        functionDeclarations: JsonObject[];
      };
      const { parameters, parametersJsonSchema } = functionDeclarations[0] ?? {};
      expect([name, parametersJsonSchema]).toEqual([name, undefined]);
      if (parameters !== undefined) expect([name, findGeminiFaults(parameters, "")]).toEqual([name, []]);
    }
  });

  it("Anthropic gets names of properties that it takes", async () => {
    for (const { name, schema } of toolSchemas) {
      const { input_schema } = (await send("anthropic", schema)) as { input_schema: JsonObject };
      const names = Object.keys(input_schema.properties ?? {});
      expect([name, names.filter((one) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(one))]).toEqual([name, []]);
    }
  });
});

describe("lowering for Google", () => {
  const lower = (schema: JsonValue) =>
    (lowerForProvider(objectOf({ a: schema }), "google").schema.properties as JsonObject).a;
  it.each<[string, JsonValue, JsonValue]>([
    [
      "tells numbers of an enum in words",
      { enum: [1, 2] },
      { type: "integer", description: "(one of: [1,2])" },
    ],
    ["keeps an enum of text", { const: "x" }, { type: "string", enum: ["x"] }],
    ["marks null", { anyOf: [{ type: "string" }, { type: "null" }] }, { type: ["string", "null"] }],
    [
      "tells a format that it does not know, and bounds",
      { type: "string", format: "uri", minLength: 2, description: "D" },
      { type: "string", description: 'D (minLength: 2; format: "uri")' },
    ],
    [
      "gives a list of two types as alternatives",
      { type: ["string", "integer"] },
      { anyOf: [{ type: "string" }, { type: "integer" }] },
    ],
    [
      "joins what must hold together",
      { allOf: [objectOf({ b: { type: "string" } }, "b"), objectOf({ b: { minLength: 1 }, c: true }, "d")] },
      {
        type: "object",
        properties: { b: { type: "string", description: "(minLength: 1)" }, c: expect.anything() as never },
        required: ["b"],
      },
    ],
    [
      "puts what holds beside alternatives into each",
      {
        type: "object",
        properties: { k: { type: "string" } },
        anyOf: [only({ x: { type: "number" } }, "x"), only({ y: { type: "number" } })],
      },
      {
        anyOf: [
          { type: "object", properties: { x: { type: "number" }, k: { type: "string" } }, required: ["x"] },
          { type: "object", properties: { y: { type: "number" }, k: { type: "string" } } },
        ],
      },
    ],
  ])("%s", (_, schema, lowered) => {
    expect(lower(schema)).toEqual(lowered);
  });

  it("ends where a tree goes on for ever", () => {
    const tree = objectOf({ name: { type: "string" }, left: { $ref: "#" }, right: { $ref: "#" } }, "name");
    const { schema, changes } = lowerForProvider(tree, "google");
    expect(JSON.stringify(schema).length).toBeLessThan(2_000);
    expect(changes.join()).toContain("refers to itself");
  });
});

describe("lowering for Anthropic", () => {
  it("leaves out an optional property whose name it refuses, and opens the object", () => {
    const { schema, changes, refused } = lowerForProvider(
      only({ a: {}, $top: { type: "integer" } }, "a"),
      "anthropic",
    );
    expect(schema).toEqual({ type: "object", properties: { a: {} }, required: ["a"] });
    expect(changes[0]).toContain("properties.$top");
    expect(refused).toBeNull();
  });

  it("keeps what refers to such a property", () => {
    const tool = objectOf({ "a b": { type: "string" }, c: { $ref: "#/properties/a b" } });
    expect(findValueFaults(lowerForProvider(tool, "anthropic").schema, { c: 5 })).toHaveLength(1);
  });

  it("is refused when the property is required, and says where", () => {
    const { refused } = lowerForProvider(objectOf({ "filter[x]": {} }, "filter[x]"), "anthropic");
    expect(refused).toMatchObject({
      path: ["properties", "filter[x]"],
      reason: expect.stringContaining("filter[x]"),
    });
  });
});

describe("the dialect", () => {
  const modern = (schema: JsonObject) => toModernDialect(schema, createLoweringNotes());
  it.each<[string, JsonObject, JsonObject]>([
    ["of tuples", { items: [{}], additionalItems: false }, { prefixItems: [{}], items: false }],
    ["of null", { type: "string", nullable: true }, { type: ["string", "null"] }],
    ["of booleans", { properties: { a: true, b: false } }, { properties: { a: {}, b: { not: {} } } }],
    ["of bare lists", { type: ["array", "null"] }, { type: ["array", "null"], items: {} }],
    [
      "of references into tuples",
      { properties: { a: { items: [{ type: "string" }] }, b: { $ref: "#/properties/a/items/0" } } },
      {
        properties: { a: { prefixItems: [{ type: "string" }] }, b: { $ref: "#/properties/a/prefixItems/0" } },
      },
    ],
  ])("%s is the modern one", (_, schema, expected) => {
    expect(modern(schema)).toEqual(expected);
  });

  it("of a modern schema stays", () => {
    const schema = only({
      nullable: { type: "string" },
      items: { type: "array", items: { type: "string" } },
    });
    expect(toCanonicalJson(modern(schema))).toBe(toCanonicalJson(schema));
  });
});
