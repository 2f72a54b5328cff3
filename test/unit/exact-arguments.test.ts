import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import type { LanguageModelV3 } from "@ai-sdk/provider";
import { stringifyJson } from "@tandem/engine/domain/json";
import { readReply } from "@tandem/worker/agent/read-reply";
import { createModel } from "@tandem/worker/models/create-model";
import { fetchWithExactArguments } from "@tandem/worker/models/exact-arguments";
import { afterEach, describe, expect, it } from "vitest";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A provider that gives one answer to everything. */
async function serve(body: string, status = 200): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const args = '{"id":12345678901234567890,"__proto__":{"x":0.1234567890123456789012},"big":1e400,"n":1}';
const anthropic = (input: string) =>
  '{"type":"message","id":"m","model":"claude","role":"assistant","stop_reason":"tool_use","stop_sequence":null,' +
  `"content":[{"type":"text","text":"Hm."},{"type":"tool_use","id":"toolu_1","name":"get","input":${input}}],` +
  '"usage":{"input_tokens":1,"output_tokens":2}}';
const google = (input: string) =>
  `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"get","args":${input}}}]},` +
  '"finishReason":"STOP","avgLogprobs":-0.08514863618214925412345}]}';

const generate = async (model: LanguageModelV3) =>
  readReply(
    await model.doGenerate({ prompt: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] }),
    new Set(),
  );

const ask = async (model: LanguageModelV3) =>
  (await generate(model)).calls.map(({ request, fault }) => fault ?? stringifyJson(request.args));

const anthropicModel = async (body: string, status?: number) =>
  createModel("anthropic/claude-sonnet-4-5", {
    anthropic: { apiKey: "key", baseUrl: await serve(body, status) },
  });
const googleModel = async (body: string) =>
  createGoogleGenerativeAI({
    apiKey: "key",
    baseURL: await serve(body),
    fetch: fetchWithExactArguments,
  }).languageModel("gemini-2.5-flash");

describe("arguments that a provider sends as an object", () => {
  it("are read to the last digit, with every key, from Anthropic", async () => {
    expect(await ask(await anthropicModel(anthropic(args)))).toEqual([args]);
  });

  it("are read to the last digit, with every key, from Google", async () => {
    expect(await ask(await googleModel(google(args)))).toEqual([args]);
  });

  it("stay none when there are none", async () => {
    expect(await ask(await anthropicModel(anthropic("{}")))).toEqual(["{}"]);
    expect(await ask(await googleModel(google("null")))).toEqual(["{}"]);
  });

  it("are faulty when they are no object", async () => {
    expect(await ask(await anthropicModel(anthropic('"tandem-arguments-{}"')))).toEqual([
      expect.stringContaining("object"),
    ]);
  });

  describe.each([
    ["Anthropic", (input: string) => anthropicModel(anthropic(input))],
    ["Google", (input: string) => googleModel(google(input))],
  ])("from %s", (_name, answer) => {
    const read = async (input: string) => (await ask(await answer(input)))[0];

    it("are faulty when they repeat a key, which the fault names", async () => {
      expect(await read('{"city":"a","n":12345678901234567890,"city":"b"}')).toBe(
        'the key "city" is in one object twice',
      );
    });

    it.each([10_000, 100_000])("are faulty when they nest %i levels deep", async (levels) => {
      const lists = "[".repeat(levels) + "]".repeat(levels);
      const objects = '{"a":'.repeat(levels) + 1 + "}".repeat(levels);
      expect(await read(`{"a":${lists}}`)).toContain("nested deeper than");
      expect(await read(lists)).toContain("nested deeper than");
      expect(await read(objects)).toContain("nested deeper than");
    });

    it("are faulty when they are no JSON", async () => {
      expect(await read('{"a":01}')).toContain("not valid JSON");
    });

    it.each([
      "{}",
      '{"__proto__":{"__proto__":12345678901234567890}}',
      '{"text":"\\"input\\":{ \\"args\\":[ }} \\\\","n":12345678901234567890}',
      '{"type":"tool_use","input":{"functionCall":{"args":{"n":12345678901234567890}}}}',
    ])("are as they came: %s", async (input) => {
      expect(await read(input)).toBe(input);
    });
  });

  it("are found before the type, under an escaped key, and in each of several calls", async () => {
    const inOrder = '"type":"tool_use","id":"toolu_2","name":"get"';
    const body = anthropic(
      `{"n":1.10}},{"input" : {"n":2.20},${inOrder}},{${inOrder},"\\u0069nput":{"n":12345678901234567890}`,
    );
    expect(await ask(await anthropicModel(body))).toEqual([
      '{"n":1.1}',
      '{"n":2.2}',
      '{"n":12345678901234567890}',
    ]);
  });

  it("are not taken from a text that looks like a call", async () => {
    const looks = '{"type":"tool_use","input":{"a":1,"a":2}} "input":{ \\';
    const body = anthropic("{}").replace('"Hm."', () => JSON.stringify(looks));
    const reply = await generate(await anthropicModel(body));
    expect(reply.text).toBe(looks);
    expect(reply.calls).toHaveLength(1);
  });

  it("are read when a key is repeated elsewhere in the reply", async () => {
    const body = anthropic(args).replace('"id":"m"', '"id":"m","id":"m"');
    expect(await ask(await anthropicModel(body))).toEqual([args]);
  });

  it("leave a reply that is no JSON as it is", async () => {
    const body = anthropic(args).slice(0, -1);
    const response = await fetchWithExactArguments(await serve(body));
    expect(await response.text()).toBe(body);
  });

  it("leave a provider's errors as they are", async () => {
    const body = '{"type":"error","error":{"type":"overloaded_error","message":"busy 12345678901234567890"}}';
    await expect(ask(await anthropicModel(body, 529))).rejects.toThrow("busy 12345678901234567890");
  });
});
