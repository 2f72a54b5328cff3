// The wait loop and the tools that it runs, against a scripted server.
import { getEventListeners } from "node:events";
import { type SessionEvent, TandemClient, type Tool, tool } from "@tandem/sdk";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
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

/** A failure that passes, with the wait before the next attempt left out. */
const busy = (status: number) => ({ status, headers: { "retry-after": "0" } });

const makeTool = (name: string, fn: Tool<never>["fn"]): Tool => tool({ name, description: name, fn });
const run = (...tools: Tool[]) => client.runSession({ agent: "tandem/assistant", messages: "Hello", tools });
const until = (signal: AbortSignal) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
const untilPolled = () => waitFor(() => server.waitingPolls() > 0, { what: "a waiting poll" });

describe("the result of a run", () => {
  it("holds the answer, how it ended, the events and what was used", async () => {
    server.answer({ total: 3 });
    const result = await client.runSession<{ total: number }>({
      agent: "tandem/assistant",
      messages: "Hello",
    });
    expect(result).toMatchObject({
      sessionId: fakeSessionId,
      status: "completed",
      answer: { total: 3 },
      outcome: "success",
      error: null,
      errorCode: null,
      reason: "answered",
    });
    expect(result.events.map(({ type }) => type)).toEqual(["AgentEvent", "AgentCompletionEvent"]);
    expect(result.usage).toMatchObject({ steps: 2, inputTokens: 11, outputTokens: 6, reasoningTokens: 1 });
    expect(result.usage.models.map(({ name }) => name)).toEqual(["demo/keyword", "demo/other"]);
  });

  it("needs no request but the creation and the polls", async () => {
    const running = run();
    await untilPolled();
    server.answer("Hi.");
    await running;
    const paths = server.requests.map(
      ({ method, path }) => `${method} ${path.replace(fakeSessionId, "{id}")}`,
    );
    expect(new Set(paths)).toEqual(new Set(["POST /sessions", "GET /sessions/{id}/changes"]));
  });

  it("says that a cancelled session was interrupted, without an error", async () => {
    const running = run();
    await untilPolled();
    server.cancel();
    expect(await running).toMatchObject({ status: "interrupted", answer: null });
  });

  it("hands each event to onEvent once, in order", async () => {
    const seen: SessionEvent[] = [];
    server.call(fakeCall("ping"));
    const result = await client.runSession({
      agent: "tandem/assistant",
      tools: [makeTool("ping", () => "pong")],
      onEvent: (event) => void seen.push(event),
    });
    expect(seen).toEqual(result.events);
    expect(seen).toHaveLength(3);
  });

  it("ends the wait with what onEvent throws", async () => {
    server.answer("Hi.");
    const onEvent = async () => Promise.reject(new Error("Cannot print"));
    await expect(client.runSession({ agent: "tandem/assistant", onEvent })).rejects.toThrow("Cannot print");
  });
});

describe("tools", () => {
  it("get the arguments, and the session and call that they run for", async () => {
    const seen: unknown[] = [];
    server.call(fakeCall("greet", { who: "Ada" }, "call_7"));
    await run(makeTool("greet", (args, { sessionId, callId }) => void seen.push([args, sessionId, callId])));
    expect(seen).toEqual([[{ who: "Ada" }, fakeSessionId, "call_7"]]);
  });

  it("post a single result bare, with the call echoed", async () => {
    server.call(fakeCall("ping", { n: 1 }));
    expect(await run(makeTool("ping", () => ({ pong: true })))).toMatchObject({ answer: "Done." });
    const tool_req = { tool_name: "ping", args: { n: 1 }, id: "call_1" };
    expect(server.results).toEqual([{ kind: "tool_result", tool_req, result: { pong: true } }]);
  });

  it("run in parallel, and post what comes of it as one batch", async () => {
    const started = new Set<unknown>();
    const bothStarted = () => waitFor(() => started.size === 2, { what: "both calls" });
    server.call(fakeCall("echo", { n: 1 }, "call_1"), fakeCall("echo", { n: 2 }, "call_2"));
    await run(
      makeTool("echo", async ({ n }) => {
        started.add(n);
        await bothStarted();
        return n;
      }),
    );
    expect(server.results).toMatchObject([{ type: "batch", results: [{ result: 1 }, { result: 2 }] }]);
  });

  it("do not hold back the results of others for long", async () => {
    server.call(fakeCall("quick", {}, "call_1"), fakeCall("slow", {}, "call_2"));
    const slow = () => waitFor(() => server.results.length === 1, { what: "the quick result" });
    await run(
      makeTool("quick", () => "quick"),
      makeTool("slow", slow),
    );
    expect(server.results).toMatchObject([{ result: "quick" }, { result: true }]);
  });

  it("that do not exist are answered with an error that names those which do", async () => {
    server.call(fakeCall("pong"));
    await run(
      makeTool("ping", () => 1),
      makeTool("pang", () => 2),
    );
    expect(server.results).toEqual([
      {
        kind: "error_event",
        origin: "client",
        error: 'There is no tool named "pong" here. Known tools: ping, pang.',
        tool_req: { tool_name: "pong", args: {}, id: "call_1" },
      },
    ]);
  });

  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  it.each<[string, Tool["fn"], RegExp]>([
    [
      "throws",
      () => {
        throw new Error("No such order");
      },
      /^No such order$/,
    ],
    ["rejects", () => Promise.reject(new Error("Down")), /^Down$/],
    [
      "throws a text",
      () => {
        throw "plain text";
      },
      /^plain text$/,
    ],
    [
      "throws an error without a message",
      () => {
        throw new RangeError();
      },
      /^RangeError$/,
    ],
    [
      "throws a value without a text",
      () => {
        throw Object.create(null);
      },
      /no text/,
    ],
    ["returns a cycle", () => cyclic, /"ping" returned a value that JSON cannot carry: .*circular/],
    ["returns a BigInt", () => 1n, /"ping" returned a value that JSON cannot carry: .*BigInt/],
    ["returns a function", () => () => 1, /"ping" returned a value that JSON cannot carry: a function/],
  ])("give the model an error when the handler %s", async (_, fn, message) => {
    server.call(fakeCall("ping"));
    expect(await run(makeTool("ping", fn))).toMatchObject({ status: "completed" });
    expect(server.results).toMatchObject([
      { kind: "error_event", origin: "client", error: expect.stringMatching(message) },
    ]);
  });

  it.each<[unknown, unknown]>([
    [undefined, null],
    [null, null],
    [0, 0],
    ["", ""],
    [Number.NaN, null],
    [new Date(0), "1970-01-01T00:00:00.000Z"],
  ])("post %j as %j", async (value, posted) => {
    server.call(fakeCall("ping"));
    await run(makeTool("ping", () => value));
    expect(server.results).toMatchObject([{ kind: "tool_result", result: posted }]);
  });

  it("are left to another process when the wait has none", async () => {
    server.call(fakeCall("ping"));
    const running = run();
    await untilPolled();
    server.answer("Done elsewhere.");
    expect(await running).toMatchObject({ answer: "Done elsewhere." });
    expect(server.results).toEqual([]);
  });
});

describe("a failed post", () => {
  const countedTool = () => {
    const counted = { calls: 0 };
    return { counted, tool: makeTool("ping", () => ++counted.calls) };
  };

  it.each(["disconnect", "503", "504", "429"])("(%s) is repeated, and the handler is not", async (fault) => {
    const failure = fault === "disconnect" ? "disconnect" : busy(Number(fault));
    server.intercept = replyOnce("POST", "/tool_results", failure, failure);
    server.call(fakeCall("ping"));
    const { counted, tool } = countedTool();
    expect(await run(tool)).toMatchObject({ status: "completed" });
    expect(counted.calls).toBe(1);
    expect(server.results).toMatchObject([{ result: 1 }]);
  });

  it("is repeated beyond the retries of one request", async () => {
    server.intercept = replyOnce("POST", "/tool_results", ...Array(7).fill(busy(502)));
    server.call(fakeCall("ping"));
    const { counted, tool } = countedTool();
    await run(tool);
    expect(counted.calls).toBe(1);
    expect(server.requestsTo("POST", "/tool_results")).toHaveLength(8);
  });

  it.each([
    [409, "session_finished"],
    [409, "result_conflict"],
    [404, "calls_unknown"],
  ])("is fine when the server says %i %s: the call is settled", async (status, code) => {
    const reply = { status, body: { detail: "Settled.", code, request_id: "req-1" } };
    server.intercept = replyOnce("POST", "/tool_results", reply);
    server.call(fakeCall("ping"));
    const running = run(countedTool().tool);
    await waitFor(() => server.requestsTo("POST", "/tool_results").length === 1, { what: "the post" });
    await untilPolled();
    server.append({ type: "RequestStartEvent", data: {} });
    await waitFor(() => server.requestsTo("GET", "/changes").length === 3, { what: "the poll after it" });
    server.answer("Settled elsewhere.");
    expect(await running).toMatchObject({ answer: "Settled elsewhere." });
    expect(server.requestsTo("POST", "/tool_results")).toHaveLength(1);
  });

  it("tells the model when the server refuses a result, and only that one", async () => {
    server.intercept = ({ path, body }) => {
      const isBad = (entry: { result?: unknown }) => entry.result === "bad";
      if (!path.endsWith("/tool_results") || !(body.results ?? [body]).some(isBad)) return undefined;
      const detail = [{ loc: ["body", "result"], msg: "holds a NUL", type: "value_error" }];
      return { status: 422, body: { detail, code: "invalid_request", request_id: "req-1" } };
    };
    server.call(fakeCall("good", {}, "call_1"), fakeCall("bad", {}, "call_2"));
    await run(
      makeTool("good", () => "good"),
      makeTool("bad", () => "bad"),
    );
    expect(server.results).toMatchObject([
      { result: "good" },
      {
        kind: "error_event",
        error: expect.stringContaining("body.result: holds a NUL"),
        tool_req: { id: "call_2" },
      },
    ]);
  });

  it("tells the model when a result is too large to send", async () => {
    server.call(fakeCall("ping"));
    await run(makeTool("ping", () => "x".repeat(10_000_000)));
    expect(server.results).toMatchObject([
      { kind: "error_event", error: expect.stringContaining("over 10,000,000 bytes") },
    ]);
  });

  it("ends the wait when it cannot be mended, and a later wait posts the kept result", async () => {
    server.intercept = replyOnce("POST", "/tool_results", { status: 401, body: { detail: "Unknown key." } });
    server.call(fakeCall("ping"));
    const { counted, tool } = countedTool();
    const session = await client.startSession({ agent: "tandem/assistant", tools: [tool] });
    await expect(session.waitForCompletion()).rejects.toThrow("Unknown key. (HTTP 401)");
    expect(await session.waitForCompletion()).toMatchObject({ answer: "Done." });
    expect(counted.calls).toBe(1);
    expect(server.results).toMatchObject([{ result: 1 }]);
  });
});

describe("a poll", () => {
  it("is repeated from the same cursor after a 204", async () => {
    server.append({ type: "RequestStartEvent", data: {} });
    const running = run();
    await waitFor(() => server.waitingPolls() > 0 && server.requestsTo("GET", "/changes").length === 2, {
      what: "the second poll",
    });
    server.endPolls();
    await waitFor(() => server.requestsTo("GET", "/changes").length === 3, { what: "the third poll" });
    server.answer("Hi.");
    await running;
    const cursors = server.requestsTo("GET", "/changes").map(({ query }) => query.get("from_index"));
    expect(cursors).toEqual(["0", "1", "1"]);
  });

  it.each(["disconnect", "502", "503", "504", "429"])("that ends with %s is an empty poll", async (fault) => {
    const failure = fault === "disconnect" ? "disconnect" : busy(Number(fault));
    client = new TandemClient({ baseUrl: server.baseUrl, apiKey: "key", maxRetries: 0 });
    server.intercept = replyOnce("GET", "/changes", failure);
    server.answer("Hi.");
    expect(await run()).toMatchObject({ answer: "Hi." });
  });

  it("that breaks off midway is an empty poll, and no event is lost or seen twice", async () => {
    const running = run();
    await untilPolled();
    server.intercept = replyOnce("GET", "/changes", "disconnect");
    server.append({ type: "RequestStartEvent", data: {} });
    await waitFor(() => server.waitingPolls() > 0 && server.requestsTo("GET", "/changes").length === 3, {
      what: "the poll after the disconnect",
    });
    server.answer("Hi.");
    expect((await running).events).toHaveLength(3);
  });

  it("that a proxy answers with an earlier reply gives no event twice", async () => {
    const page = (first: number, count: number) => ({
      status: 200,
      body: {
        status: "running",
        new_events: Array.from({ length: count }, (_, n) => ({
          type: "RequestStartEvent",
          data: { n: first + n },
        })),
        next_index: first + count,
        has_more: false,
      },
    });
    server.append({ type: "RequestStartEvent", data: {} }, { type: "RequestStartEvent", data: {} });
    server.intercept = replyOnce("GET", "/changes", page(0, 1), page(0, 1), page(0, 2), page(5, 1));
    server.answer("Hi.");
    const { events } = await run();
    expect(events.map(({ type, data }) => [type, (data as { n?: number }).n])).toEqual([
      ["RequestStartEvent", 0],
      ["RequestStartEvent", 1],
      ["AgentEvent", undefined],
      ["AgentCompletionEvent", undefined],
    ]);
  });

  it("leaves no listener behind, however many there are", async () => {
    const listen = vi.spyOn(EventTarget.prototype, "addEventListener");
    const polls = 50;
    let most = 0;
    server.append({ type: "RequestStartEvent", data: {} });
    await client.runSession({
      agent: "tandem/assistant",
      onEvent: () => {
        const signals = new Set(listen.mock.contexts as EventTarget[]);
        most = Math.max(...[...signals].map((signal) => getEventListeners(signal, "abort").length));
        if (server.requests.length < polls) server.append({ type: "RequestStartEvent", data: {} });
        else if (server.requests.length === polls) server.answer("Hi.");
      },
    });
    listen.mockRestore();
    expect(server.requests.length).toBeGreaterThanOrEqual(polls);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(5);
  });

  it("that the server refuses ends the wait", async () => {
    const reply = { status: 404, body: { detail: "There is no session.", code: "session_not_found" } };
    server.intercept = replyOnce("GET", "/changes", reply);
    await expect(run()).rejects.toMatchObject({ name: "APIError", code: "session_not_found" });
  });

  it("that always fails ends the wait when the server stays out of reach", async () => {
    const running = run();
    await untilPolled();
    server.intercept = () => busy(503);
    server.endPolls();
    await expect(running).rejects.toMatchObject({ name: "APIError", status: 503 });
  });

  it("that always fails does not hide the end of the session", async () => {
    server.answer("Hi.");
    server.intercept = ({ path, query }) =>
      path.endsWith("/changes") && query.get("include_events") !== "false" ? busy(504) : undefined;
    expect(await run()).toMatchObject({ status: "completed", answer: "Hi.", events: [] });
  });
});

describe("a wait", () => {
  it("joins midway and runs only the calls that are still open", async () => {
    server.call(fakeCall("ping", { n: 1 }, "call_1"), fakeCall("ping", { n: 2 }, "call_2"));
    server.call(fakeCall("ping", { n: 2 }, "call_2"));
    const seen: unknown[] = [];
    const result = await client.session(fakeSessionId).waitForCompletion({
      tools: [makeTool("ping", ({ n }) => void seen.push(n))],
    });
    expect(seen).toEqual([2]);
    expect(result).toMatchObject({ sessionId: fakeSessionId, answer: "Done." });
  });

  /** What a call's result looks like in the history. */
  const resultOf = (tool_req: ReturnType<typeof fakeCall>) => ({
    type: "AgentEvent",
    data: { kind: "tool_result", tool_req, result: 1, truncated: false, output_artifact_path: null },
  });

  it("runs no call of a cut page that a later page settles", async () => {
    server.pageSize = 2;
    server.append({ type: "RequestStartEvent", data: {} });
    server.call(fakeCall("ping", { n: 1 }, "call_1"));
    server.append(resultOf(fakeCall("ping", { n: 1 }, "call_1")));
    server.call(fakeCall("ping", { n: 2 }, "call_2"));
    const seen: unknown[] = [];
    const result = await client.session(fakeSessionId).waitForCompletion({
      tools: [makeTool("ping", ({ n }) => void seen.push(n))],
    });
    expect(seen).toEqual([2]);
    expect(server.results).toMatchObject([{ tool_req: { id: "call_2" } }]);
    expect(result).toMatchObject({ answer: "Done." });
  });

  it("keeps an undelivered result while cut pages have not come to its call", async () => {
    server.pageSize = 1;
    server.append({ type: "RequestStartEvent", data: {} });
    server.call(fakeCall("ping"));
    server.intercept = replyOnce("POST", "/tool_results", { status: 401, body: { detail: "Unknown key." } });
    let calls = 0;
    const session = client.session(fakeSessionId);
    const tools = [makeTool("ping", () => ++calls)];
    await expect(session.waitForCompletion({ tools })).rejects.toThrow("Unknown key.");
    expect(await session.waitForCompletion({ tools })).toMatchObject({ answer: "Done." });
    expect(calls).toBe(1);
    expect(server.results).toMatchObject([{ result: 1 }]);
  });

  it("gives every event of a session that is over, over as many pages as they take", async () => {
    server.pageSize = 2;
    server.append({ type: "RequestStartEvent", data: {} }, { type: "MetricsUpdateEvent", data: {} });
    server.answer("Hi.");
    const session = client.session(fakeSessionId);
    const { answer, events } = await session.waitForCompletion();
    expect(answer).toBe("Hi.");
    expect(events.map(({ type }) => type)).toEqual([
      "RequestStartEvent",
      "MetricsUpdateEvent",
      "AgentEvent",
      "AgentCompletionEvent",
    ]);
    const cursors = server.requestsTo("GET", "/changes").map(({ query }) => query.get("from_index"));
    expect(cursors).toEqual(["0", "2"]);
    expect(await session.events()).toEqual(events);
  });

  it("runs no call of a session that is over", async () => {
    server.call(fakeCall("ping"));
    server.answer("Hi.");
    await client.session(fakeSessionId).waitForCompletion({ tools: [makeTool("ping", () => 1)] });
    expect(server.results).toEqual([]);
  });

  /** A call that never ends, unless its signal is aborted. */
  const hangingCall = () => {
    const call: { signal?: AbortSignal; tool: Tool } = {
      tool: makeTool("hang", (_, { signal }) => {
        call.signal = signal;
        return new Promise(() => {});
      }),
    };
    return { call, started: () => waitFor(() => call.signal, { what: "the call" }) };
  };

  it("ends at once when the session is cancelled, and aborts its handlers, even one that hangs", async () => {
    const { call, started } = hangingCall();
    server.call(fakeCall("hang"));
    const running = run(call.tool);
    await started();
    server.cancel();
    expect(await running).toMatchObject({ status: "interrupted" });
    expect(call.signal?.aborted).toBe(true);
    expect(server.results).toEqual([]);
  });

  it("aborts the handler of a call that was withdrawn, and goes on", async () => {
    const { call, started } = hangingCall();
    server.call(fakeCall("hang", {}, "call_1"));
    const running = run(
      call.tool,
      makeTool("ping", () => "pong"),
    );
    await started();
    server.append({
      type: "ToolCallCancelledEvent",
      data: { tool_req: fakeCall("hang", {}, "call_1"), reason: "timed out" },
    });
    await waitFor(() => call.signal?.aborted, { what: "the abort" });
    server.call(fakeCall("ping", {}, "call_2"));
    expect(await running).toMatchObject({ answer: "Done." });
    expect(server.results).toMatchObject([{ tool_req: { id: "call_2" }, result: "pong" }]);
  });

  it("aborts the handler of a call that another client has settled", async () => {
    const { call, started } = hangingCall();
    server.call(fakeCall("hang"));
    const running = run(call.tool);
    await started();
    server.append({ type: "ActiveStateChangeEvent", data: { state: "running", pending_tool_calls: null } });
    await waitFor(() => call.signal?.aborted, { what: "the abort" });
    server.answer("Done elsewhere.");
    expect(await running).toMatchObject({ answer: "Done elsewhere." });
  });

  it.each(["tool_result", "error_event"])("aborts the handler of a call whose %s passes by", async (kind) => {
    const { call, started } = hangingCall();
    server.call(fakeCall("hang"));
    const running = run(call.tool);
    await started();
    server.append({ type: "AgentEvent", data: { kind: "error_event", error: "Busy.", tool_req: null } });
    server.append({ type: "AgentEvent", data: { ...resultOf(fakeCall("hang")).data, kind } });
    await waitFor(() => call.signal?.aborted, { what: "the abort" });
    server.answer("Done elsewhere.");
    expect(await running).toMatchObject({ answer: "Done elsewhere." });
    expect(server.results).toEqual([]);
  });

  it("aborts its handlers when it ends by an error", async () => {
    const { call, started } = hangingCall();
    server.call(fakeCall("hang"));
    const running = client.runSession({
      agent: "tandem/assistant",
      tools: [call.tool],
      onEvent: ({ type }) => {
        if (type === "RequestStartEvent") throw new Error("Cannot print");
      },
    });
    await started();
    server.append({ type: "RequestStartEvent", data: {} });
    await expect(running).rejects.toThrow("Cannot print");
    expect(call.signal?.aborted).toBe(true);
  });

  it("ends with the reason of an aborted signal, and aborts its handlers and its poll", async () => {
    const { call, started } = hangingCall();
    const controller = new AbortController();
    server.call(fakeCall("hang"));
    const { signal } = controller;
    const running = client.runSession({ agent: "tandem/assistant", tools: [call.tool], signal });
    await started();
    await untilPolled();
    controller.abort(new Error("Enough"));
    await expect(running).rejects.toThrow("Enough");
    expect(call.signal?.aborted).toBe(true);
    await waitFor(() => server.waitingPolls() === 0, { what: "the end of the poll" });
    expect(server.requestsTo("DELETE", fakeSessionId)).toEqual([]);
  });

  it("shares a signal with many others, and adds one listener", async () => {
    const abort = new AbortController();
    const waits = Array.from({ length: 20 }, () =>
      client.session(fakeSessionId).waitForCompletion({ signal: abort.signal }),
    );
    await waitFor(() => server.waitingPolls() === 20, { what: "all waits" });
    expect(getEventListeners(abort.signal, "abort")).toHaveLength(1);
    server.answer("Hi.");
    await Promise.all(waits);
    expect(getEventListeners(abort.signal, "abort")).toEqual([]);
  });

  it("starts nothing when its signal is aborted before", async () => {
    const signal = AbortSignal.abort(new Error("Never"));
    await expect(client.runSession({ agent: "tandem/assistant", signal })).rejects.toThrow("Never");
    expect(server.requests).toEqual([]);
  });

  it("ends after its time with an error that names the session, and can be taken up again", async () => {
    const session = await client.startSession({ agent: "tandem/assistant" });
    server.append({ type: "RequestStartEvent", data: {} });
    await expect(session.waitForCompletion({ timeoutMs: 100 })).rejects.toMatchObject({
      name: "TimeoutError",
      sessionId: fakeSessionId,
    });
    server.answer("Hi.");
    const result = await session.waitForCompletion();
    expect(result.answer).toBe("Hi.");
    expect(result.events).toHaveLength(3);
  });

  it("ends after its time when the session cannot be created either", async () => {
    server.intercept = replyOnce("POST", "/sessions", "hang");
    const running = client.runSession({ agent: "tandem/assistant", timeoutMs: 100 });
    await expect(running).rejects.toThrow("The session was not created within 100 ms");
  });

  it("runs a call again that an earlier wait of the handle had to give up", async () => {
    let calls = 0;
    server.call(fakeCall("ping"));
    const session = await client.startSession({
      agent: "tandem/assistant",
      tools: [makeTool("ping", (_, { signal }) => (++calls === 1 ? until(signal) : "pong"))],
    });
    await expect(session.waitForCompletion({ timeoutMs: 100 })).rejects.toThrow("was not done within 100 ms");
    expect(await session.waitForCompletion()).toMatchObject({ answer: "Done." });
    expect(calls).toBe(2);
  });

  it("after a message waits for the new answer, and gives the events of the new turn only", async () => {
    const session = await client.startSession({ agent: "tandem/assistant", messages: "Hello" });
    server.answer("First.");
    expect(await session.waitForCompletion()).toMatchObject({ answer: "First." });
    await session.sendMessage("And now?");
    const waiting = session.waitForCompletion();
    await untilPolled();
    server.answer("Second.");
    const result = await waiting;
    expect(result.answer).toBe("Second.");
    expect(result.events.map(({ type }) => type)).toEqual([
      "ActiveStateChangeEvent",
      "AgentEvent",
      "AgentCompletionEvent",
    ]);
  });

  it("for a turn that is over gives the same answer at once", async () => {
    server.answer("Hi.");
    const session = client.session(fakeSessionId);
    await session.waitForCompletion();
    const before = server.requests.length;
    const result = await session.waitForCompletion({ timeoutMs: 5_000 });
    expect(result).toMatchObject({ answer: "Hi.", events: [] });
    const requests = server.requests.slice(before);
    // One poll that tells nothing, the status, one for events that came between, and the state.
    expect(requests.map(({ path }) => path.split("/").at(-1))).toEqual([
      "changes",
      "status",
      "changes",
      "changes",
    ]);
  });

  it("for a turn that is over gives the answer at once without long polls too", async () => {
    server.answer("Hi.");
    const session = client.session(fakeSessionId);
    await session.waitForCompletion();
    const again = session.waitForCompletion({ waitForSeconds: 0, timeoutMs: 5_000 });
    expect(await again).toMatchObject({ answer: "Hi." });
    expect(server.requestsTo("GET", "/status")).toHaveLength(1);
  });
});

describe("a poll that the server cuts short", () => {
  it("is repeated with growing pauses while the session is live", async () => {
    server.intercept = ({ path }) => (path.endsWith("/changes") ? { status: 204 } : undefined);
    const random = vi.spyOn(Math, "random").mockReturnValue(0.5);
    onTestFinished(() => random.mockRestore());
    const session = client.session(fakeSessionId);
    await expect(session.waitForCompletion({ timeoutMs: 1_000 })).rejects.toThrow("was not done within");
    const polls = server.requestsTo("GET", "/changes").length;
    // 0.25 s, 0.5 s and 1 s lie between them.
    expect(polls).toBeGreaterThan(1);
    expect(polls).toBeLessThanOrEqual(3);
    expect(server.requestsTo("GET", "/status").length).toBeLessThanOrEqual(polls);
  });

  it("does not end the wait when the server is gone a moment later", async () => {
    client = new TandemClient({ baseUrl: server.baseUrl, apiKey: "key", maxRetries: 0 });
    const running = run();
    await untilPolled();
    server.intercept = replyOnce("GET", "/status", "disconnect");
    server.endPolls();
    await waitFor(() => server.requestsTo("GET", "/status").length === 1, { what: "the status request" });
    await untilPolled();
    server.answer("Hi.");
    expect(await running).toMatchObject({ answer: "Hi." });
  });

  it("loses no event of a session that ends before its status is asked for", async () => {
    const running = run();
    await untilPolled();
    server.intercept = ({ path }) => {
      if (path.endsWith("/status")) server.answer("Hi.");
      return undefined;
    };
    server.endPolls();
    const { answer, events } = await running;
    expect(answer).toBe("Hi.");
    expect(events.map(({ type }) => type)).toEqual(["AgentEvent", "AgentCompletionEvent"]);
  });

  it("is soon repeated, however long the session was quiet before", async () => {
    const now = performance.now.bind(performance);
    let skewMs = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + skewMs);
    onTestFinished(() => clock.mockRestore());
    const nextPoll = (count: number) =>
      waitFor(() => server.waitingPolls() > 0 && server.requestsTo("GET", "/changes").length === count, {
        what: `poll ${count}`,
        timeoutMs: 2_000,
      });
    const running = run();
    for (let count = 1; count < 5; count += 1) {
      await nextPoll(count);
      skewMs += 20_000;
      server.endPolls();
    }
    await nextPoll(5);
    server.endPolls();
    await nextPoll(6);
    server.answer("Hi.");
    expect(await running).toMatchObject({ answer: "Hi." });
  });
});
