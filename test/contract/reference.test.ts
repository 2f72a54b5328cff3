import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { type PendingCall, resultFor, weatherTool } from "../support/wire.ts";
import {
  type CheckedWire,
  type Contract,
  createCheckedWire,
  createContract,
  readOpenApi,
} from "./checked-wire.ts";
import { answerFormat, createScriptedModel, image, nobody } from "./scripted-model.ts";

describe("replies of the session routes", () => {
  let contract: Contract;
  let stack: TestStack;
  let wire: CheckedWire;

  beforeAll(async () => {
    contract = await createContract();
    stack = await startStack({ script: createScriptedModel() });
    wire = createCheckedWire(contract, stack.baseUrl, apiKey);
  });
  afterAll(() => stack?.close());

  const agent = { name: "weather-agent", tools: [weatherTool] };

  it("fit both documents while a session waits for a worker, and after it is cancelled there", async () => {
    const idle = await startStack({ script: createScriptedModel(), worker: false });
    try {
      wire = createCheckedWire(contract, idle.baseUrl, apiKey);
      const id = await wire.create({ agent, messages: "Hello." });
      expect((await wire.look(id)).body).toMatchObject({ status: { status: "pending" }, started_at: null });
      expect((await wire.send("DELETE", `/sessions/${id}`)).status).toBe(204);
      expect((await wire.look(id)).body).toMatchObject({ status: { status: "interrupted" } });
    } finally {
      wire = createCheckedWire(contract, stack.baseUrl, apiKey);
      await idle.close();
    }
  });

  it("fit both documents while the model runs, and after it is cancelled there", async () => {
    const id = await wire.create({ agent, messages: "hang" });
    await wire.until(id, "running");
    await wire.look(id);
    await wire.send("DELETE", `/sessions/${id}`);
    expect((await wire.look(id)).body.status).toMatchObject({ status: "interrupted", reason: "cancelled" });
    expect((await wire.send("DELETE", `/sessions/${id}`)).status).toBe(204);
  });

  it("fit both documents while one call waits, and after its result and the answer", async () => {
    const id = await wire.create({ agent, messages: "ask 1" });
    const [call] = await wire.pending(id);
    await wire.look(id);
    const posted = await wire.post(`/sessions/${id}/tool_results`, resultFor(call as PendingCall, { c: 18 }));
    expect(posted.body.receipts).toEqual([{ id: call?.id, status: "accepted" }]);
    await wire.until(id, "completed");
    expect((await wire.look(id)).body).toMatchObject({ latest_answer: "It is 18 °C." });
    const late = await wire.post(`/sessions/${id}/tool_results`, resultFor(call as PendingCall, "again"));
    expect(late).toMatchObject({ status: 409, body: { code: "session_finished" } });
  });

  it("fit both documents while three calls settle one by one, in every form of body", async () => {
    const id = await wire.create({ agent, messages: "ask 3" });
    const [first, second, third] = (await wire.pending(id)) as [PendingCall, PendingCall, PendingCall];
    const path = `/sessions/${id}/tool_results`;
    await wire.post(path, { tool_req: { ...second, id: null }, result: null, truncated: true });
    await wire.look(id);
    await wire.post(path, { error: "The sensor is gone.", origin: "client", tool_req: first });
    const repeat = await wire.post(path, {
      kind: "error_event",
      error: "Other.",
      origin: "client",
      tool_req: first,
    });
    expect(repeat).toMatchObject({ status: 409, body: { code: "result_conflict" } });
    const stranger = await wire.post(path, resultFor({ ...first, id: "call_of_nobody" }, 1));
    expect(stranger).toMatchObject({ status: 404, body: { code: "calls_unknown" } });
    const batch = { type: "batch", results: [resultFor(third, [1, "x", null]), resultFor(first, 2)] };
    expect(
      (await wire.post(path, batch)).body.receipts.map((entry: { status: string }) => entry.status),
    ).toEqual(["accepted", "conflict"]);
    await wire.until(id, "completed");
    await wire.look(id);
  });

  it("fit both documents while a call is claimed, and for a session token", async () => {
    const id = await wire.create({ agent, messages: "ask 1" });
    const [call] = (await wire.pending(id)) as [PendingCall];
    const claim = { claimant: "one", lease_s: 60 };
    expect((await wire.get(`/tool_calls?tools=${call.tool_name}`)).body.items.at(-1)).toMatchObject({ call });
    expect((await wire.post(`/sessions/${id}/tool_calls/${call.id}/claim`, claim)).status).toBe(200);
    expect((await wire.get(`/sessions/${id}/tool_calls`)).body.items).toMatchObject([{ claimant: "one" }]);
    const { token } = (await wire.post(`/sessions/${id}/tokens`, { expires_in_s: 60 })).body;
    const browser = createCheckedWire(contract, stack.baseUrl, token);
    expect((await browser.get(`/sessions/${id}/status`)).body.status).toBe("awaiting_tool_results");
    expect((await browser.post(`/sessions/${id}/tool_results`, resultFor(call, 1))).status).toBe(202);
    await wire.until(id, "completed");
  });

  it("fit both documents from an approval over progress to the end, and for other tools", async () => {
    const careful = { ...agent, approval: "always", tool_timeout_s: 600 };
    const id = await wire.create({ agent: careful, messages: "ask 1" });
    await wire.until(id, "awaiting_approval");
    const [{ id: callId }] = (await wire.get(`/sessions/${id}/tool_calls`)).body.items;
    const decision = { call_id: callId, decision: "allow" };
    expect((await wire.post(`/sessions/${id}/approvals`, decision)).status).toBe(202);
    const [call] = (await wire.pending(id)) as [PendingCall];
    const progress = await wire.post(`/sessions/${id}/tool_calls/${callId}/progress`, {
      progress: { done: 1 },
    });
    expect(progress).toMatchObject({ status: 202, body: { deadline: expect.any(String) } });
    expect((await wire.post(`/sessions/${id}/tool_results`, resultFor(call, 1))).status).toBe(202);
    await wire.until(id, "completed");
    await wire.look(id);
    const replaced = await wire.send("PUT", `/sessions/${id}/tools`, { body: { tools: [] } });
    expect(replaced).toMatchObject({ status: 200, body: { items: [] } });
  });

  it("fit both documents after the content of an ephemeral session is removed", async () => {
    const id = await wire.create({ agent, messages: "Hello.", ephemeral: true });
    await wire.until(id, "completed");
    await stack.engine.pool.query(
      "UPDATE sessions SET finished_at = now() - interval '1 hour' WHERE id = $1",
      [id],
    );
    const isEmpty = async () => (await wire.get(`/sessions/${id}/events`)).body.total === 0;
    await waitFor(isEmpty, { what: "the content to be removed" });
    expect((await wire.look(id)).body).toMatchObject({ latest_answer: null, request: { messages: null } });
    const { items } = (await wire.get("/sessions")).body;
    expect(items[0]).toMatchObject({ id, first_message: null, anonymized_at: expect.any(String) });
  });

  it("fit both documents after a cancel with pending calls, a message that restarts, and a late result", async () => {
    const id = await wire.create({ agent, messages: "ask 3" });
    const calls = await wire.pending(id);
    await wire.send("DELETE", `/sessions/${id}`);
    await wire.look(id);
    expect((await wire.post(`/sessions/${id}/messages`, { message: "ask 1", images: [image] })).status).toBe(
      202,
    );
    await wire.pending(id);
    const late = await wire.post(`/sessions/${id}/tool_results`, resultFor(calls[0] as PendingCall, "late"));
    expect(late).toMatchObject({ status: 409, body: { receipts: [{ status: "late" }] } });
    const events = await wire.until(id, "awaiting_tool_results");
    const types = events.map((event) => event.type);
    expect(types).toContain("LateToolResultEvent");
    expect(types.filter((type) => type === "ToolCallCancelledEvent")).toHaveLength(3);
    await wire.look(id);
  });

  it("fit both documents after a message restarts a completed session", async () => {
    const id = await wire.create({ agent, messages: "Hello." });
    await wire.until(id, "completed");
    const batch = {
      type: "batch",
      messages: [{ message: "One more." }, { message: "hang", caller_id: "somebody" }],
    };
    expect((await wire.post(`/sessions/${id}/messages`, batch)).status).toBe(202);
    await wire.until(id, "running");
    expect((await wire.look(id)).body).toMatchObject({ latest_answer: "It is 18 °C.", finished_at: null });
    await wire.send("DELETE", `/sessions/${id}`);
  });

  it("fit both documents with a structured answer", async () => {
    const id = await wire.create({ agent: { ...agent, answer_format: answerFormat }, messages: "submit" });
    await wire.until(id, "completed");
    expect((await wire.get(`/sessions/${id}/tools`)).body.items).not.toHaveLength(0);
    expect((await wire.look(id)).body.latest_answer).toEqual({ city: "Paris", degrees: 18 });
  });

  it.each([
    { why: "the provider refuses", message: "refuse", code: "internal", reason: "provider_refused" },
    {
      why: "no answer fits its format",
      message: "submit badly",
      code: "answer_validation",
      reason: "answer_invalid",
    },
    { why: "the model stays silent", message: "say nothing", code: "no_answer", reason: "no_answer" },
  ])("fit both documents when a session fails because $why", async ({ message, code, reason }) => {
    const id = await wire.create({ agent: { ...agent, answer_format: answerFormat }, messages: message });
    const events = await wire.until(id, "failed");
    expect(events.at(-1)?.type).toBe("AgentErrorEvent");
    expect((await wire.look(id)).body.status).toMatchObject({
      error_code: code,
      reason,
      error: expect.any(String),
    });
  });

  it("fit both documents when a model request is tried again", async () => {
    const id = await wire.create({ agent, messages: "hiccup" });
    const events = await wire.until(id, "completed");
    expect(events.map(({ data }) => data.origin)).toContain("model");
    await wire.look(id);
  });

  it("fit both documents when the model asks for what nobody can run", async () => {
    const id = await wire.create({ agent, messages: "ask nonsense" });
    const events = await wire.until(id, "completed");
    const refused = events.filter(({ data }) => data.kind === "error_event" && data.tool_req);
    expect(refused).toHaveLength(4);
    await wire.look(id);
  });

  it("fit both documents with messages in every form, images too", async () => {
    for (const messages of [
      "Text.",
      { message: "One.", images: [image] },
      [{ message: "a" }, { message: "b" }],
      null,
    ]) {
      const id = await wire.create({ agent, messages });
      await wire.until(id, "completed");
      await wire.look(id);
    }
  });

  it("fit both documents with every field of a request set", async () => {
    const request = {
      agent: { ...agent, model: "compatible/other", instructions: "Be brief." },
      messages: "Hello.",
      max_steps: 3,
      max_time_s: 12.5,
      idle_timeout_s: 1,
      delete_after_min: null,
      delete_screenshot_after_min: 5,
      queue: false,
      group_id: "a group",
      parent_session_id: nobody,
      overrides: { "agent.instructions": "Be kind.", "agent.tools": [{ ...weatherTool, name: "other" }] },
    };
    const reply = await wire.post("/sessions", { ...request, idle_timeout_s: null });
    expect(reply.status).toBe(201);
    await wire.look(reply.body.id);
    await wire.until(reply.body.id, "completed");
  });

  it.each<{ what: string; overrides: object; status: number }>([
    { what: "a field of the agent", overrides: { "agent.instructions": "Be kind." }, status: 201 },
    { what: "one more tool", overrides: { "agent.tools": [{ ...weatherTool, name: "other" }] }, status: 201 },
    { what: "the messages", overrides: { messages: "Hello." }, status: 201 },
    { what: "a bound and the queue", overrides: { max_steps: 3, queue: false }, status: 201 },
    {
      what: "a member of a list",
      overrides: { "agent.environments[kind=web].start_url": "x:y" },
      status: 201,
    },
    { what: "a bound that is too low", overrides: { max_steps: 0 }, status: 422 },
    { what: "a field that there is not", overrides: { "agent.mood": "good" }, status: 422 },
    { what: "a value of another type", overrides: { "agent.instructions": 5 }, status: 422 },
    {
      what: "a member that there is not",
      overrides: { "agent.environments[kind=desktop].id": "x" },
      status: 422,
    },
    { what: "an agent by another's name", overrides: { agent: "tandem/assistant" }, status: 422 },
  ])("fit both documents with an override of $what", async ({ overrides, status }) => {
    const request = { agent: { ...agent, environments: [{ kind: "web" }] }, messages: "Hello.", overrides };
    const reply = await wire.post("/sessions", request);
    expect(reply.status).toBe(status);
    if (status === 201) await wire.until(reply.body.id, "completed");
    else expect(reply.body.detail[0].loc).toEqual(["body", "overrides", Object.keys(overrides)[0]]);
  });

  it("fit both documents for every filter of the list", async () => {
    const filters = [
      "owner=organization",
      "status=running&status=completed",
      `status=${encodeURIComponent('["completed"]')}`,
      "agent=weather-agent",
      `group_id=${encodeURIComponent("a group")}`,
      `parent_session_id=${nobody}`,
      `schedule_id=${nobody}`,
      "search=HELLO",
      "created_after=2020-01-01T00:00:00Z&created_before=2100-01-01T00:00:00Z",
      "finished_after=2020-01-01T00:00:00Z&finished_before=2100-01-01T00:00:00Z",
      "page=2&size=1&sort=created_at",
    ];
    for (const filter of filters) expect((await wire.get(`/sessions?${filter}`)).status).toBe(200);
  });

  it("fit both documents while a session is paused, resumed and forced to answer", async () => {
    const id = await wire.create({ agent, messages: "ask 3", max_time_s: 600, idle_timeout_s: 600 });
    await wire.pending(id);
    for (const [steer, status] of [
      ["pause", "paused"],
      ["resume", "awaiting_tool_results"],
      ["force_answer", "idle"],
    ] as const) {
      expect((await wire.send("POST", `/sessions/${id}/${steer}`)).status).toBe(202);
      await wire.until(id, status);
      await wire.look(id);
    }
    expect((await wire.get("/sessions/quota")).body).toMatchObject({
      scope: "org",
      available: expect.any(Number),
    });
    await wire.send("DELETE", `/sessions/${id}`);
  });

  it("fit both documents when nothing is new", async () => {
    const id = await wire.create({ agent, messages: "Hello." });
    const { length } = await wire.until(id, "completed");
    const reply = await wire.get(`/sessions/${id}/changes?from_index=${length}&wait_for_seconds=1`);
    expect(reply).toMatchObject({ status: 204, body: "" });
    expect(reply.headers.get("etag")).toBe(`"${length}"`);
  });

  it("fit our document in a stream, and when there is nothing to stream", async () => {
    const id = await wire.create({ agent, messages: "Hello." });
    const { length } = await wire.until(id, "completed");
    const stream = await wire.get(`/sessions/${id}/stream`);
    expect(stream.text.match(/^id: \d+$/gm)).toHaveLength(length);
    expect(stream.text.match(/^event: state$/gm)).toHaveLength(1);
    expect((await wire.get(`/sessions/${id}/stream?from_index=${length}`)).status).toBe(204);
  });

  it("fit our document for checks of tools, which the reference does not have", async () => {
    const tools = [
      { name: "a", description: "d", strict: true, input_schema: { anyOf: [{ properties: { b: {} } }] } },
      { name: "1", description: "d" },
      {},
    ];
    const { body } = await wire.post("/tools/check", { model: "demo/keyword", tools });
    expect(body.items).toMatchObject([
      { accepted: true, strict: false },
      { accepted: false },
      { name: null },
    ]);
  });

  it("fit our document for keys, which the reference does not have", async () => {
    const admin = createCheckedWire(contract, stack.baseUrl, await stack.addKey({ isAdmin: true }));
    const made = await admin.post("/keys", { organization: "acme" });
    expect((await admin.get("/keys")).body.total).toBe(3);
    expect((await admin.send("DELETE", `/keys/${made.body.id}`)).status).toBe(204);
    expect((await admin.get("/keys?organization=acme")).body).toMatchObject({ total: 1 });
  });

  it("fit both documents for a session that is shared, and with feedback", async () => {
    const id = await wire.create({ agent, messages: "Hello." });
    await wire.until(id, "completed");
    const { body } = await wire.post(`/sessions/${id}/share`, undefined);
    const stranger = createCheckedWire(contract, stack.baseUrl, "no-key");
    const path = new URL(body.share_url).pathname.replace("/api/v2", "");
    expect((await stranger.get(path)).body.status).toMatchObject({ status: "completed" });
    expect((await stranger.get(`${path}/status`)).status).toBe(200);
    expect((await stranger.get(`${path}/events?type=AgentEvent&size=1`)).body.items).toHaveLength(1);
    expect((await wire.send("DELETE", `/sessions/${id}/share`)).status).toBe(204);
    const feedback = { success: false, message: "Wrong." };
    expect((await wire.post(`/sessions/${id}/feedback`, feedback)).status).toBe(204);
    expect((await wire.send("PUT", `/sessions/${id}/events/1/feedback`, { body: feedback })).status).toBe(
      204,
    );
    expect((await wire.get(`/sessions/${id}/feedback`)).body.items).toHaveLength(2);
  });

  it("fit both documents for the server's own routes, which need no key", async () => {
    const stranger = createCheckedWire(contract, stack.baseUrl, "no-key");
    expect((await stranger.get("//healthz")).body).toEqual({ status: "ok" });
    expect((await stranger.get("//readyz")).body).toEqual({ status: "ready" });
  });

  it("have the document that is committed at /openapi.json", async () => {
    const response = await fetch(`${stack.baseUrl}/openapi.json`);
    expect(await response.json()).toEqual(await readOpenApi());
  });

  it("were seen for every success that is documented", () => {
    const unseen = contract.listUnseen().filter((reply) => !reply.includes("Agent") && / 2\d\d$/.test(reply));
    expect(unseen).toEqual([]);
  });
});
