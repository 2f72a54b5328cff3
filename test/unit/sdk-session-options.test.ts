// What a program gives to `tool` and `runSession`, and what the server gets of it.
import { type SessionOptions, TandemClient, tool } from "@tandem/sdk";
import { describe, expect, it } from "vitest";
import { fakeSessionId } from "../support/fake-tandem-server.ts";

const fn = () => null;
const ping = tool({ name: "ping", description: "Pings.", fn });
const answerSchema = { type: "object", properties: { total: { type: "number" } } };

/** The body that creates a session. */
async function bodyOf(options: SessionOptions): Promise<unknown> {
  let body: unknown;
  const fetch: typeof globalThis.fetch = async (input) => {
    body = await new Request(input).json();
    return Response.json({ id: fakeSessionId });
  };
  await new TandemClient({ apiKey: "key", fetch }).startSession(options);
  return body;
}

describe("a tool", () => {
  it.each(["", "9lives", "get order", "get.order", "é", "x".repeat(65)])("cannot be named %j", (name) => {
    expect(() => tool({ name, description: "d", fn })).toThrow(
      `Tool ${JSON.stringify(name)}: a name has letters, digits, _ and -`,
    );
  });

  it.each(["_", "get_order-2", "x".repeat(64)])("can be named %j", (name) => {
    expect(tool({ name, description: "d", fn }).name).toBe(name);
  });

  it("needs a description, a function, and a schema that is an object", () => {
    expect(() => tool({ name: "ping", description: "", fn })).toThrow("a description is needed");
    expect(() => tool({ name: "ping", description: "d", fn: 1 as never })).toThrow("fn must be a function");
    expect(() => tool({ name: "ping", description: "d", inputSchema: [] as never, fn })).toThrow(
      "inputSchema",
    );
  });

  it("has the arguments that it is typed with", async () => {
    const add = tool<{ a: number; b: number }>({
      name: "add",
      description: "Adds.",
      fn: ({ a, b }) => a + b,
    });
    const context = {
      sessionId: "s",
      callId: "c",
      idempotencyKey: "s/c",
      signal: new AbortController().signal,
      progress: async () => {},
      context: undefined,
    };
    expect(add.fn({ a: 1, b: 2 }, context)).toBe(3);
  });
});

describe("a session", () => {
  it("has only the fields that are given", async () => {
    expect(await bodyOf({ agent: "a", messages: undefined })).toEqual({ agent: "a" });
  });

  it("has its fields by their names on the wire", async () => {
    const body = await bodyOf({
      agent: "a",
      messages: ["One", { message: "Two" }],
      maxSteps: 1,
      maxTimeS: 2.5,
      idleTimeoutS: 3,
      deleteAfterMin: null,
      deleteScreenshotAfterMin: 5,
      queue: false,
      groupId: "g",
      parentSessionId: "p",
      overrides: { "agent.instructions": "Be brief." },
    });
    expect(body).toEqual({
      agent: "a",
      messages: [{ type: "user_message", message: "One" }, { message: "Two" }],
      max_steps: 1,
      max_time_s: 2.5,
      idle_timeout_s: 3,
      delete_after_min: null,
      delete_screenshot_after_min: 5,
      queue: false,
      group_id: "g",
      parent_session_id: "p",
      overrides: { "agent.instructions": "Be brief." },
    });
  });

  it("adds its tools to those of the agent, named or inline", async () => {
    const inputSchema = { type: "object" };
    const add = tool({ name: "add", description: "Adds.", inputSchema, fn });
    const overrides = {
      "agent.tools": [
        { name: "ping", description: "Pings." },
        { name: "add", description: "Adds.", input_schema: inputSchema },
      ],
    };
    expect(await bodyOf({ agent: "a", tools: [ping, add] })).toEqual({ agent: "a", overrides });
    expect(await bodyOf({ agent: { name: "b" }, tools: [ping, add] })).toEqual({
      agent: { name: "b" },
      overrides,
    });
  });

  it("gives its answer schema to the agent, with a title", async () => {
    const answer_format = { title: "Answer", ...answerSchema };
    expect(await bodyOf({ agent: "a", answerSchema })).toEqual({
      agent: "a",
      overrides: { "agent.answer_format": answer_format },
    });
    expect(await bodyOf({ agent: { name: "b" }, answerSchema })).toEqual({
      agent: { name: "b", answer_format },
    });
    expect(await bodyOf({ agent: { name: "b" }, answerSchema: { title: "Sum" } })).toEqual({
      agent: { name: "b", answer_format: { title: "Sum" } },
    });
  });

  it.each<[string, SessionOptions, string]>([
    ["two tools of one name", { agent: "a", tools: [ping, ping] }, 'Two tools are named "ping"'],
    [
      "tools given twice",
      { agent: "a", tools: [ping], overrides: { "agent.tools": [] } },
      'Give either `tools` or overrides["agent.tools"], not both',
    ],
    [
      "two answer schemas, by override",
      { agent: "a", answerSchema, overrides: { "agent.answer_format": {} } },
      'Give either `answerSchema` or overrides["agent.answer_format"], not both',
    ],
    [
      "two answer schemas, inline",
      { agent: { name: "b", answer_format: {} }, answerSchema },
      "Give either `answerSchema` or the agent's `answer_format`, not both",
    ],
  ])("is refused with %s", async (_, options, message) => {
    await expect(bodyOf(options)).rejects.toThrow(message);
  });
});
