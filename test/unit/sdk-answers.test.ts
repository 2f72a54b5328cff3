// What a wait gives and throws at its end: typed answers, calls, failures, cancellation.
import { raise, reject, type StandardSchema, TandemClient, tool } from "@tandem/sdk";
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod3/v3";
import {
  type FakeTandemServer,
  fakeCall,
  fakeSessionId,
  replyOnce,
  startFakeTandemServer,
} from "../support/fake-tandem-server.ts";
import { waitFor } from "../support/wait-for.ts";

let server: FakeTandemServer;
let client: TandemClient;

beforeEach(async () => {
  server = await startFakeTandemServer();
  client = new TandemClient({ baseUrl: server.baseUrl, apiKey: "key" });
});
afterEach(() => server.close());

const agent = "tandem/assistant";
const sentFormat = () => server.requestsTo("POST", "/sessions")[0]?.body.overrides["agent.answer_format"];

describe("an answer", () => {
  it("of a Zod 4 schema is sent as JSON Schema, parsed, and typed", async () => {
    server.answer({ city: "Paris", founded: "0250-01-01" });
    const answerSchema = z.object({
      city: z.string(),
      founded: z.string().transform((text) => new Date(text)),
    });
    const { answer } = await client.runSession({ agent, answerSchema });
    expectTypeOf(answer).toEqualTypeOf<{ city: string; founded: Date } | null>();
    expect(answer).toEqual({ city: "Paris", founded: new Date("0250-01-01") });
    expect(sentFormat()).toMatchObject({
      title: "Answer",
      type: "object",
      properties: { city: { type: "string" }, founded: { type: "string" } },
    });
  });

  it("of a Zod 3 schema too", async () => {
    server.answer({ n: 3 });
    const answerSchema = z3.object({ n: z3.number(), unit: z3.string().default("m") });
    const { answer } = await client.runSession({ agent, answerSchema });
    expectTypeOf(answer).toEqualTypeOf<{ n: number; unit: string } | null>();
    expect(answer).toEqual({ n: 3, unit: "m" });
    expect(sentFormat()).toMatchObject({ type: "object", properties: { n: { type: "number" } } });
  });

  it("of another Standard Schema too", async () => {
    server.answer({ n: 3 });
    const answerSchema: StandardSchema<{ n: number }, { double: number }> = {
      "~standard": {
        version: 1,
        vendor: "own",
        validate: (value) => ({ value: { double: (value as { n: number }).n * 2 } }),
        jsonSchema: { input: () => ({ type: "object", properties: { n: { type: "number" } } }) },
      },
    };
    const { answer } = await client.runSession({ agent, answerSchema });
    expectTypeOf(answer).toEqualTypeOf<{ double: number } | null>();
    expect(answer).toEqual({ double: 6 });
  });

  it("of a JSON Schema is typed by it, and checked by the server alone", async () => {
    server.answer({ city: 1 });
    const { answer } = await client.runSession({
      agent,
      answerSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    });
    expectTypeOf(answer).toEqualTypeOf<{ city: string } | null>();
    expect(answer).toEqual({ city: 1 });
  });

  it("has the type that is named, and text without a schema", async () => {
    server.answer({ city: "Paris" });
    const answerSchema: Record<string, unknown> = { type: "object" };
    const named = await client.runSession<{ city: string }>({ agent, answerSchema });
    expectTypeOf(named.answer).toEqualTypeOf<{ city: string } | null>();
    const plain = await client.runSession({ agent });
    expectTypeOf(plain.answer).toEqualTypeOf<string | { [key: string]: unknown } | null>();
  });

  it("that does not fit is thrown with what is wrong", async () => {
    server.answer({ city: 5 });
    const answerSchema = z.object({ city: z.string() });
    const session = await client.startSession({ agent, answerSchema });
    const error = await session.waitForCompletion().catch((error) => error);
    expect(error).toMatchObject({
      name: "AnswerValidationError",
      answer: { city: 5 },
      issues: [{ path: ["city"] }],
      result: { sessionId: fakeSessionId, status: "completed" },
    });
    expect(error.message).toContain("city: ");
  });

  it("is checked for a stream too", async () => {
    server.answer({ city: "Paris" });
    const stream = client.streamSession({
      agent,
      answerSchema: z.object({ city: z.string().toUpperCase() }),
    });
    expect((await stream.result).answer).toEqual({ city: "PARIS" });
  });
});

describe("a session that fails", () => {
  it("is a result, unless an error is asked for", async () => {
    server.fail("The model is gone");
    expect(await client.runSession({ agent })).toMatchObject({
      status: "failed",
      error: "The model is gone",
    });
    await expect(client.runSession({ agent, throwOnFailure: true })).rejects.toMatchObject({
      name: "SessionFailedError",
      message: expect.stringContaining("The model is gone"),
      result: { sessionId: fakeSessionId, status: "failed" },
    });
  });

  it("is not one that completes", async () => {
    server.answer("Hi.");
    expect(await client.runSession({ agent, throwOnFailure: true })).toMatchObject({ answer: "Hi." });
  });
});

describe("the calls of a result", () => {
  const event = (data: unknown) => ({ type: "AgentEvent", data });

  it("tell what became of each, in the order in which they were made", async () => {
    const ok = fakeCall("ping", { n: 1 }, "call_1");
    const bad = fakeCall("fail", {}, "call_2");
    const denied = fakeCall("pay", {}, "call_3");
    const late = fakeCall("wait", {}, "call_4");
    server.append(
      event({
        kind: "policy_event",
        content: null,
        reasoning_content: null,
        tool_reqs: [ok, bad, denied, late],
        validation_errors: [],
      }),
      event({ kind: "error_event", error: "Denied.", origin: "approval", tool_req: denied }),
      { type: "ToolCallCancelledEvent", data: { tool_req: late, reason: "timed_out" } },
      event({ kind: "error_event", error: "No result came in time.", origin: "server", tool_req: late }),
    );
    server.onResumed = () => {
      server.append(
        event({ kind: "tool_result", tool_req: ok, result: 1, truncated: false, output_artifact_path: null }),
        event({ kind: "error_event", error: "Broken", origin: "client", tool_req: bad }),
      );
      server.answer("Done.");
    };
    server.call(ok, bad);
    const tools = [
      tool({ name: "ping", description: "Pings.", fn: () => 1 }),
      tool({
        name: "fail",
        description: "Fails.",
        fn: () => {
          throw new Error("Broken");
        },
      }),
    ];
    const { toolCalls } = await client.runSession({ agent, tools });
    expect(toolCalls).toEqual([
      {
        id: "call_1",
        name: "ping",
        args: { n: 1 },
        status: "succeeded",
        durationMs: expect.any(Number),
        error: null,
        executedHere: true,
      },
      {
        id: "call_2",
        name: "fail",
        args: {},
        status: "failed",
        durationMs: expect.any(Number),
        error: "Broken",
        executedHere: true,
      },
      {
        id: "call_3",
        name: "pay",
        args: {},
        status: "denied",
        durationMs: null,
        error: "Denied.",
        executedHere: false,
      },
      {
        id: "call_4",
        name: "wait",
        args: {},
        status: "withdrawn",
        durationMs: null,
        error: "No result came in time.",
        executedHere: false,
      },
    ]);
  });

  it("tell how long one took that ran elsewhere", async () => {
    server.append({
      type: "ActiveStateChangeEvent",
      timestamp: "2026-01-01T00:00:00.000Z",
      data: { state: "awaiting_tool_results", pending_tool_calls: [fakeCall("ping")] },
    } as never);
    server.append({
      type: "AgentEvent",
      timestamp: "2026-01-01T00:00:01.500Z",
      data: { kind: "tool_result", tool_req: fakeCall("ping"), result: 1 },
    } as never);
    server.answer("Done.");
    const { toolCalls } = await client.runSession({ agent });
    expect(toolCalls).toMatchObject([{ status: "succeeded", durationMs: 1_500, executedHere: false }]);
  });
});

describe("guardrails", () => {
  const guarded = (verdict: "reject" | "raise") =>
    tool({
      name: "pay",
      description: "Pays.",
      fn: () => "paid",
      inputGuardrails: [
        { name: "limit", run: () => (verdict === "raise" ? raise("Fraud") : reject("Too much")) },
      ],
    });

  it("that reject are told in the result", async () => {
    server.call(fakeCall("pay"));
    const { guardrailResults } = await client.runSession({ agent, tools: [guarded("reject")] });
    expect(guardrailResults).toEqual([
      {
        guardrail: "limit",
        stage: "input",
        tool: "pay",
        callId: "call_1",
        verdict: "reject",
        message: "Too much",
      },
    ]);
  });

  it("that raise cancel the session and end the wait, and nothing is posted", async () => {
    server.call(fakeCall("pay"));
    const error = await client.runSession({ agent, tools: [guarded("raise")] }).catch((error) => error);
    expect(error).toMatchObject({
      name: "GuardrailError",
      sessionId: fakeSessionId,
      guardrailResults: [{ guardrail: "limit", verdict: "raise", message: "Fraud" }],
    });
    expect(server.requestsTo("DELETE", fakeSessionId)).toHaveLength(1);
    expect(server.results).toEqual([]);
  });
});

describe("tools that are not enabled", () => {
  it("are not offered, by what the run's context says", async () => {
    server.answer("Hi.");
    const make = (name: string) =>
      tool({
        name,
        description: name,
        fn: () => 1,
        enabled: ({ context }) => (context as string[]).includes(name),
      });
    await client.runSession({ agent, tools: [make("a"), make("b")], context: ["b"] });
    const [request] = server.requestsTo("POST", "/sessions");
    expect(request?.body.overrides["agent.tools"]).toMatchObject([{ name: "b" }]);
  });
});

describe("an aborted wait", () => {
  const abortable = () => {
    const controller = new AbortController();
    return { signal: controller.signal, abort: () => controller.abort(new Error("Enough")) };
  };
  const untilPolled = () => waitFor(() => server.waitingPolls() > 0, { what: "a waiting poll" });
  const cancellations = () => server.requestsTo("DELETE", fakeSessionId);

  it("cancels the session with cancelOnAbort, before it throws", async () => {
    const { signal, abort } = abortable();
    const running = client.runSession({ agent, signal, cancelOnAbort: true });
    await untilPolled();
    abort();
    await expect(running).rejects.toThrow("Enough");
    expect(cancellations()).toHaveLength(1);
  });

  it("throws its reason though the session cannot be cancelled", async () => {
    server.intercept = replyOnce("DELETE", fakeSessionId, { status: 404, body: { detail: "No." } });
    const { signal, abort } = abortable();
    const running = client.runSession({ agent, signal, cancelOnAbort: true });
    await untilPolled();
    abort();
    await expect(running).rejects.toThrow("Enough");
  });

  it("cancels a session that was being made", async () => {
    const { signal, abort } = abortable();
    server.intercept = (request) => {
      if (request.method === "POST" && request.path === "/sessions") abort();
      return undefined;
    };
    await expect(client.runSession({ agent, signal, cancelOnAbort: true })).rejects.toThrow("Enough");
    expect(cancellations()).toHaveLength(1);
  });

  it("by its time lets the session go on", async () => {
    await expect(client.runSession({ agent, timeoutMs: 300, cancelOnAbort: true })).rejects.toThrow(
      "was not done",
    );
    expect(cancellations()).toEqual([]);
  });
});
