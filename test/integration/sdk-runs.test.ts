// The SDK's runs on the real service: approvals, guardrails, streams, cancellation, and a line that is never good.
import { raise, TandemClient, tool } from "@tandem/sdk";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { lastToolResults, type ModelScript } from "../support/fake-model-server.ts";
import { type Fault, startFaultProxy } from "../support/fault-proxy.ts";
import { chooseSeed, seeded } from "../support/seeded.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";

/** Calls the tools that the message names, each with its place, and answers with what came back. */
const script: ModelScript = (request) => {
  const results = lastToolResults(request);
  if (results.length > 0) return { text: results.map((result) => result.content).join(" | ") };
  const names = String(request.body.messages.at(-1)?.content).split(" ");
  if (names[0] === "say") return { text: names.slice(1).join(" ") };
  return { toolCalls: names.map((name, n) => ({ name, arguments: { n } })) };
};

const agent = { name: "x" };
const look = tool({ name: "look", description: "Looks.", fn: ({ n }) => `seen ${n}` });

describe("a run on the real service", () => {
  let stack: TestStack;
  let client: TandemClient;

  beforeAll(async () => {
    stack = await startStack({ script });
    client = new TandemClient({ baseUrl: stack.baseUrl, apiKey });
  });
  afterAll(() => stack?.close());

  const pay = (fn: () => unknown = () => "paid") =>
    tool({ name: "pay", description: "Pays.", capability: "actuator", approval: "always", fn });

  it("asks its handler for approvals, and the model reads what came of it", async () => {
    const result = await client.runSession({
      agent,
      messages: "pay look pay",
      tools: [pay(), look],
      onPermissionRequest: ({ args }) => (args.n === 0 ? "allow" : { decision: "deny", message: "Enough." }),
      timeoutMs: 20_000,
    });
    expect(result.answer).toMatch(/^paid \| seen 1 \| .*Enough\./);
    expect(result.toolCalls).toMatchObject([
      { name: "pay", status: "succeeded", executedHere: true },
      { name: "look", status: "succeeded", executedHere: true },
      { name: "pay", status: "denied", executedHere: false },
    ]);
  });

  it("throws when nobody answers, and a later wait with a handler takes the session on", async () => {
    const session = await client.startSession({ agent, messages: "pay", tools: [pay()] });
    await expect(session.waitForCompletion({ timeoutMs: 20_000 })).rejects.toMatchObject({
      name: "PermissionRequiredError",
      calls: [{ tool_name: "pay" }],
    });
    const result = await session.waitForCompletion({ onPermissionRequest: () => "allow", timeoutMs: 20_000 });
    expect(result).toMatchObject({ status: "completed", answer: "paid" });
  });

  it("lists calls and tools, replaces tools, and gives tokens and links, by the session's handle", async () => {
    const session = await client.startSession({ agent, messages: "look", tools: [look], idleTimeoutS: 60 });
    expect((await session.waitForCompletion({ timeoutMs: 20_000 })).answer).toBe("seen 0");
    const find = tool({ name: "find", description: "Finds.", fn: () => "found" });
    const offered = { name: "find", source: "custom", offered: true };
    expect((await session.replaceTools([find])).items).toMatchObject([offered]);
    expect((await session.listTools()).items).toMatchObject([offered]);

    await session.sendMessage("find");
    expect((await session.waitForCompletion({ timeoutMs: 20_000 })).answer).toContain("found");
    const { items, total } = await session.listToolCalls({ state: "answered", size: 1 });
    expect(total).toBe(2);
    expect(items).toHaveLength(1);

    const { token } = await session.createToken({ expires_in_s: 60 });
    const reader = new TandemClient({ baseUrl: stack.baseUrl, apiKey: token });
    expect(await reader.session(session.id).status()).toMatchObject({ status: "idle" });
    const { share_url: link } = await session.share();
    const read = async () => (await fetch(link, { headers: { accept: "application/json" } })).status;
    expect(await read()).toBe(200);
    await session.unshare();
    expect(await read()).toBe(404);
  });

  it("aborts the question when somebody else decides", async () => {
    let signal: AbortSignal | undefined;
    const session = await client.startSession({ agent, messages: "pay", tools: [pay()] });
    const waiting = session.waitForCompletion({
      timeoutMs: 20_000,
      onPermissionRequest: async (request) => {
        signal = request.signal;
        await session.decide({ call_id: request.call.id ?? "", decision: "allow" });
        return new Promise(() => {});
      },
    });
    expect(await waiting).toMatchObject({ answer: "paid" });
    expect(signal?.aborted).toBe(true);
  });

  it("takes several decisions at once from its handle, while a wait leaves them to others", async () => {
    const session = await client.startSession({ agent, messages: "pay pay", tools: [pay()] });
    const waiting = session.waitForCompletion({ onPermissionRequest: "elsewhere", timeoutMs: 20_000 });
    await waitFor(async () => (await session.status()).status === "awaiting_approval", {
      what: "the question",
    });
    const { items } = await client.listToolCalls({ path: { id: session.id } });
    const [first, second] = items.map(({ id }) => id);
    const { receipts } = await session.decide([
      { call_id: first ?? "", decision: "allow" },
      { call_id: second ?? "", decision: "deny", message: "Enough." },
    ]);
    expect(receipts.map(({ status }) => status)).toEqual(["accepted", "accepted"]);
    expect((await waiting).answer).toMatch(/^paid \| .*Enough\./);
  });

  it("is cancelled by a guardrail that raises", async () => {
    const guarded = tool({
      name: "look",
      description: "Looks.",
      fn: () => "secret",
      outputGuardrails: [{ name: "secrets", run: () => raise("A secret") }],
    });
    const error = await client
      .runSession({ agent, messages: "look", tools: [guarded], timeoutMs: 20_000 })
      .catch((error) => error);
    expect(error).toMatchObject({ name: "GuardrailError" });
    expect(await client.session(error.sessionId).status()).toMatchObject({ status: "interrupted" });
  });

  it("is cancelled with cancelOnAbort, and its handler is aborted", async () => {
    const controller = new AbortController();
    let call: { signal: AbortSignal; sessionId: string } | undefined;
    const hang = tool({
      name: "look",
      description: "Looks.",
      fn: (_, context) => {
        call = context;
        return new Promise(() => {});
      },
    });
    const { signal } = controller;
    const running = client.runSession({
      agent,
      messages: "look",
      tools: [hang],
      signal,
      cancelOnAbort: true,
    });
    const { sessionId } = await waitFor(() => call, { what: "the call" });
    controller.abort(new Error("Enough"));
    await expect(running).rejects.toThrow("Enough");
    expect(call?.signal.aborted).toBe(true);
    expect(await client.session(sessionId).status()).toMatchObject({ status: "interrupted" });
  });

  it("tells progress to those who watch", async () => {
    const seen: unknown[] = [];
    const work = tool({
      name: "look",
      description: "Looks.",
      fn: (_, { progress }) => progress({ percent: 50 }),
    });
    await client.runSession({
      agent,
      messages: "look",
      tools: [work],
      timeoutMs: 20_000,
      onEvent: (event) => {
        if (event.type === "ToolCallProgressEvent") seen.push(event.data.progress);
      },
    });
    expect(seen).toEqual([{ percent: 50 }]);
  });

  it("streams the model's text and the same events as polls", async () => {
    const stream = client.streamSession({ agent, messages: "say Hello to the world.", timeoutMs: 20_000 });
    let text = "";
    const types: string[] = [];
    for await (const item of stream) {
      if (item.type === "delta") text += item.text;
      else types.push(item.type);
    }
    const result = await stream.result;
    expect(text).toBe("Hello to the world.");
    expect(result.answer).toBe(text);
    const events = await client.session(result.sessionId).events();
    expect(types).toEqual(events.map(({ type }) => type));
    expect(result.events).toEqual(events);
    // One who comes when it is over is told the same.
    let again = "";
    for await (const item of client.session(result.sessionId).stream())
      if (item.type === "delta") again += item.text;
    expect(again).toBe(text);
  });
});

describe("where nothing streams", () => {
  it("a stream gives the same events by polls, and the text with them", async () => {
    const stack = await startStack({ script });
    onTestFinished(() => stack.close());
    const withoutStreams: typeof fetch = async (input, init) =>
      (input as Request).url.includes("/stream") ? new Response("", { status: 404 }) : fetch(input, init);
    const client = new TandemClient({ baseUrl: stack.baseUrl, apiKey, fetch: withoutStreams });
    const stream = client.streamSession({ agent, messages: "look look", tools: [look], timeoutMs: 20_000 });
    const types: string[] = [];
    let text = "";
    for await (const item of stream) {
      if (item.type === "delta") text += item.text;
      else types.push(item.type);
    }
    const { sessionId, answer } = await stream.result;
    expect([text, answer]).toEqual(Array(2).fill("seen 0 | seen 1"));
    expect(types).toEqual((await client.session(sessionId).events()).map(({ type }) => type));
  });
});

describe("over a line that drops, delays, refuses and cuts", () => {
  let stack: TestStack;

  beforeAll(async () => {
    stack = await startStack({ script });
  });
  afterAll(() => stack?.close());

  it("50 sessions run each handler exactly once", { timeout: 120_000 }, async () => {
    const seed = chooseSeed();
    const random = seeded(seed);
    const faults: Fault[] = ["drop", "lose", "refuse", "cut", "halfClose", "delay", "delay"];
    const proxy = await startFaultProxy(stack.baseUrl, {
      random,
      choose: () => (random() < 0.35 ? random.pick(faults) : "none"),
    });
    const client = new TandemClient({ baseUrl: proxy.baseUrl, apiKey, maxRetries: 8 });
    const runs = new Map<string, number>();
    const counted = tool({
      name: "count",
      description: "Counts.",
      fn: async ({ n }, { idempotencyKey }) => {
        runs.set(idempotencyKey, (runs.get(idempotencyKey) ?? 0) + 1);
        await new Promise((resolve) => setTimeout(resolve, seeded(Number(n)).integer(1, 100)));
        return `counted ${n}`;
      },
    });
    try {
      const sessions = Array.from({ length: 50 }, (_, index) => {
        const options = {
          agent,
          messages: "count count count",
          tools: [counted],
          idempotencyKey: `s-${seed}-${index}`,
          timeoutMs: 100_000,
        };
        return index % 2 === 0 ? client.runSession(options) : client.streamSession(options).result;
      });
      for (const result of await Promise.all(sessions)) {
        expect(result, `seed ${seed}`).toMatchObject({
          status: "completed",
          answer: "counted 0 | counted 1 | counted 2",
        });
        expect(result.toolCalls).toHaveLength(3);
      }
      expect([runs.size, ...new Set(runs.values())], `seed ${seed}`).toEqual([150, 1]);
      for (const fault of faults) expect(proxy.counts[fault], fault).toBeGreaterThan(0);
    } finally {
      await proxy.close();
    }
  });
});
