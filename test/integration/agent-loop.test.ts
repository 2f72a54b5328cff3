import { afterEach, describe, expect, it } from "vitest";
import {
  lastToolResults,
  type ModelScript,
  type ParsedChatRequest,
  type Reply,
} from "../support/fake-model-server.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { createWire, kindsOf, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

let stack: TestStack | undefined;
afterEach(async () => {
  await stack?.close();
  stack = undefined;
});

const start = async (script: ModelScript, env: Record<string, string> = {}): Promise<Wire> => {
  stack = await startStack({ script, env });
  return createWire(stack.baseUrl, apiKey);
};
const requests = () => stack?.model.requests ?? [];
const call = (name: string, args: object | string): Reply => ({ toolCalls: [{ name, arguments: args }] });
const toolsOf = (request: ParsedChatRequest) => request.body.tools?.map((tool) => tool.function.name) ?? [];
const replies =
  (...list: Reply[]): ModelScript =>
  (_request, index) =>
    list[Math.min(index, list.length - 1)] as Reply;
const errorsOf = (events: { data: { kind?: string; error?: string; origin?: string } }[]) =>
  events.flatMap(({ data }) => (data.kind === "error_event" ? [data] : []));

const answerFormat = {
  type: "object",
  properties: { city: { type: "string" }, degrees: { type: "integer" } },
  required: ["city", "degrees"],
  additionalProperties: false,
};

describe("a structured answer", () => {
  it("comes through the finishing tool, after the other tools", async () => {
    const wire = await start(
      replies(call("get_weather", { city: "Rome" }), call("submit_answer", { city: "Rome", degrees: 21 })),
    );
    const id = await wire.create({
      agent: { name: "x", tools: [weatherTool], answer_format: answerFormat },
      messages: "Weather in Rome?",
    });
    await wire.until(id, "awaiting_tool_results");
    await wire.post(
      `/sessions/${id}/tool_results`,
      resultFor((await wire.pending(id))[0] as PendingCall, 21),
    );
    const done = await wire.until(id, "completed");
    expect(done.answer).toEqual({ city: "Rome", degrees: 21 });
    expect(toolsOf(requests()[0] as ParsedChatRequest)).toEqual(["get_weather", "submit_answer"]);
    const session = await wire.get(`/sessions/${id}`);
    expect(session.body.latest_answer).toEqual({ city: "Rome", degrees: 21 });
  });

  it("that does not fit is corrected, with what was wrong", async () => {
    const wire = await start(
      replies(
        call("submit_answer", { city: "Rome" }),
        { text: "21 degrees" },
        call("submit_answer", { city: "Rome", degrees: 21 }),
      ),
    );
    const id = await wire.create({ agent: { name: "x", answer_format: answerFormat }, messages: "Weather?" });
    const done = await wire.until(id, "completed", "failed");
    expect(done.answer).toEqual({ city: "Rome", degrees: 21 });
    expect(lastToolResults(requests()[1] as ParsedChatRequest)[0]?.content).toContain("degrees");
    expect(JSON.stringify(requests()[2]?.body.messages.at(-1))).toContain("submit_answer");
  });

  it("that does not fit a fourth time fails the session with answer_validation", async () => {
    const wire = await start(() => call("submit_answer", { city: 5 }));
    const id = await wire.create({ agent: { name: "x", answer_format: answerFormat }, messages: "Weather?" });
    const done = await wire.until(id, "failed");
    expect(done).toMatchObject({ error_code: "answer_validation", reason: "answer_invalid", answer: null });
    expect(done.error).toContain("city");
    expect(requests()).toHaveLength(4);
    expect(kindsOf(done.new_events).at(-1)).toBe("AgentErrorEvent");
  });
});

describe("a reply without content", () => {
  it("is asked for again, and the answer that follows counts", async () => {
    const wire = await start(replies({ empty: true } as Reply, { text: "Here." }));
    const id = await wire.create({ agent: { name: "x" }, messages: "Hi" });
    expect((await wire.until(id, "completed")).answer).toBe("Here.");
    expect(requests()).toHaveLength(2);
  });

  it("ends the session with no_answer when it comes again and again", async () => {
    const wire = await start(() => ({ empty: true }) as Reply);
    const id = await wire.create({ agent: { name: "x" }, messages: "Hi" });
    const done = await wire.until(id, "failed");
    expect(done).toMatchObject({ error_code: "no_answer", reason: "no_answer" });
    expect(requests()).toHaveLength(3);
  });
});

describe("max_steps", () => {
  const loop: ModelScript = (request) =>
    toolsOf(request).length > 0 ? call("get_weather", { city: "Rome" }) : { text: "So far: sunny." };

  it("gives one more step without tools, whose answer completes the session", async () => {
    const wire = await start(loop);
    const id = await wire.create({
      agent: { name: "x", tools: [weatherTool] },
      messages: "Hi",
      max_steps: 2,
    });
    for (let step = 0; step < 2; step++) {
      await wire.until(id, "awaiting_tool_results");
      await wire.post(
        `/sessions/${id}/tool_results`,
        resultFor((await wire.pending(id))[0] as PendingCall, 1),
      );
    }
    const done = await wire.until(id, "completed");
    expect(done).toMatchObject({ answer: "So far: sunny.", reason: "max_steps" });
    expect(requests()).toHaveLength(3);
  });

  it("fails the session when the last step gives no answer, and asks no model after that", async () => {
    const wire = await start(() => call("get_weather", { city: "Rome" }));
    const id = await wire.create({
      agent: { name: "x", tools: [weatherTool] },
      messages: "Hi",
      max_steps: 1,
    });
    await wire.until(id, "awaiting_tool_results");
    await wire.post(`/sessions/${id}/tool_results`, resultFor((await wire.pending(id))[0] as PendingCall, 1));
    expect(await wire.until(id, "failed")).toMatchObject({ error_code: "no_answer", reason: "max_steps" });
    expect(requests()).toHaveLength(2);
  });
});

describe("calls that cannot be run", () => {
  it.each([
    ["an invented tool", call("get_wether", { city: "Rome" }), "get_weather"],
    ["arguments that do not fit", call("get_weather", { town: "Rome" }), "city"],
  ])("%s reach nobody but the model", async (_what, bad, hint) => {
    const wire = await start(replies(bad, call("get_weather", { city: "Rome" }), { text: "Done." }));
    const id = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Hi" });
    await wire.until(id, "awaiting_tool_results");
    const pending = await wire.pending(id);
    expect(pending.map((entry) => entry.args)).toEqual([{ city: "Rome" }]);
    expect(lastToolResults(requests()[1] as ParsedChatRequest)[0]?.content).toContain(hint);
  });

  it("do not hold up the good ones beside them", async () => {
    const script: ModelScript = (_request, index) =>
      index > 0
        ? { text: "Done." }
        : {
            toolCalls: [
              { name: "nope", arguments: {} },
              { name: "get_weather", arguments: { city: "Rome" } },
            ],
          };
    const wire = await start(script);
    const id = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Hi" });
    await wire.until(id, "awaiting_tool_results");
    await wire.post(
      `/sessions/${id}/tool_results`,
      resultFor((await wire.pending(id))[0] as PendingCall, "sunny"),
    );
    await wire.until(id, "completed");
    const results = lastToolResults(requests()[1] as ParsedChatRequest);
    expect(results.map((result) => result.content)).toEqual([expect.stringContaining("nope"), "sunny"]);
  });

  it("end the session when nothing else comes, again and again", async () => {
    const wire = await start(() => call("nope", {}));
    const id = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Hi" });
    expect(await wire.until(id, "failed")).toMatchObject({ reason: "error_limit" });
  });

  it("get ids of our own, even when the provider repeats one", async () => {
    const twice = [1, 2].map((n) => ({ id: "same", name: "get_weather", arguments: { city: `C${n}` } }));
    const wire = await start((_request, index) => (index === 0 ? { toolCalls: twice } : { text: "Done." }));
    const id = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Hi" });
    await wire.until(id, "awaiting_tool_results");
    const pending = await wire.pending(id);
    expect(new Set(pending.map((entry) => entry.id)).size).toBe(2);
    const results = pending.map((entry) => resultFor(entry, String(entry.args.city)));
    await wire.post(`/sessions/${id}/tool_results`, { type: "batch", results });
    await wire.until(id, "completed");
    const sent = lastToolResults(requests()[1] as ParsedChatRequest);
    expect(sent.map((result) => result.content)).toEqual(["C1", "C2"]);
    expect(new Set(sent.map((result) => result.toolCallId)).size).toBe(2);
  });
});

describe("messages", () => {
  it("that arrive while the model answers make that answer not final", async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const wire = await start(async (_request, index) => {
      if (index === 0) await held;
      return { text: index === 0 ? "First." : "Second." };
    });
    const id = await wire.create({ agent: { name: "x" }, messages: "One" });
    await wire.until(id, "running");
    const sent = await wire.post(`/sessions/${id}/messages`, { type: "user_message", message: "Two" });
    expect(sent.status).toBe(202);
    release();
    const done = await wire.until(id, "completed");
    expect(done.answer).toBe("Second.");
    expect(kindsOf(done.new_events).filter((kind) => kind === "answer_event")).toHaveLength(1);
    expect(requests()[1]?.body.messages.map((message) => message.role)).toEqual([
      "system",
      "user",
      "assistant",
      "user",
    ]);
  });

  it("that a failure did not see start the session again", async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const wire = await start(async (_request, index) => {
      if (index > 0) return { text: "Better." };
      await held;
      return { status: 400, body: { error: { message: "no" } } };
    });
    const id = await wire.create({ agent: { name: "x" }, messages: "One" });
    await wire.until(id, "running");
    expect((await wire.post(`/sessions/${id}/messages`, { message: "Two" })).status).toBe(202);
    release();
    const done = await wire.until(id, "completed");
    expect(done).toMatchObject({ answer: "Better.", error: null, error_code: null });
    expect(kindsOf(done.new_events)).toContain("AgentErrorEvent");
  });

  it("to a session that has ended start it again with its whole history", async () => {
    const wire = await start((_request, index) => ({ text: `Answer ${index + 1}.` }));
    const id = await wire.create({ agent: { name: "x" }, messages: "One" });
    await wire.until(id, "completed");
    const batch = { type: "batch", messages: [{ message: "Two" }, { message: "Three", caller_id: "boss" }] };
    expect((await wire.post(`/sessions/${id}/messages`, batch)).status).toBe(202);
    const { status } = (await wire.get(`/sessions/${id}/status`)).body;
    expect(["pending", "running", "completed"]).toContain(status);
    const done = await wire.until(id, "completed");
    const texts = requests()[1]?.body.messages.map((message) => JSON.stringify(message.content)) ?? [];
    expect(texts.join()).toMatch(/One.*Answer 1.*Two.*Three/);
    expect(done.answer).toBe("Answer 2.");
  });
});

describe("cancelling", () => {
  it("aborts a running model request and keeps the session usable", async () => {
    const wire = await start((_request, index) => (index === 0 ? { hang: true } : { text: "Back." }));
    const id = await wire.create({ agent: { name: "x" }, messages: "One" });
    await wire.until(id, "running");
    while (requests().length === 0) await wire.get(`/sessions/${id}/status`);
    expect((await wire.send("DELETE", `/sessions/${id}`)).status).toBe(204);
    const stopped = await wire.until(id, "interrupted");
    expect(kindsOf(stopped.new_events).at(-1)).toBe("AgentCompletionEvent");
    const { waitFor } = await import("../support/wait-for.ts");
    await waitFor(() => requests()[0]?.aborted === true, { what: "the model request to be aborted" });
    expect((await wire.send("DELETE", `/sessions/${id}`)).status).toBe(204);
    expect((await wire.post(`/sessions/${id}/messages`, { message: "Two" })).status).toBe(202);
    expect((await wire.until(id, "completed")).answer).toBe("Back.");
  });

  it("settles pending calls, and the model hears so after a restart", async () => {
    const wire = await start(replies(call("get_weather", { city: "Rome" }), { text: "Back." }));
    const id = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: "One" });
    await wire.until(id, "awaiting_tool_results");
    const [pending] = await wire.pending(id);
    await wire.send("DELETE", `/sessions/${id}`);
    const stopped = await wire.until(id, "interrupted");
    expect(kindsOf(stopped.new_events).slice(-3)).toEqual([
      "ToolCallCancelledEvent",
      "error_event",
      "AgentCompletionEvent",
    ]);
    const posted = await wire.post(`/sessions/${id}/tool_results`, resultFor(pending as PendingCall, 1));
    expect(posted.body.code).toBe("session_finished");
    await wire.post(`/sessions/${id}/messages`, { message: "Two" });
    await wire.until(id, "completed");
    expect(lastToolResults(requests()[1] as ParsedChatRequest)).toHaveLength(0);
    expect(JSON.stringify(requests()[1]?.body.messages)).toContain("cancelled before a result came");
  });
});

describe("a model provider that fails", () => {
  it("is asked again after a wait when it is overloaded, visibly", async () => {
    const overloaded = { status: 503, body: { error: { message: "overloaded" } } };
    const wire = await start(replies(overloaded, { text: "Now." }));
    const id = await wire.create({ agent: { name: "x" }, messages: "One" });
    const done = await wire.until(id, "completed");
    expect(errorsOf(done.new_events)).toMatchObject([
      { origin: "model", error: expect.stringContaining("overloaded") },
    ]);
  });

  it("ends the session readably when it refuses, and shows no key", async () => {
    const body = { error: { message: "Incorrect API key provided: fake-provider-key" } };
    const wire = await start(() => ({ status: 401, body }));
    const id = await wire.create({ agent: { name: "x" }, messages: "One" });
    const done = await wire.until(id, "failed");
    expect(done).toMatchObject({ error_code: "internal", reason: "provider_refused" });
    expect(done.error).toContain("401");
    expect(JSON.stringify(done)).not.toContain("fake-provider-key");
  });

  it("is cut off when it hangs", async () => {
    const wire = await start((_request, index) => (index === 0 ? { hang: true } : { text: "Now." }), {
      TANDEM_MODEL_TIMEOUT_S: "1",
    });
    const id = await wire.create({ agent: { name: "x" }, messages: "One" });
    const done = await wire.until(id, "completed");
    expect(errorsOf(done.new_events)[0]?.error).toContain("within 1 s");
  });
});

describe("parts that this server does not provide", () => {
  it("are accepted, reported in the events, and do not stop the agent", async () => {
    const wire = await start(() => ({ text: "Hello." }));
    const id = await wire.create({
      agent: { name: "x", environments: [{ kind: "web" }, "my-desktop"] },
      messages: "Hi",
    });
    const done = await wire.until(id, "completed");
    expect(errorsOf(done.new_events)).toMatchObject([
      { origin: "environment", error: expect.stringContaining("web") },
      { origin: "environment", error: expect.stringContaining("my-desktop") },
    ]);
  });
});
