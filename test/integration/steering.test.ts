import { expireSession } from "@tandem/engine/commands/expire-session";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { lastToolResults, type ModelScript } from "../support/fake-model-server.ts";
import { createGate, type Gate } from "../support/gate.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, kindsOf, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

let stack: TestStack;
let wire: Wire;
/** What the model does; each test sets its own. */
let script: ModelScript = () => ({ text: "Hello." });
let gates: Gate[] = [];

const agent = { name: "x", tools: [weatherTool] };
const create = (request: object = {}) => wire.create({ agent, messages: "Hi", ...request });
const steer = (id: string, what: string) => wire.send("POST", `/sessions/${id}/${what}`);
const statusOf = async (id: string) => (await wire.get(`/sessions/${id}/status`)).body;
const gate = () => {
  const made = createGate();
  gates.push(made);
  return made;
};
const askThenAnswer: ModelScript = (request) =>
  lastToolResults(request).length > 0
    ? { text: `Got ${lastToolResults(request)[0]?.content}` }
    : { toolCalls: [{ name: "get_weather", arguments: { city: "Rome" } }] };
const postAll = async (id: string, value: unknown = "sunny") => {
  const calls = await wire.pending(id);
  const results = calls.map((call: PendingCall) => resultFor(call, value));
  return wire.post(`/sessions/${id}/tool_results`, { type: "batch", results });
};
const requestsOf = (text: string) =>
  stack.model.requests.filter(({ body }) => JSON.stringify(body.messages).includes(text));

describe.each(backends)("steering on %s", (backend) => {
  beforeAll(async () => {
    // Sweeps are rare: what is prompt is so without them.
    const env = { TANDEM_SWEEP_MS: "15000" };
    stack = await startStack({ backend, env, script: (...args) => script(...args) });
    wire = createWire(stack.baseUrl, apiKey);
  });
  afterEach(() => {
    for (const made of gates) made.open();
    gates = [];
  });
  afterAll(() => stack.close());

  it("pauses a waiting session at once, takes results meanwhile, and goes on when it is resumed", async () => {
    script = askThenAnswer;
    const id = await create();
    await wire.until(id, "awaiting_tool_results");
    expect((await steer(id, "pause")).status).toBe(202);
    expect((await statusOf(id)).status).toBe("paused");
    expect((await statusOf(id)).waiting_on.what).toBe("resume");

    const asked = stack.model.requests.length;
    const posted = await postAll(id);
    expect(posted.body).toMatchObject({ receipts: [{ status: "accepted" }], pending: [], resumed: false });
    expect((await statusOf(id)).status).toBe("paused");
    expect(stack.model.requests).toHaveLength(asked);

    expect((await steer(id, "resume")).status).toBe(202);
    const done = await wire.until(id, "completed");
    expect(done.answer).toBe("Got sunny");
    const events = done.new_events;
    expect(kindsOf(events).filter((kind) => kind === "flow_event")).toHaveLength(2);
    expect(
      events
        .filter(({ type }: { type: string }) => type === "AgentRunStatusChangeEvent")
        .map(({ data }: { data: { status: string } }) => data.status),
    ).toEqual(["paused", "running"]);
  });

  it("pauses a running session when its step is through, and keeps what the step did", async () => {
    const held = gate();
    script = async (request) => {
      if (lastToolResults(request).length === 0) await held.opened;
      return askThenAnswer(request, 0);
    };
    const id = await create({ messages: "pause while running" });
    await waitFor(() => requestsOf("pause while running").length === 1, { what: "the model request" });
    await steer(id, "pause");
    await steer(id, "pause");
    expect((await statusOf(id)).status).toBe("running");
    held.open();
    await waitFor(async () => (await statusOf(id)).status === "paused", { what: "the pause" });
    expect(await wire.pending(id)).toHaveLength(1);
    await steer(id, "resume");
    expect((await statusOf(id)).status).toBe("awaiting_tool_results");
    await postAll(id);
    const done = await wire.until(id, "completed");
    expect(kindsOf(done.new_events).filter((kind) => kind === "flow_event")).toHaveLength(2);
    expect(requestsOf("pause while running")).toHaveLength(2);
  });

  it("keeps the wait that a failed model asked for through a pause and a message", async () => {
    script = () => ({ status: 429, body: {}, headers: { "retry-after": "60" } });
    const id = await create({ messages: "wait for it" });
    const retry = async () => {
      const { waiting_on: waiting } = await statusOf(id);
      return waiting?.what === "model_retry" && waiting;
    };
    const before = await waitFor(retry, { what: "the retry to be due later" });
    await steer(id, "pause");
    await steer(id, "resume");
    expect(await retry()).toMatchObject({ deadline: before.deadline });
    await steer(id, "pause");
    await wire.post(`/sessions/${id}/messages`, { message: "Well?" });
    expect(await retry()).toMatchObject({ deadline: before.deadline });
    expect(requestsOf("wait for it")).toHaveLength(1);
    await wire.send("DELETE", `/sessions/${id}`);
  });

  it("takes back a pause that waits for the step's end", async () => {
    const held = gate();
    script = async () => {
      await held.opened;
      return { text: "Through." };
    };
    const id = await create({ messages: "pause, no" });
    await waitFor(() => requestsOf("pause, no").length === 1, { what: "the model request" });
    await steer(id, "pause");
    await steer(id, "resume");
    held.open();
    const done = await wire.until(id, "completed");
    expect(kindsOf(done.new_events)).not.toContain("AgentRunStatusChangeEvent");
  });

  it("resumes a paused session by a message, which the model then sees", async () => {
    script = askThenAnswer;
    const id = await create();
    await wire.until(id, "awaiting_tool_results");
    await steer(id, "pause");
    await wire.post(`/sessions/${id}/messages`, { message: "Are you there?" });
    expect((await statusOf(id)).status).toBe("awaiting_tool_results");
    script = () => ({ text: "Yes." });
    await postAll(id);
    await wire.until(id, "completed");
    expect(requestsOf("Are you there?").length).toBeGreaterThan(0);
  });

  it("ends an answered session although a pause was asked for, and refuses to steer it after that", async () => {
    const held = gate();
    script = async () => {
      await held.opened;
      return { text: "The end." };
    };
    const id = await create({ messages: "end wins" });
    await waitFor(() => requestsOf("end wins").length === 1, { what: "the model request" });
    await steer(id, "pause");
    held.open();
    await wire.until(id, "completed");
    for (const what of ["pause", "resume", "force_answer"]) {
      const refused = await steer(id, what);
      expect(refused.status).toBe(409);
      expect(refused.body.code).toBe("session_finished");
    }
    script = () => ({ text: "Again." });
    await wire.post(`/sessions/${id}/messages`, { message: "Once more" });
    await waitFor(async () => (await statusOf(id)).status === "completed", { what: "the second answer" });
  });

  it("cancels a paused session", async () => {
    script = askThenAnswer;
    const id = await create();
    await wire.until(id, "awaiting_tool_results");
    await steer(id, "pause");
    expect((await wire.send("DELETE", `/sessions/${id}`)).status).toBe(204);
    const stopped = await wire.until(id, "interrupted");
    expect(kindsOf(stopped.new_events)).toContain("ToolCallCancelledEvent");
  });

  it("forces an answer: pending calls are settled, and the next step has no tools", async () => {
    script = (request) => (request.body.tools ? askThenAnswer(request, 0) : { text: "As far as I know." });
    const id = await create();
    await wire.until(id, "awaiting_tool_results");
    const [call] = await wire.pending(id);
    expect((await steer(id, "force_answer")).status).toBe(202);
    const done = await wire.until(id, "completed");
    expect(done).toMatchObject({ answer: "As far as I know.", reason: "answered" });
    const cancelled = done.new_events.find(({ type }: { type: string }) => type === "ToolCallCancelledEvent");
    expect(cancelled.data).toMatchObject({ reason: "force_answer", tool_req: { id: call?.id } });
    const last = stack.model.requests.at(-1);
    expect(last?.body.tools).toBeUndefined();
    expect(last?.body.messages.some(({ role }) => role === "tool")).toBe(true);
    expect((await wire.post(`/sessions/${id}/tool_results`, resultFor(call as PendingCall, 1))).status).toBe(
      409,
    );
  });

  it("forces an answer while the model is at work: the calls of its reply are not made", async () => {
    const held = gate();
    script = async (request) => {
      if (!request.body.tools) return { text: "Without tools." };
      await held.opened;
      return { toolCalls: [{ name: "get_weather", arguments: { city: "Oslo" } }] };
    };
    const id = await create({ messages: "force while running" });
    await waitFor(() => requestsOf("force while running").length === 1, { what: "the model request" });
    await steer(id, "force_answer");
    await steer(id, "force_answer");
    held.open();
    const done = await wire.until(id, "completed");
    expect(done.answer).toBe("Without tools.");
    const states = done.new_events
      .filter(({ type }: { type: string }) => type === "ActiveStateChangeEvent")
      .map(({ data }: { data: { state: string } }) => data.state);
    expect(states).toEqual(["running"]);
    expect(kindsOf(done.new_events).filter((kind) => kind === "flow_event")).toHaveLength(1);
  });

  it("fails a forced session that gives no answer", async () => {
    script = (request) => (request.body.tools ? askThenAnswer(request, 0) : { text: "" });
    const id = await create();
    await wire.until(id, "awaiting_tool_results");
    await steer(id, "force_answer");
    const done = await wire.until(id, "failed");
    expect(done).toMatchObject({ error_code: "no_answer", reason: "no_answer" });
  });

  it("keeps an answered session open while it is idle, and completes it when that is over", async () => {
    script = () => ({ text: "Anything else?" });
    const id = await create({ idle_timeout_s: 1 });
    const idle = await wire.until(id, "idle");
    expect(idle).toMatchObject({ answer: "Anything else?", finished_at: null });
    expect(idle.new_events.at(-1)).toMatchObject({
      type: "ActiveStateChangeEvent",
      data: { state: "idle" },
    });
    const done = await wire.until(id, "completed");
    expect(done).toMatchObject({ answer: "Anything else?", reason: "idle_timeout", outcome: "success" });
    expect(kindsOf(done.new_events).at(-1)).toBe("AgentCompletionEvent");
  });

  it("leaves idle before a message is acknowledged, and answers it", async () => {
    script = (request) => ({
      text: `Answer ${request.body.messages.filter(({ role }) => role === "user").length}`,
    });
    const id = await create({ idle_timeout_s: 600 });
    await wire.until(id, "idle");
    const waiting = (await statusOf(id)).waiting_on;
    expect(waiting.what).toBe("message");
    expect(Date.parse(waiting.deadline) - Date.parse(waiting.since)).toBeGreaterThan(500_000);
    const held = gate();
    script = async (request) => {
      await held.opened;
      return { text: `Answer ${request.body.messages.filter(({ role }) => role === "user").length}` };
    };
    await wire.post(`/sessions/${id}/messages`, { message: "And now?" });
    const now = (await wire.get(`/sessions/${id}/changes`)).body;
    expect(now).toMatchObject({ status: "running", answer: null, outcome: null });
    await waitFor(() => requestsOf("And now?").length === 1, { what: "the model request" });
    held.open();
    const again = await wire.until(id, "idle");
    expect(again.answer).toBe("Answer 2");
    await wire.send("DELETE", `/sessions/${id}`);
    const stopped = (await wire.get(`/sessions/${id}`)).body;
    expect(stopped).toMatchObject({ latest_answer: "Answer 2", status: { status: "interrupted" } });
  });

  it("does not count the wait for a message while an idle session is paused", async () => {
    script = () => ({ text: "Idle." });
    const id = await create({ idle_timeout_s: 600 });
    await wire.until(id, "idle");
    const idleUntil = async () => {
      const { rows } = await stack.engine.pool.query("SELECT idle_until FROM sessions WHERE id = $1", [id]);
      return rows[0].idle_until as Date | null;
    };
    const before = await idleUntil();
    await steer(id, "pause");
    expect(await idleUntil()).toBeNull();
    await expireSession(stack.engine, id);
    expect((await statusOf(id)).status).toBe("paused");
    await steer(id, "resume");
    expect(Number(await idleUntil())).toBeGreaterThan(Number(before));
    await stack.engine.pool.query("UPDATE sessions SET idle_until = now() WHERE id = $1", [id]);
    await expireSession(stack.engine, id);
    expect((await wire.until(id, "completed")).reason).toBe("idle_timeout");
  });

  it("ends an idle session's new task in time, promptly", async () => {
    script = () => ({ text: "Idle." });
    const id = await create({ idle_timeout_s: 600, max_time_s: 1, messages: "prompt again" });
    await wire.until(id, "idle");
    script = (request) => (request.body.tools ? { hang: true } : { text: "In time." });
    await wire.post(`/sessions/${id}/messages`, { message: "Hang, please" });
    expect((await wire.until(id, "timed_out")).answer).toBe("In time.");
  });

  it("starts a session again, with tools, for a message that the forced answer did not see", async () => {
    const held = gate();
    script = (request) => (request.body.tools ? askThenAnswer(request, 0) : { text: "Forced." });
    const id = await create({ messages: "forced and stale" });
    await wire.until(id, "awaiting_tool_results");
    script = async (request) => {
      if (!request.body.tools) await held.opened;
      return request.body.tools ? { text: "Seen." } : { text: "Forced." };
    };
    await steer(id, "force_answer");
    await waitFor(() => requestsOf("forced and stale").length === 2, { what: "the last step" });
    await wire.post(`/sessions/${id}/messages`, { message: "One more thing" });
    held.open();
    const done = await waitFor(
      async () => {
        const seen = (await wire.get(`/sessions/${id}/changes`)).body;
        return seen.answer === "Seen." && seen;
      },
      { what: "the answer that saw the message" },
    );
    const answers = done.new_events.filter(
      ({ data }: { data: { kind?: string } }) => data.kind === "answer_event",
    );
    expect(answers.map(({ data }: { data: { answer: string } }) => data.answer)).toEqual([
      "Forced.",
      "Seen.",
    ]);
    expect(done.reason).toBe("answered");
  });

  it("keeps a message that a cancel leaves unanswered in the history", async () => {
    const held = gate();
    script = async () => {
      await held.opened;
      return { text: "Never." };
    };
    const id = await create({ messages: "cancel me" });
    await waitFor(() => requestsOf("cancel me").length === 1, { what: "the model request" });
    await wire.post(`/sessions/${id}/messages`, { message: "Unheard" });
    await wire.send("DELETE", `/sessions/${id}`);
    const kinds = kindsOf((await wire.get(`/sessions/${id}/changes`)).body.new_events);
    expect(kinds.slice(-2)).toEqual(["message_event", "AgentCompletionEvent"]);
  });

  it("tells of a restart in the events at once", async () => {
    script = () => ({ text: "Once." });
    const id = await create();
    const { next_index: end } = await wire.until(id, "completed");
    const held = gate();
    script = async () => {
      await held.opened;
      return { text: "Twice." };
    };
    await wire.post(`/sessions/${id}/messages`, { message: "Again" });
    const news = (await wire.get(`/sessions/${id}/changes?from_index=${end}`)).body;
    expect(news.new_events[0].type).toBe("RequestStartEvent");
    held.open();
    await wire.until(id, "completed");
  });

  it("gives a session whose time is over one last step without tools, and times it out with its answer", async () => {
    script = (request) => (request.body.tools ? askThenAnswer(request, 0) : { text: "Half of it." });
    const id = await create({ max_time_s: 1.5 });
    await wire.until(id, "awaiting_tool_results");
    expect(Date.parse((await statusOf(id)).waiting_on.deadline)).toBeGreaterThan(0);
    const done = await wire.until(id, "timed_out");
    expect(done).toMatchObject({
      answer: "Half of it.",
      outcome: "success",
      reason: "max_time",
      error_code: "timeout",
    });
    expect(done.new_events.at(-1)).toMatchObject({
      type: "AgentCompletionEvent",
      data: { reason: "timed_out" },
    });
    expect(kindsOf(done.new_events)).toContain("ToolCallCancelledEvent");
    script = () => ({ text: "With time again." });
    await wire.post(`/sessions/${id}/messages`, { message: "Go on" });
    expect((await wire.until(id, "completed")).answer).toBe("With time again.");
  });

  it("aborts a model request when the session's time is over", async () => {
    script = (request) => (request.body.tools ? { hang: true } : { text: "Late." });
    const id = await create({ max_time_s: 1, messages: "hangs on" });
    const done = await wire.until(id, "timed_out");
    expect(done.answer).toBe("Late.");
    const [first] = requestsOf("hangs on");
    await waitFor(() => first?.aborted === true, { what: "the request to be aborted" });
  });

  it("does not count paused time", async () => {
    script = askThenAnswer;
    const id = await create({ max_time_s: 600 });
    await wire.until(id, "awaiting_tool_results");
    const before = Date.parse((await statusOf(id)).waiting_on.deadline);
    await steer(id, "pause");
    expect((await statusOf(id)).waiting_on.deadline).toBeNull();
    const { rows } = await stack.engine.pool.query(
      "UPDATE sessions SET time_left_ms = time_left_ms - 300000 WHERE id = $1 RETURNING time_left_ms AS left",
      [id],
    );
    expect(rows[0].left).toBeGreaterThan(200_000);
    await steer(id, "resume");
    const after = Date.parse((await statusOf(id)).waiting_on.deadline);
    expect(before - after).toBeGreaterThan(250_000);
    await wire.send("DELETE", `/sessions/${id}`);
  });

  it("ends a last step that takes too long as timed out, without an answer", async () => {
    script = (request) => (request.body.tools ? askThenAnswer(request, 0) : { hang: true });
    const id = await create({ max_time_s: 0.5, messages: "never answers" });
    await waitFor(() => requestsOf("never answers").some(({ body }) => !body.tools), {
      what: "the last step",
    });
    await stack.engine.pool.query("UPDATE sessions SET time_limit_at = now() WHERE id = $1", [id]);
    await expireSession(stack.engine, id);
    const done = await wire.until(id, "timed_out");
    expect(done).toMatchObject({ answer: null, error_code: "timeout", reason: "max_time" });
    const last = requestsOf("never answers").at(-1);
    await waitFor(() => last?.aborted === true, { what: "the last request to be aborted" });
  });
});

it("does what a clock made due although the queue lost the timer", async () => {
  const lossy = await startStack({ worker: false, script: () => ({ text: "Idle." }) });
  const { engine } = await lossy.addWorker({ TANDEM_SWEEP_MS: "100" });
  engine.queue.addTimer = () => Promise.reject(new Error("the queue is away"));
  const { create: createOn, until } = createWire(lossy.baseUrl, apiKey);
  const id = await createOn({ agent, messages: "Hi", idle_timeout_s: 1 });
  expect((await until(id, "completed")).reason).toBe("idle_timeout");
  await lossy.close();
});

it.each(backends)(
  "meets deadlines that passed while no process ran, from the database alone, on %s",
  async (backend) => {
    const answerAtLast: ModelScript = (request) =>
      request.body.tools ? askThenAnswer(request, 0) : { text: "At last." };
    const first = await startStack({ backend, worker: false, script: answerAtLast });
    const before = await first.addWorker();
    const { create: createOn, until, send } = createWire(first.baseUrl, apiKey);
    const timed = await createOn({ agent, messages: "Hi", max_time_s: 600 });
    await until(timed, "awaiting_tool_results");
    const idle = await createOn({ agent, messages: "Hi", idle_timeout_s: 600 });
    await until(idle, "awaiting_tool_results");
    await send("POST", `/sessions/${idle}/force_answer`);
    await until(idle, "idle");
    await before.close();
    await first.redis?.flush();
    await first.engine.pool.query(
      `UPDATE sessions SET time_limit_at = time_limit_at - interval '1 hour', idle_until = idle_until - interval '1 hour'`,
    );
    await first.addWorker({ TANDEM_SWEEP_MS: "100" });
    expect(await until(timed, "timed_out")).toMatchObject({ answer: "At last.", reason: "max_time" });
    expect((await until(idle, "completed")).reason).toBe("idle_timeout");
    await first.close();
  },
);
