import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { toolSchemas } from "../support/tool-schemas/index.ts";
import { objectOf, only } from "../support/tool-schemas/tool-schema.ts";
import { createWire, type Wire } from "../support/wire.ts";

let stack: TestStack;
let wire: Wire;

beforeAll(async () => {
  const env = { ANTHROPIC_API_KEY: "k", GOOGLE_GENERATIVE_AI_API_KEY: "k", OPENAI_API_KEY: "k" };
  stack = await startStack({ worker: false, env });
  wire = createWire(stack.baseUrl, apiKey);
});
afterAll(() => stack.close());

const tool = (name: string, input_schema?: object, rest: object = {}) => ({
  name,
  description: "d",
  ...(input_schema ? { input_schema } : {}),
  ...rest,
});
const oddName = objectOf({ "a b": { type: "string" } }, "a b");
const check = async (model: string | undefined, ...tools: unknown[]) =>
  wire.post("/tools/check", { model, tools });

describe("POST /tools/check", () => {
  it("accepts what a session takes, with the schema that the provider gets when it is another", async () => {
    const date = objectOf({ day: { type: "string", format: "date" } });
    const plain = only({ a: { type: "string" } }, "a");
    const { status, body } = await check(
      "google/gemini-x",
      tool("one", date),
      tool("two"),
      tool("three", plain),
    );
    expect(status).toBe(200);
    expect(body.items).toMatchObject([
      { name: "one", accepted: true, changes: [expect.stringContaining("properties.day.format")] },
      { name: "two", accepted: true },
      { name: "three", accepted: true },
    ]);
    expect(body.items[0].lowered.properties.day).toEqual({ type: "string", description: '(format: "date")' });
    expect((await check("anthropic/claude-x", tool("three", plain))).body.items).toEqual([
      { name: "three", accepted: true },
    ]);
  });

  it("says of each bad tool why and where, beside good ones", async () => {
    const { status, body } = await check(
      "anthropic/claude-x",
      ...[tool("good"), tool("1 bad"), { name: "nameless" }, tool("good"), { description: 5 }],
      ...[tool("odd", oddName), tool("remote", objectOf({ a: { $ref: "https://x.test/" } }))],
      tool("shown", only({ a: {} }, "a"), { examples: [{}] }),
    );
    expect(status).toBe(200);
    expect(body.items).toEqual([
      expect.objectContaining({ name: "good", accepted: true }),
      { name: "1 bad", accepted: false, reason: expect.stringContaining("letters"), path: ["name"] },
      {
        name: "nameless",
        accepted: false,
        reason: expect.stringContaining("required"),
        path: ["description"],
      },
      { name: "good", accepted: false, reason: expect.stringContaining("twice"), path: ["name"] },
      { name: null, accepted: false, reason: expect.any(String), path: expect.any(Array) },
      {
        name: "odd",
        accepted: false,
        reason: expect.stringMatching(/"odd".*"a b"/),
        path: ["input_schema", "properties", "a b"],
      },
      {
        name: "remote",
        accepted: false,
        reason: expect.stringContaining("local"),
        path: ["input_schema", "properties", "a", "$ref"],
      },
      { name: "shown", accepted: false, reason: expect.stringContaining("example"), path: ["examples", 0] },
    ]);
  });

  it("says whether the provider is asked to be strict, of tools that want it", async () => {
    const strict = { strict: true };
    const closed = only({ a: { type: "string" } }, "a");
    const tools = [tool("closed", closed, strict), tool("open", objectOf({}), strict), tool("other", closed)];
    const { body } = await check("openai/gpt-x", ...tools);
    expect(body.items).toEqual([
      { name: "closed", accepted: true, strict: true },
      {
        name: "open",
        accepted: true,
        strict: false,
        strict_reason: expect.stringContaining("additionalProperties"),
      },
      { name: "other", accepted: true },
    ]);
  });

  it("refuses every tool of a list that is too long for one request", async () => {
    const tools = Array.from({ length: 129 }, (_, index) => tool(`t${index}`));
    const { status, body } = await check("openai/gpt-x", ...tools);
    expect(status).toBe(200);
    expect(body.items[0]).toMatchObject({ accepted: false, reason: expect.stringContaining("128") });
  });

  it("takes the server's default model when none is named", async () => {
    expect((await check(undefined, tool("one"))).status).toBe(200);
  });

  it.each<[string, object, (string | number)[]]>([
    ["an unknown model", { model: "acme/x", tools: [] }, ["body", "model"]],
    ["a model that does not exist", { model: "demo/other", tools: [] }, ["body", "model"]],
    ["no list", { model: "demo/keyword" }, ["body", "tools"]],
    ["a tool that is no object", { model: "demo/keyword", tools: ["x"] }, ["body", "tools", 0]],
    [
      "too many tools",
      { model: "demo/keyword", tools: Array.from({ length: 257 }, () => ({})) },
      ["body", "tools"],
    ],
    [
      "schemas that are too long together",
      {
        model: "demo/keyword",
        tools: Array.from({ length: 5 }, (_, index) =>
          tool(`t${index}`, objectOf({ a: { description: "x".repeat(60_000) } })),
        ),
      },
      ["body", "tools"],
    ],
  ])("answers 422 for %s", async (_, body, loc) => {
    const reply = await wire.post("/tools/check", body);
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0].loc).toEqual(loc);
  });

  it("makes nothing", async () => {
    await check("demo/keyword", tool("one"));
    expect((await wire.get("/sessions")).body.total).toBe(0);
  });

  it("takes the tools of everybody for every provider", async () => {
    for (const model of ["openai/x", "anthropic/x", "google/x", "demo/keyword"]) {
      const { body } = await check(model, ...toolSchemas.map(({ name, schema }) => tool(name, schema)));
      expect(body.items.filter((item: { accepted: boolean }) => !item.accepted)).toEqual([]);
    }
  });

  it("leaves the process free to answer others while hostile schemas come one after another", async () => {
    const hostile = Array.from({ length: 15 }, (_, index) =>
      tool(
        `t${index}`,
        objectOf({ a: { type: "string", pattern: `^(a+${index})+$` }, b: { $ref: "#/properties/b" } }),
      ),
    );
    const checks = Array.from({ length: 4 }, () => check("demo/keyword", ...hostile));
    expect((await wire.get("/sessions")).status).toBe(200);
    for (const reply of await Promise.all(checks)) {
      expect(reply.body.items.every((item: { accepted: boolean }) => !item.accepted)).toBe(true);
    }
  });
});

describe("a tool that its model's provider cannot be offered", () => {
  const agent = (model: string | null) => ({
    name: "x",
    description: "d",
    model,
    tools: [tool("odd", oddName)],
  });
  const place = ["tools", 0, "input_schema", "properties", "a b"];

  it("is a 422 of a session, also where an override brings the tool or the model", async () => {
    const inline = await wire.post("/sessions", { agent: agent("anthropic/claude-x"), messages: "Hi" });
    expect(inline.status).toBe(422);
    expect(inline.body.detail[0]).toMatchObject({
      loc: ["body", "agent", ...place],
      msg: expect.stringContaining('"odd"'),
    });
    for (const overrides of [
      { "agent.model": "anthropic/claude-x" },
      { "agent.tools": [tool("odd", oddName)] },
    ]) {
      const base =
        "agent.tools" in overrides ? { name: "x", model: "anthropic/claude-x" } : agent("demo/keyword");
      const reply = await wire.post("/sessions", { agent: base, messages: "Hi", overrides });
      expect([reply.status, reply.body.detail[0].loc]).toEqual([422, ["body", "overrides", ...place]]);
    }
    expect((await wire.post("/sessions", { agent: agent("demo/keyword"), messages: "Hi" })).status).toBe(201);
  });

  it("is a 422 of a registered agent that names the model, and of none that does not", async () => {
    const made = await wire.post("/agents", agent(null));
    expect(made.status).toBe(201);
    const replies = [
      await wire.post("/agents", { ...agent("anthropic/claude-x"), name: "y" }),
      await wire.send("PUT", "/agents/x", { body: agent("anthropic/claude-x") }),
      await wire.send("PATCH", "/agents/x", { body: { model: "anthropic/claude-x" } }),
    ];
    for (const { status, body } of replies) {
      expect([status, body.detail[0].loc]).toEqual([422, ["body", ...place]]);
    }
    const session = await wire.post("/sessions", {
      agent: "x",
      messages: "Hi",
      overrides: { "agent.model": "anthropic/claude-x" },
    });
    expect(session.status).toBe(422);
  });
});
