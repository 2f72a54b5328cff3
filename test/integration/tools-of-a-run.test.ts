import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lastToolResults, type ModelScript, type Reply } from "../support/fake-model-server.ts";
import { createGate, type Gate } from "../support/gate.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { createWire, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

const keep = { ...weatherTool, name: "keep", approval: "always" };
const other = { ...weatherTool, name: "other", approval: "always" };
const plain = { ...weatherTool, name: "plain" };

interface Seen {
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: events of every shape
  data: any;
}

describe("tools that are replaced", () => {
  let stack: TestStack;
  let wire: Wire;
  const gates = new Map<string, Gate>();

  /** Calls the tools that the message names after its first word; `held` ones wait for the gate of the third. */
  const script: ModelScript = async (request): Promise<Reply> => {
    const results = lastToolResults(request);
    if (results.length > 0) return { text: results.map(({ content }) => content).join(" | ") };
    const text = String(request.body.messages.findLast(({ role }) => role === "user")?.content);
    const [how = "", ...names] = text.split(" ");
    await gates.get(how)?.opened;
    return { toolCalls: names.map((name) => ({ name, arguments: { city: "Oslo" } })) };
  };

  beforeAll(async () => {
    stack = await startStack({ script });
    wire = createWire(stack.baseUrl, apiKey);
  });
  afterAll(() => stack?.close());

  const start = (messages: string, tools: object[]) => wire.create({ agent: { name: "x", tools }, messages });
  const put = (id: string, tools: object[]) => wire.send("PUT", `/sessions/${id}/tools`, { body: { tools } });
  const message = (id: string, text: string) => wire.post(`/sessions/${id}/messages`, { message: text });
  const decide = (id: string, approvals: object[]) => wire.post(`/sessions/${id}/approvals`, { approvals });
  const offered = () => stack.model.requests.at(-1)?.body.tools?.map((tool) => tool.function.name) ?? [];
  const openOf = async (id: string): Promise<{ pending: PendingCall[]; approvals: PendingCall[] }> => {
    const { new_events } = (await wire.get(`/sessions/${id}/changes`)).body;
    const { data } = new_events.findLast(({ type }: Seen) => type === "ActiveStateChangeEvent");
    return { pending: data.pending_tool_calls ?? [], approvals: data.pending_approvals ?? [] };
  };
  /** Starts a session whose first request the model holds until the gate is open. */
  const hold = async (name: string, tools: object[], calls: string) => {
    const gate = createGate();
    gates.set(name, gate);
    const id = await start(`${name} ${calls}`, tools);
    const isAsked = () =>
      stack.model.requests.some(({ body }) => JSON.stringify(body.messages).includes(`${name} ${calls}`));
    await expect.poll(isAsked, { timeout: 20_000 }).toBe(true);
    return { id, gate };
  };

  it("wait for calls that need a decision, and may be replaced when all are denied", async () => {
    const id = await start("ask keep", [keep]);
    await wire.until(id, "awaiting_approval");
    expect(await put(id, [plain])).toMatchObject({ status: 409, body: { code: "calls_pending" } });
    await decide(id, [{ call_id: (await openOf(id)).approvals[0]?.id, decision: "deny" }]);
    await wire.until(id, "completed");
    expect((await put(id, [plain])).status).toBe(200);
    await message(id, "ask plain");
    await wire.until(id, "awaiting_tool_results");
    expect(offered()).toEqual(["plain"]);
  });

  it("keep a remembered decision only where the tool is the same, in whatever order its keys come", async () => {
    const id = await start("ask keep other", [keep, other]);
    await wire.until(id, "awaiting_approval");
    const { approvals } = await openOf(id);
    const remember = "session";
    await decide(
      id,
      approvals.map((call) => ({ call_id: call.id, decision: "allow", remember })),
    );
    for (const call of approvals) await wire.post(`/sessions/${id}/tool_results`, resultFor(call, "done"));
    await wire.until(id, "completed");
    const turned = Object.fromEntries(Object.entries(keep).reverse());
    await put(id, [{ ...other, title: "Another" }, turned]);
    await message(id, "ask keep other");
    await wire.until(id, "awaiting_tool_results");
    const open = await openOf(id);
    expect(open.pending).toMatchObject([{ tool_name: "keep" }]);
    expect(open.approvals).toMatchObject([{ tool_name: "other", reason: "tool" }]);
  });

  it("forget a decision with the tool: it does not come back when the tool does", async () => {
    const id = await start("ask keep", [keep]);
    await wire.until(id, "awaiting_approval");
    const [call] = (await openOf(id)).approvals;
    await decide(id, [{ call_id: call?.id, decision: "deny", remember: "session" }]);
    await wire.until(id, "completed");
    await put(id, [plain]);
    await put(id, [keep]);
    await message(id, "ask keep");
    expect((await wire.until(id, "awaiting_approval", "completed")).status).toBe("awaiting_approval");
  });

  it("while the model is asked, are not called when they are others now, and it is told at once", async () => {
    const { id, gate } = await hold("first", [plain, keep], "plain");
    expect((await put(id, [{ ...plain, description: "Does something else." }])).status).toBe(200);
    gate.open();
    const { answer, new_events } = await wire.until(id, "completed");
    expect(answer).toMatch(/^Error: The call was not made: the tool was replaced or removed/);
    expect(new_events.some(({ data }: Seen) => data.state === "awaiting_tool_results")).toBe(false);
    const { items } = (await wire.get(`/sessions/${id}/tool_calls`)).body;
    expect(items).toMatchObject([{ state: "refused", settled_by: "server" }]);
    const texts = stack.model.requests.map(({ body }) => body.tools?.[0]?.function.description);
    expect(texts.at(-1)).toBe("Does something else.");
  });

  it("while the model is asked, are called when the same are put, and need what they needed", async () => {
    const { id, gate } = await hold("second", [plain, keep], "keep plain");
    await put(id, [Object.fromEntries(Object.entries(keep).reverse()), plain]);
    gate.open();
    await wire.until(id, "awaiting_tool_results");
    const { pending, approvals } = await openOf(id);
    expect([...pending, ...approvals].map(({ tool_name }) => tool_name)).toEqual(["plain", "keep"]);
  });

  it("count from the next request of a paused session", async () => {
    const { id, gate } = await hold("third", [plain], "plain");
    await wire.post(`/sessions/${id}/pause`, undefined);
    gate.open();
    await wire.until(id, "paused");
    expect((await put(id, [keep])).body.code).toBe("calls_pending");
    const [call] = (await openOf(id)).pending;
    await wire.post(`/sessions/${id}/tool_results`, resultFor(call as PendingCall, "done"));
    expect((await put(id, [keep])).status).toBe(200);
    await wire.post(`/sessions/${id}/resume`, undefined);
    expect((await wire.until(id, "completed")).answer).toBe("done");
    expect(offered()).toEqual(["keep"]);
  });

  it("are refused as when a session is made, with their place, and stay as they were", async () => {
    const id = await start("ask plain", [plain]);
    await wire.until(id, "awaiting_tool_results");
    const { pending } = await openOf(id);
    await wire.post(`/sessions/${id}/tool_results`, resultFor(pending[0] as PendingCall, "done"));
    await wire.until(id, "completed");
    const locOf = async (tools: object[]) => (await put(id, tools)).body.detail[0].loc;
    expect(await locOf([plain, { ...plain, name: "1st" }])).toEqual(["body", "tools", 1, "name"]);
    expect(await locOf([plain, plain])).toEqual(["body", "tools", 1, "name"]);
    const bad = { ...plain, input_schema: { type: "object", properties: { a: { type: "thing" } } } };
    expect((await locOf([bad])).slice(0, 4)).toEqual(["body", "tools", 0, "input_schema"]);
    const without = await wire.create({ agent: { name: "x", tools: [], builtins: false }, messages: "ask" });
    const deferred = await put(without, [plain, { ...keep, defer_loading: true }]);
    expect(deferred.body.detail).toMatchObject([{ loc: ["body", "tools", 1, "defer_loading"] }]);
    const { items } = (await wire.get(`/sessions/${id}/tools`)).body;
    expect(items.map(({ name }: { name: string }) => name)).toEqual(["plain"]);
    expect((await put(crypto.randomUUID(), [plain])).status).toBe(404);
  });
});
