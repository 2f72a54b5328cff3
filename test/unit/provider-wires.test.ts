// What the packages of the providers make of our prompts and offers: the bodies that would leave, read by a `fetch` that
// answers with an error.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV3 } from "@ai-sdk/provider";
import {
  errorEvent,
  messageEvent,
  type NewEvent,
  policyEvent,
  toolResult,
} from "@tandem/engine/domain/events";
import type { JsonObject, JsonValue } from "@tandem/engine/domain/json";
import { buildPrompt } from "@tandem/worker/agent/build-prompt";
import { offerTools } from "@tandem/worker/agent/offer-tools";
import { describe, expect, it } from "vitest";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";
const DATA_URI = `data:image/png;base64,${PNG}`;
const URL_OF_IMAGE = "https://images.example/radar.png";

const models: Record<string, (fetch: typeof globalThis.fetch) => LanguageModelV3> = {
  "openai/gpt-5": (fetch) => createOpenAI({ apiKey: "k", baseURL: "https://x.test", fetch })("gpt-5"),
  "anthropic/claude-sonnet-4-5": (fetch) =>
    createAnthropic({ apiKey: "k", baseURL: "https://x.test", fetch })("claude-sonnet-4-5"),
  "google/gemini-2.5-pro": (fetch) => createGoogleGenerativeAI({ apiKey: "k", fetch })("gemini-2.5-pro"),
  "google/gemini-3-pro-preview": (fetch) =>
    createGoogleGenerativeAI({ apiKey: "k", fetch })("gemini-3-pro-preview"),
  "compatible/fake": (fetch) =>
    createOpenAICompatible({ name: "compatible", baseURL: "https://x.test", fetch })("fake"),
};

const tools = [
  {
    name: "look",
    description: "Looks.",
    input_schema: {
      type: "object",
      properties: { at: { type: "string" } },
      required: ["at"],
      additionalProperties: false,
    },
    strict: true,
    examples: [{ at: "the sky" }],
  },
];

/** The body of the request that asks `model`, and its text. */
async function ask(model: string, events: NewEvent[], more: object = {}) {
  const bodies: string[] = [];
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    bodies.push(String(init?.body));
    return new Response('{"error":{"message":"No."}}', { status: 400 });
  };
  const agent = { name: "x", description: "x", environments: [], model, ...more };
  const stored = events.map((event, index) => ({ index, internal: null, ...event }));
  const prompt = buildPrompt({ agent, events: stored, lastStep: null });
  const offer = offerTools({ agent, tools, mustAnswer: false, isFirst: true });
  await Promise.resolve(models[model]?.(fetch).doGenerate({ prompt, ...offer })).catch(() => undefined);
  if (bodies[0] === undefined) throw new Error(`Nothing was sent to ${model}`);
  return { text: bodies[0], body: JSON.parse(bodies[0]) };
}

const user = messageEvent({ type: "user_message", message: "Look.", images: [], caller_id: "user" });
const looks = ["call_a", "call_b"].map((id) => ({ tool_name: "look", args: { at: id }, id }));
const turn = policyEvent(
  { content: null, reasoning_content: null, tool_reqs: looks, validation_errors: [] },
  {
    content: looks.map(({ id, args }) => ({
      type: "tool-call",
      call_id: id,
      toolCallId: id,
      toolName: "look",
      input: args,
    })),
  },
);
const result = (place: number, value: JsonValue) =>
  toolResult({
    tool_req: looks[place] as (typeof looks)[number],
    result: value,
    truncated: false,
    output_artifact_path: null,
  });
const history = (first: JsonValue, internal?: JsonObject) => [
  user,
  turn,
  { ...result(0, first), ...(internal ? { internal } : {}) },
  result(1, "Nothing there."),
];
const withImages = history({
  text: "A storm.",
  images: [DATA_URI, URL_OF_IMAGE],
  details: { secret: "s3cret" },
});

describe("images of a result reach", () => {
  it("OpenAI inside the result", async () => {
    const { body } = await ask("openai/gpt-5", withImages);
    const outputs = body.input.filter(({ type }: { type: string }) => type === "function_call_output");
    expect(outputs).toMatchObject([
      {
        call_id: "call_a",
        output: [
          { type: "input_text", text: "A storm." },
          { type: "input_image", image_url: DATA_URI },
          { type: "input_image", image_url: URL_OF_IMAGE },
        ],
      },
      { call_id: "call_b", output: "Nothing there." },
    ]);
  });

  it("Anthropic inside the result", async () => {
    const { body } = await ask("anthropic/claude-sonnet-4-5", withImages);
    expect(body.messages.at(-1)).toMatchObject({
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "call_a",
          content: [
            { type: "text", text: "A storm." },
            { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
            { type: "image", source: { type: "url", url: URL_OF_IMAGE } },
          ],
        },
        { type: "tool_result", tool_use_id: "call_b", content: "Nothing there." },
      ],
    });
  });

  it.each(["google/gemini-2.5-pro", "google/gemini-3-pro-preview"])(
    "Google (%s) behind all results",
    async (model) => {
      const { body } = await ask(model, withImages);
      const [results, shown] = body.contents.slice(-2);
      expect(results.parts).toMatchObject([
        { functionResponse: { name: "look", response: { content: "A storm." } } },
        { functionResponse: { name: "look", response: { content: "Nothing there." } } },
      ]);
      expect(shown).toMatchObject({
        role: "user",
        parts: [
          { text: expect.stringContaining("call_a") },
          { inlineData: { mimeType: "image/png", data: PNG } },
          { fileData: { fileUri: URL_OF_IMAGE } },
        ],
      });
    },
  );

  it("a compatible server behind all results", async () => {
    const { body } = await ask("compatible/fake", withImages);
    expect(body.messages.slice(-3)).toMatchObject([
      { role: "tool", tool_call_id: "call_a", content: "A storm." },
      { role: "tool", tool_call_id: "call_b", content: "Nothing there." },
      {
        role: "user",
        content: [
          { type: "text", text: expect.stringContaining("call_a") },
          { type: "image_url", image_url: { url: DATA_URI } },
          { type: "image_url", image_url: { url: URL_OF_IMAGE } },
        ],
      },
    ]);
  });
});

describe.each(Object.keys(models))("%s", (model) => {
  it("never sees details", async () => {
    expect((await ask(model, withImages)).text).not.toContain("s3cret");
  });

  it("is told an image that is none in words", async () => {
    const images = ["http://images.example/x.png", "data:image/svg+xml;base64,PHN2Zz4=", 5];
    const { text } = await ask(model, history({ text: "A storm.", images }));
    expect(text.match(/is not shown/g)).toHaveLength(3);
    expect(text).toContain("A storm.");
    expect(text).not.toContain("PHN2Zz4=");
  });

  it("is told an error as one, with its images apart", async () => {
    const { text, body } = await ask(model, history({ error: "Too dark", images: [DATA_URI] }));
    expect(text).toContain("Error: Too dark");
    expect(text).toContain(PNG);
    if (model.startsWith("anthropic")) {
      expect(body.messages.at(-1).content[0]).toMatchObject({ is_error: true, content: "Error: Too dark" });
    }
  });

  it("is told what the limit of the tool leaves of a result", async () => {
    const { text } = await ask(model, history("x".repeat(1_000), { max_result_tokens: 10 }));
    expect(text).toContain(`${"x".repeat(40)}\\n[… 960 characters of 1,000 were left out]`);
    expect(text).not.toContain("x".repeat(41));
  });

  it("is told what the limit of the tool leaves of an error", async () => {
    const failed = errorEvent("x".repeat(1_000), "client", looks[0]);
    const events = [user, turn, { ...failed, internal: { max_result_tokens: 10 } }, result(1, "Nothing.")];
    const { text } = await ask(model, events);
    expect(text).toContain(`Error: ${"x".repeat(40)}\\n[… 960 characters of 1,000 were left out]`);
  });

  it("is told a system prompt byte for byte, and none when it is empty", async () => {
    const prompt = "  Be  terse. \n\t";
    const { text } = await ask(model, [user], { system_prompt: prompt, instructions: "Be kind." });
    expect(text).toContain(JSON.stringify(prompt));
    expect(text).not.toContain("Be kind.");
    const { body } = await ask(model, [user], { system_prompt: "", instructions: "Be kind." });
    expect([body.system, body.systemInstruction]).toEqual([undefined, undefined]);
    expect(JSON.stringify(body.messages ?? body.input ?? [])).not.toMatch(/"(system|developer)"/);
  });

  it("is told examples of arguments with the description", async () => {
    const { text } = await ask(model, [user]);
    expect(text).toContain(JSON.stringify('Looks.\n\nExample of arguments:\n{"at":"the sky"}').slice(1, -1));
  });
});

describe("a tool's choice is told as each wire has it", () => {
  it.each([
    ["openai/gpt-5", "tool_choice", "required", { type: "function", name: "look" }],
    ["anthropic/claude-sonnet-4-5", "tool_choice", { type: "any" }, { type: "tool", name: "look" }],
    ["compatible/fake", "tool_choice", "required", { type: "function", function: { name: "look" } }],
    [
      "google/gemini-2.5-pro",
      "toolConfig",
      { functionCallingConfig: { mode: "ANY" } },
      { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["look"] } },
    ],
  ])("%s", async (model, field, required, named) => {
    expect((await ask(model, [user], { tool_choice: "required" })).body[field]).toEqual(required);
    expect((await ask(model, [user], { tool_choice: "look" })).body[field]).toEqual(named);
  });
});

describe("strict is asked", () => {
  it.each([
    ["openai/gpt-5", true],
    ["anthropic/claude-sonnet-4-5", true],
    ["google/gemini-2.5-pro", false],
    ["compatible/fake", false],
  ])("of %s: %s", async (model, isStrict) => {
    const { text } = await ask(model, [user]);
    expect(text.includes('"strict":true')).toBe(isStrict);
  });
});

describe("the room for images of a request", () => {
  const big = (letter: string) => `${PNG.slice(0, 12)}${letter.repeat(6_000_000)}`;
  const message = (letter: string) =>
    messageEvent({
      type: "user_message",
      message: letter,
      images: [`data:image/png;base64,${big(letter)}`],
      caller_id: "user",
    });

  it("goes to the newest, of messages and results alike; older ones become a note", async () => {
    const events = [
      message("a"),
      ...history({ images: [`data:image/png;base64,${big("b")}`] }),
      message("c"),
    ];
    const { text } = await ask("compatible/fake", events);
    expect([text.includes(big("a")), text.includes(big("b")), text.includes(big("c"))]).toEqual([
      false,
      true,
      true,
    ]);
    expect(text.match(/An image was left out/g)).toHaveLength(1);
    expect(text.length).toBeLessThan(15_100_000);
  });

  it("is not taken by what is no image", async () => {
    const junk = ["x".repeat(9_000_000), { of: 1 }, ...Array.from({ length: 120 }, () => "junk")];
    const { text } = await ask("compatible/fake", [message("a"), ...history({ images: junk })]);
    expect(text).toContain(big("a"));
    expect(text).not.toContain("An image was left out");
  });
});
