import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lastToolResults, oneToolThenAnswer } from "../support/fake-model-server.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { createWire, kindsOf, resultFor, type Wire, weatherTool } from "../support/wire.ts";

describe.each(backends)("a session with one tool on %s", (backend) => {
  let stack: TestStack;
  let wire: Wire;

  beforeAll(async () => {
    stack = await startStack({ backend, script: oneToolThenAnswer("get_weather", { city: "Paris" }) });
    wire = createWire(stack.baseUrl, apiKey);
  });
  afterAll(() => stack.close());

  it("goes from create to answer and refuses one more result", async () => {
    const created = await wire.post("/sessions", {
      agent: "tandem/assistant",
      messages: "How is the weather in Paris?",
      overrides: { "agent.tools": [weatherTool] },
    });
    expect(created.status).toBe(201);
    const { id } = created.body;

    await wire.until(id, "awaiting_tool_results");
    const [call] = await wire.pending(id);
    expect(call).toMatchObject({ tool_name: "get_weather", args: { city: "Paris" } });
    expect(call?.id).toMatch(/^[A-Za-z0-9_-]{1,40}$/);

    const posted = await wire.post(
      `/sessions/${id}/tool_results`,
      resultFor(call as never, "18 °C and sunny"),
    );
    expect(posted.status).toBe(202);
    expect(posted.body).toEqual({
      receipts: [{ id: call?.id, status: "accepted" }],
      pending: [],
      resumed: true,
    });

    const done = await wire.until(id, "completed");
    expect(done).toMatchObject({ outcome: "success", error: null, reason: "answered" });
    expect(done.answer).toEqual(expect.any(String));
    expect(lastToolResults(stack.model.requests.at(-1) as never)).toMatchObject([
      { content: "18 °C and sunny" },
    ]);

    const late = await wire.post(`/sessions/${id}/tool_results`, resultFor(call as never, "again"));
    expect(late.status).toBe(409);
    expect(late.body.code).toBe("session_finished");
  });

  it("writes the documented events in the documented order", async () => {
    const id = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Weather?" });
    await wire.until(id, "awaiting_tool_results");
    const [call] = await wire.pending(id);
    await wire.post(`/sessions/${id}/tool_results`, resultFor(call as never, { degrees: 18 }));
    const done = await wire.until(id, "completed");
    expect(kindsOf(done.new_events)).toEqual([
      "RequestStartEvent",
      "AgentStartedEvent",
      "message_event",
      "ActiveStateChangeEvent",
      "policy_event",
      "MetricsUpdateEvent",
      "ActiveStateChangeEvent",
      "tool_result",
      "ActiveStateChangeEvent",
      "policy_event",
      "MetricsUpdateEvent",
      "answer_event",
      "AgentCompletionEvent",
    ]);
    expect(done.next_index).toBe(13);
    expect(done.metrics).toEqual({
      steps: 2,
      cost_per_model: [{ name: "compatible/fake", input_tokens: 20, output_tokens: 10, reasoning_tokens: 0 }],
    });
  });
});
