// A reply that comes as a stream is the same reply, on every wire of a provider.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import type { LanguageModelV3, LanguageModelV3GenerateResult } from "@ai-sdk/provider";
import { stringifyJson } from "@tandem/engine/domain/json";
import { judgeModelError } from "@tandem/worker/agent/model-errors";
import { readReply } from "@tandem/worker/agent/read-reply";
import { createModel } from "@tandem/worker/models/create-model";
import { createDemoKeywordModel } from "@tandem/worker/models/demo-keyword/model";
import { fetchWithExactArguments } from "@tandem/worker/models/exact-arguments";
import { streamReply } from "@tandem/worker/models/stream-reply";
import { afterEach, describe, expect, it } from "vitest";
import { waitFor } from "../support/wait-for.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A reply both ways: the body as a whole, and the data of the events of its stream. */
interface Both {
  whole: string;
  events: string[];
}

type Serve = (response: ServerResponse, isStream: boolean) => void;

async function listen(serve: Serve): Promise<string> {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () =>
      serve(response, /"stream":true/.test(body) || (request.url ?? "").includes("streamGenerateContent")),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const frames = (events: string[]) => events.map((data) => `data: ${data}\n\n`).join("");
const sendEvents = (response: ServerResponse, events: string[]) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(frames(events));
};
const either =
  ({ whole, events }: Both): Serve =>
  (response, isStream) => {
    if (!isStream) return void response.writeHead(200, { "content-type": "application/json" }).end(whole);
    sendEvents(response, events);
    response.end();
  };

const providers: Record<string, (baseUrl: string) => LanguageModelV3> = {
  openai: (baseUrl) => createModel("openai/gpt-5", { openai: { apiKey: "key", baseUrl } }),
  anthropic: (baseUrl) =>
    createModel("anthropic/claude-sonnet-4-5", { anthropic: { apiKey: "key", baseUrl } }),
  google: (baseURL) =>
    createGoogleGenerativeAI({ apiKey: "key", baseURL, fetch: fetchWithExactArguments })("gemini-2.5-flash"),
  compatible: (baseUrl) => createModel("compatible/fake", { compatible: { apiKey: "key", baseUrl } }),
};

const SIGNATURE = "EqQBCkYIBRgCKkCq+/==";
const ARGS = '{"id":12345678901234567890,"__proto__":{"x":0.1234567890123456789012},"big":1e400,"n":1}';
const json = (value: unknown) => JSON.stringify(value);

/** Reasoning, text in two parts, and a call, with what each provider says beside them. */
const replies: Record<string, Both> = {
  compatible: (() => {
    const head = { id: "c1", created: 1, model: "fake" };
    const call = { index: 0, id: "call_1", type: "function", function: { name: "get", arguments: ARGS } };
    const message = {
      role: "assistant",
      reasoning_content: "Hm, so.",
      content: "One two",
      tool_calls: [call],
    };
    const usage = { prompt_tokens: 3, completion_tokens: 7, total_tokens: 10 };
    const chunk = (delta: object, finish: string | null = null) =>
      json({
        ...head,
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
    return {
      whole: json({
        ...{ ...head, object: "chat.completion", usage },
        choices: [{ index: 0, message, finish_reason: "tool_calls" }],
      }),
      events: [
        chunk({ role: "assistant", content: "" }),
        chunk({ reasoning_content: "Hm, " }),
        chunk({ reasoning_content: "so." }),
        chunk({ content: "One " }),
        chunk({ content: "two" }),
        chunk({ tool_calls: [{ ...call, function: { name: "get", arguments: ARGS.slice(0, 9) } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: ARGS.slice(9) } }] }),
        chunk({}, "tool_calls"),
        json({ ...head, object: "chat.completion.chunk", choices: [], usage }),
        "[DONE]",
      ],
    };
  })(),
  anthropic: (() => {
    const message = { type: "message", id: "m", model: "claude", role: "assistant" };
    const start = (index: number, block: string) =>
      `{"type":"content_block_start","index":${index},"content_block":${block}}`;
    const delta = (index: number, value: object) =>
      json({ type: "content_block_delta", index, delta: value });
    const stop = (index: number) => json({ type: "content_block_stop", index });
    const thinking = { type: "thinking", thinking: "Hm, so.", signature: SIGNATURE };
    const redacted = { type: "redacted_thinking", data: "c2VjcmV0" };
    const usage = { input_tokens: 3, output_tokens: 7 };
    return {
      whole:
        `{${json({ ...message, stop_reason: "tool_use", stop_sequence: null, usage }).slice(1, -1)},"content":[` +
        `${json(thinking)},${json(redacted)},{"type":"text","text":"One two"},` +
        `{"type":"tool_use","id":"toolu_1","name":"get","input":${ARGS}}]}`,
      events: [
        json({
          type: "message_start",
          message: {
            ...message,
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: { ...usage, output_tokens: 1 },
          },
        }),
        start(0, json({ type: "thinking", thinking: "", signature: "" })),
        delta(0, { type: "thinking_delta", thinking: "Hm, " }),
        delta(0, { type: "thinking_delta", thinking: "so." }),
        delta(0, { type: "signature_delta", signature: SIGNATURE }),
        stop(0),
        start(1, json(redacted)),
        stop(1),
        json({ type: "ping" }),
        start(2, json({ type: "text", text: "" })),
        delta(2, { type: "text_delta", text: "One " }),
        delta(2, { type: "text_delta", text: "two" }),
        stop(2),
        start(3, '{"type":"tool_use","id":"toolu_1","name":"get","input":{ }}'),
        delta(3, { type: "input_json_delta", partial_json: "" }),
        delta(3, { type: "input_json_delta", partial_json: ARGS.slice(0, 9) }),
        delta(3, { type: "input_json_delta", partial_json: ARGS.slice(9) }),
        stop(3),
        json({
          type: "message_delta",
          delta: { stop_reason: "tool_use", stop_sequence: null },
          usage: { output_tokens: 7 },
        }),
        json({ type: "message_stop" }),
      ],
    };
  })(),
  google: (() => {
    const usage = {
      promptTokenCount: 3,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 2,
      totalTokenCount: 10,
    };
    const chunk = (parts: string, finish?: string) =>
      `{"candidates":[{"content":{"role":"model","parts":[${parts}]},"index":0` +
      `${finish ? `,"finishReason":"${finish}"` : ""}}],"usageMetadata":${json(usage)},"responseId":"r"}`;
    const thought = (text: string) => json({ text, thought: true });
    const text = (value: string) => json({ text: value, thoughtSignature: SIGNATURE });
    const call = `{"functionCall":{"id":"f1","name":"get","args":${ARGS}},"thoughtSignature":"${SIGNATURE}"}`;
    return {
      whole: chunk([thought("Hm, so."), text("One two"), call].join(","), "STOP"),
      events: [
        chunk(thought("Hm, ")),
        chunk(thought("so.")),
        chunk(json({ text: "One " })),
        chunk(text("two")),
        chunk(call, "STOP"),
      ],
    };
  })(),
  openai: (() => {
    const usage = { input_tokens: 3, output_tokens: 7, output_tokens_details: { reasoning_tokens: 2 } };
    const reasoning = (encrypted: string | null, summary: string[]) => ({
      ...{ type: "reasoning", id: "rs_1", encrypted_content: encrypted },
      summary: summary.map((text) => ({ type: "summary_text", text })),
    });
    const message = (text: string) => ({
      ...{ type: "message", id: "msg_1", role: "assistant", status: "completed" },
      content: text === "" ? [] : [{ type: "output_text", text, annotations: [], logprobs: [] }],
    });
    const call = (text: string) => ({
      ...{ type: "function_call", id: "fc_1", call_id: "call_1", name: "get" },
      ...{ arguments: text, status: "completed" },
    });
    const output = [reasoning("c2VhbGVk", ["Hm, ", "so."]), message("One two"), call(ARGS)];
    const response = { id: "resp_1", object: "response", created_at: 1, model: "gpt-5", output, usage };
    const item = (type: string, output_index: number, value: object) =>
      json({ type: `response.output_item.${type}`, output_index, item: value });
    const summary = (type: string, summary_index: number, more: object = {}) =>
      json({
        type: `response.reasoning_summary_${type}`,
        item_id: "rs_1",
        output_index: 0,
        summary_index,
        ...more,
      });
    return {
      whole: json({ ...response, status: "completed" }),
      events: [
        json({ type: "response.created", response: { ...response, output: [], usage: null } }),
        item("added", 0, reasoning("YmVnaW4=", [])),
        summary("part.added", 0),
        summary("text.delta", 0, { delta: "Hm, " }),
        summary("part.done", 0),
        summary("part.added", 1),
        summary("text.delta", 1, { delta: "so." }),
        summary("part.done", 1),
        item("done", 0, reasoning("c2VhbGVk", ["Hm, ", "so."])),
        item("added", 1, message("")),
        ...["One ", "two"].map((delta) =>
          json({
            type: "response.output_text.delta",
            item_id: "msg_1",
            output_index: 1,
            content_index: 0,
            delta,
          }),
        ),
        item("done", 1, message("One two")),
        item("added", 2, call("")),
        ...[ARGS.slice(0, 9), ARGS.slice(9)].map((delta) =>
          json({ type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 2, delta }),
        ),
        item("done", 2, call(ARGS)),
        json({ type: "response.completed", response: { ...response, status: "completed" } }),
      ],
    };
  })(),
};

const request = { prompt: [{ role: "user" as const, content: [{ type: "text" as const, text: "Hi" }] }] };

async function stream(model: LanguageModelV3) {
  const deltas: string[] = [];
  const result = await streamReply(model, request, (delta) => deltas.push(delta));
  return { result, deltas };
}

/** What becomes of a reply, apart from ids that are made up on the way. */
const reading = (result: LanguageModelV3GenerateResult) => {
  const { calls, ...reply } = readReply(result, new Set());
  const text = stringifyJson(reply.internal).replaceAll(/"call_id":"[^"]*"/g, "");
  return {
    ...{ ...reply, internal: text, finish: result.finishReason },
    calls: calls.map(({ request: { args, tool_name }, fault }) => [tool_name, fault ?? stringifyJson(args)]),
  };
};

describe.each(Object.keys(providers))("a streamed reply of %s", (name) => {
  const both = replies[name] as Both;
  const open = async (serve: Serve) =>
    (providers[name] as (url: string) => LanguageModelV3)(await listen(serve));

  it("is the reply that comes as a whole: text, reasoning, calls to the last digit, and what goes back", async () => {
    const model = await open(either(both));
    const { result, deltas } = await stream(model);
    const whole = await model.doGenerate(request);
    expect(reading(result)).toEqual(reading(whole));
    expect(reading(result)).toMatchObject({ text: "One two", reasoning: "Hm, so.", calls: [["get", ARGS]] });
    expect(result.content.filter(({ type }) => type === "reasoning")).toEqual(
      whole.content.filter(({ type }) => type === "reasoning"),
    );
    expect(deltas).toEqual(["One ", "two"]);
    const { raw: _, ...usage } = result.usage;
    const { raw: __, ...wholeUsage } = whole.usage;
    expect(usage).toEqual(wholeUsage);
    expect(usage.inputTokens.total).toBe(3);
  });

  it("may break anywhere: it counts as a network that failed, and no part of it is taken", async () => {
    for (const isClean of [true, false]) {
      const model = await open((response) => {
        const events = both.events.slice(0, 6).filter((data) => !/STOP|\[DONE\]/.test(data));
        sendEvents(response, events.slice(0, name === "google" ? 3 : 6));
        if (isClean) response.end();
        else setImmediate(() => response.destroy());
      });
      const error = await stream(model).catch((fault: unknown) => fault);
      const judged = judgeModelError(error, { failures: 0, secrets: [] });
      expect([isClean, judged]).toMatchObject([isClean, { reason: "provider_unavailable" }]);
      expect(judged.retryInMs).toBeGreaterThan(0);
    }
  });

  it("is judged by its error when it ends with one", async () => {
    const errors: Record<string, (kind: string, message: string) => string> = {
      anthropic: (type, message) => json({ type: "error", error: { type, message } }),
      google: (kind, message) =>
        json({ error: { code: kind === "overloaded_error" ? 503 : 400, status: "X", message } }),
      openai: (code, message) =>
        json({ type: "error", sequence_number: 9, error: { type: code, code, message } }),
      compatible: (type, message) => json({ error: { message, type, code: null } }),
    };
    for (const [kind, reason] of [
      ["overloaded_error", "provider_unavailable"],
      ["invalid_request_error", "provider_refused"],
    ] as const) {
      const model = await open((response) => {
        const told = [...both.events.slice(0, 3), errors[name]?.(kind, "No more of that.") ?? ""];
        sendEvents(response, told);
        response.end();
      });
      const error = await stream(model).catch((fault: unknown) => fault);
      const judged = judgeModelError(error, { failures: 0, secrets: [] });
      expect([kind, judged]).toMatchObject([
        kind,
        { reason, error: expect.stringContaining("No more of that.") },
      ]);
    }
  });

  it("is refused as a whole reply is, before it begins", async () => {
    const body = json({ error: { message: "Bad key.", type: "x", code: 401, status: "UNAUTHENTICATED" } });
    const model = await open((response) => {
      response.writeHead(401, { "content-type": "application/json" }).end(body);
    });
    const tell = (error: unknown) => judgeModelError(error, { failures: 0, secrets: [] });
    const whole = await Promise.resolve(model.doGenerate(request)).catch(tell);
    expect(await stream(model).catch(tell)).toEqual(whole);
    expect(whole).toMatchObject({ reason: "provider_refused" });
  });

  it("ends at once when its signal aborts", async () => {
    const beginning = both.events.slice(0, both.events.findIndex((data) => data.includes("One ")) + 1);
    let closed = false;
    const model = await open((response) => {
      sendEvents(response, beginning);
      response.once("close", () => {
        closed = true;
      });
    });
    const controller = new AbortController();
    const abort = () => controller.abort(new Error("enough"));
    await expect(streamReply(model, { ...request, abortSignal: controller.signal }, abort)).rejects.toThrow();
    await waitFor(() => closed, { what: "the connection to be closed" });
  });

  it("is read whatever it is packed in", async () => {
    for (const [coding, pack] of [
      ["gzip", gzipSync],
      ["br", brotliCompressSync],
    ] as const) {
      const model = await open((response) => {
        response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": coding });
        response.end(pack(frames(both.events)));
      });
      expect((await stream(model)).deltas).toEqual(["One ", "two"]);
    }
  });

  it("is asked for as a whole where there is no stream", async () => {
    const refusal = json({
      error: {
        message: "Your organization must be verified to stream this model.",
        type: "x",
        code: 400,
        status: "X",
      },
    });
    const asked: boolean[] = [];
    const refusing = await open((response, isStream) => {
      asked.push(isStream);
      if (!isStream) return either(both)(response, false);
      response.writeHead(400, { "content-type": "application/json" }).end(refusal);
    });
    expect(reading((await stream(refusing)).result).text).toBe("One two");
    expect(asked).toEqual([true, false]);
    const deaf = await open((response) => either(both)(response, false));
    expect(reading((await stream(deaf)).result).text).toBe("One two");
  });
});

describe("a stream of a compatible server without a reason of its end", () => {
  const both = replies.compatible as Both;
  const open = async (events: string[]) =>
    createModel("compatible/fake", {
      compatible: {
        baseUrl: await listen((response) => {
          sendEvents(response, events);
          response.end();
        }),
      },
    });
  const without = both.events.map((data) =>
    data.replace('"finish_reason":"tool_calls"', '"finish_reason":null'),
  );

  it("is whole when it says that it has ended", async () => {
    const { result, deltas } = await stream(await open(without));
    expect(reading(result)).toMatchObject({
      ...{ text: "One two", calls: [["get", ARGS]] },
      finish: { unified: "tool-calls" },
    });
    expect([deltas, result.usage.inputTokens.total]).toEqual([["One ", "two"], 3]);
    const { result: spoken } = await stream(await open([...without.slice(0, 5), "[DONE]"]));
    expect(reading(spoken)).toMatchObject({ text: "One two", calls: [], finish: { unified: "stop" } });
  });

  it("has broken off when it does not, or when it has nothing at all", async () => {
    for (const events of [without.slice(0, -1), ["[DONE]"]]) {
      const error = await stream(await open(events)).catch((fault: unknown) => fault);
      const { reason, retryInMs } = judgeModelError(error, { failures: 0, secrets: [] });
      expect([reason, retryInMs]).toEqual(["provider_unavailable", expect.any(Number)]);
    }
  });
});

it("a demo model's reply is streamed word by word", async () => {
  const model = createDemoKeywordModel();
  const { result, deltas } = await stream(model);
  const whole = await model.doGenerate(request);
  expect(result.content).toEqual(whole.content);
  expect([result.usage, result.finishReason]).toEqual([whole.usage, whole.finishReason]);
  expect(deltas.length).toBeGreaterThan(3);
  expect(deltas.join("")).toBe(reading(whole).text);
});

describe("arguments that a stream gives as an object", () => {
  const call = (input: string) =>
    `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"get","args":${input}}}]},` +
    '"finishReason":"STOP"}]}';
  const ask = async (input: string) => {
    const url = await listen(either({ whole: call(input), events: [call(input)] }));
    const model = (providers.google as (url: string) => LanguageModelV3)(url);
    return [reading((await stream(model)).result).calls, reading(await model.doGenerate(request)).calls];
  };

  it.each([
    "{}",
    "null",
    '{"a":1,"a":2}',
    '{"a":01}',
    `{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`,
    '{"text":"\\"args\\":{ data: \\n\\n"}',
  ])("are read as those of a whole reply (%#)", async (input) => {
    const [streamed, whole] = await ask(input);
    expect(streamed).toEqual(whole);
  });

  it("are exact where Anthropic gives them as a call begins", async () => {
    const events = (replies.anthropic as Both).events
      .filter((data) => !data.includes("input_json_delta"))
      .map((data) => data.replace('"input":{ }', `"input":${ARGS}`));
    const url = await listen(either({ whole: "", events }));
    const model = (providers.anthropic as (url: string) => LanguageModelV3)(url);
    expect(reading((await stream(model)).result).calls).toEqual([["get", ARGS]]);
  });
});
