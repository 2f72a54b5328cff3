import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lastToolResults, type ModelScript } from "../support/fake-model-server.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { createWire, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

/** Makes the calls that its message lists as `tool city`, one a line, and answers with what came back. */
const script: ModelScript = (request) => {
  const results = lastToolResults(request);
  if (results.length > 0) return { text: results.map((result) => result.content).join(" | ") };
  const lines = String(request.body.messages.at(-1)?.content).split(",");
  const toCall = ([name = "", city = ""]: string[]) => ({
    name,
    arguments: city === "" ? { town: 1 } : { city },
  });
  return { toolCalls: lines.map((line) => toCall(line.trim().split(" "))) };
};

const pay = { ...weatherTool, name: "pay", capability: "actuator", approval: "always" };
const look = { ...weatherTool, name: "look" };

interface Seen {
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: events of every shape
  data: any;
}

describe("a call that needs approval", () => {
  let stack: TestStack;
  let wire: Wire;

  beforeAll(async () => {
    stack = await startStack({ script });
    wire = createWire(stack.baseUrl, apiKey);
  });
  afterAll(() => stack?.close());

  const start = async (
    messages: string,
    { agent = {}, ...more }: { agent?: object; [key: string]: unknown } = {},
  ) => {
    const id = await wire.create({ agent: { name: "x", tools: [pay, look], ...agent }, messages, ...more });
    const seen = await wire.until(id, "awaiting_approval", "awaiting_tool_results", "completed", "failed");
    return { id, ...openOf(seen), path: `/sessions/${id}` };
  };
  const openOf = (seen: { new_events: Seen[] }) => {
    const { data } = seen.new_events.findLast(({ type }) => type === "ActiveStateChangeEvent") as Seen;
    return { pending: data.pending_tool_calls ?? [], approvals: data.pending_approvals ?? [] };
  };
  const nowOpen = async (id: string) => openOf((await wire.get(`/sessions/${id}/changes`)).body);
  const statusOf = async (id: string) => (await wire.get(`/sessions/${id}/status`)).body;
  const decide = (id: string, body: object) => wire.post(`/sessions/${id}/approvals`, body);
  const settle = (id: string, call: PendingCall, value: unknown) =>
    wire.post(`/sessions/${id}/tool_results`, resultFor(call, value));
  const eventsOf = async (id: string): Promise<Seen[]> =>
    (await wire.get(`/sessions/${id}/changes`)).body.new_events;

  it("waits beside others: results come first, then decisions, and each call has one result", async () => {
    const { id, pending, approvals } = await start("look Oslo,pay,pay Rome");
    expect(pending).toMatchObject([{ tool_name: "look", capability: "read", deadline: null }]);
    expect(approvals).toMatchObject([
      { tool_name: "pay", args: { city: "Rome" }, capability: "actuator", reason: "tool", deadline: null },
    ]);
    expect((await settle(id, pending[0], "rainy")).body).toMatchObject({
      pending: [],
      pending_approvals: [approvals[0].id],
      resumed: false,
    });
    expect(await statusOf(id)).toMatchObject({
      status: "awaiting_approval",
      waiting_on: { what: "approval" },
    });
    const reply = await decide(id, { call_id: approvals[0].id, decision: "allow" });
    expect(reply).toMatchObject({ status: 202, body: { pending: [approvals[0].id], resumed: false } });
    expect((await statusOf(id)).status).toBe("awaiting_tool_results");
    await settle(id, approvals[0], "paid");
    const { answer } = await wire.until(id, "completed");
    expect(answer).toMatch(/^rainy \| Error: .*do not fit its schema.* \| paid$/);
    const { items } = (await wire.get(`/sessions/${id}/tool_calls`)).body;
    expect(items.map(({ state }: { state: string }) => state)).toEqual(["answered", "refused", "answered"]);
    expect(items[2].approval).toMatchObject({ reason: "tool", decision: "allow", asked_args: null });
  });

  it("has a denial for its result, with the words of whoever denied it", async () => {
    const { id, approvals } = await start("pay Rome");
    const denial = { call_id: approvals[0].id, decision: "deny", message: "Not on a Sunday." };
    expect((await decide(id, denial)).body).toMatchObject({ pending_approvals: [], resumed: true });
    const { answer } = await wire.until(id, "completed");
    expect(answer).toBe("Error: The call was denied, and not run: Not on a Sunday.");
    const late = await decide(id, denial);
    expect(late).toMatchObject({ status: 409, body: { code: "session_finished" } });
    const told = (await eventsOf(id)).find(({ type }) => type === "ToolApprovalEvent");
    expect(told?.data).toMatchObject({ decision: "deny", message: "Not on a Sunday.", edited: false });
  });

  it("takes no result in place of a decision, and no decision in place of a result", async () => {
    const { id, pending, approvals } = await start("look Oslo,pay Rome");
    const before = (await eventsOf(id)).length;
    const result = await settle(id, approvals[0], "paid");
    expect(result).toMatchObject({ status: 409, body: { code: "approval_required" } });
    const approval = await decide(id, { call_id: pending[0].id, decision: "allow" });
    expect(approval).toMatchObject({ status: 409, body: { code: "approval_conflict" } });
    const unknown = await decide(id, { call_id: "call_of_nobody", decision: "allow" });
    expect(unknown).toMatchObject({ status: 404, body: { code: "calls_unknown" } });
    expect((await eventsOf(id)).length).toBe(before);
  });

  it("is decided once: the same again is a duplicate, another decision a conflict", async () => {
    const { id, approvals } = await start("pay Rome,pay Oslo,pay Bern");
    const [a, b] = approvals;
    const entries = [
      { call_id: a.id, decision: "allow" },
      { call_id: a.id, decision: "allow" },
      { call_id: a.id, decision: "deny" },
      { call_id: b.id, decision: "deny" },
      { call_id: "nobody", decision: "deny" },
    ];
    const { body } = await decide(id, { type: "batch", approvals: entries });
    expect(body.receipts.map(({ status }: { status: string }) => status)).toEqual([
      ...["accepted", "duplicate", "conflict", "accepted", "unknown"],
    ]);
    expect(body).toMatchObject({ pending: [a.id], pending_approvals: [approvals[2].id] });
    const rounds = await Promise.all([1, 2, 3].map(() => decide(id, { call_id: b.id, decision: "allow" })));
    for (const reply of rounds)
      expect(reply).toMatchObject({ status: 409, body: { code: "approval_conflict" } });
  });

  it("may be decided again in the same words when the session has gone on", async () => {
    const { id, approvals, path } = await start("pay Rome", { idle_timeout_s: 60 });
    const allowed = { call_id: approvals[0].id, decision: "allow", args: { city: "Oslo" } };
    await decide(id, allowed);
    await settle(id, (await nowOpen(id)).pending[0], "paid");
    await wire.until(id, "idle");
    const repeat = { status: 202, body: { receipts: [{ status: "duplicate" }], resumed: false } };
    expect(await decide(id, allowed)).toMatchObject(repeat);
    await wire.post(`${path}/pause`, undefined);
    expect(await decide(id, allowed)).toMatchObject(repeat);
    await wire.send("PUT", `${path}/tools`, {
      body: { tools: [{ ...pay, input_schema: { type: "object", maxProperties: 0 } }] },
    });
    expect(await decide(id, allowed)).toMatchObject(repeat);
  });

  it("that is left open by a process that knows no approvals is settled, and nothing more", async () => {
    const { id, approvals } = await start("pay Rome", { approval_timeout_s: 2, idle_timeout_s: 60 });
    const goOn = "UPDATE sessions SET status = 'idle', idle_until = now() + interval '1 hour' WHERE id = $1";
    await stack.engine.pool.query(goOn, [id]);
    const stateOf = async () => (await wire.get(`/sessions/${id}/tool_calls`)).body.items[0].state;
    await expect.poll(stateOf, { timeout: 20_000 }).toBe("denied");
    expect((await statusOf(id)).status).toBe("idle");
    expect((await decide(id, { call_id: approvals[0].id, decision: "allow" })).body.receipts).toMatchObject([
      { status: "late" },
    ]);
  });

  it("of several at once has one decision, whoever posts", async () => {
    for (let round = 0; round < 10; round++) {
      const { id, approvals } = await start("pay Rome");
      const call_id = approvals[0].id;
      const replies = await Promise.all(
        ["allow", "deny", "allow", "deny"].map((decision) => decide(id, { call_id, decision })),
      );
      const fresh = replies
        .flatMap(({ body }) => body.receipts ?? [])
        .filter(({ status }) => status === "accepted");
      expect(fresh).toHaveLength(1);
      expect((await eventsOf(id)).filter(({ type }) => type === "ToolApprovalEvent")).toHaveLength(1);
    }
  });

  it("runs with edited arguments that fit, and the model is told of them", async () => {
    const { id, approvals, path } = await start("pay Rome");
    const bad = await decide(id, { call_id: approvals[0].id, decision: "allow", args: { town: 1 } });
    expect(bad.status).toBe(422);
    expect(bad.body.detail[0].loc).toEqual(["body", "args"]);
    const odd = await decide(id, { call_id: approvals[0].id, decision: "deny", args: { city: "Oslo" } });
    expect(odd.body.detail[0].loc).toEqual(["body", "args"]);
    await decide(id, { call_id: approvals[0].id, decision: "allow", args: { city: "Oslo" } });
    const [call] = (await nowOpen(id)).pending;
    expect(call).toMatchObject({ id: approvals[0].id, args: { city: "Oslo" } });
    await settle(id, call, "paid");
    const { answer } = await wire.until(id, "completed");
    expect(answer).toBe(
      'paid\n\n[Before the call was approved, its arguments were changed to {"city":"Oslo"}]',
    );
    const [listed] = (await wire.get(`${path}/tool_calls`)).body.items;
    expect(listed).toMatchObject({ args: { city: "Oslo" }, approval: { asked_args: { city: "Rome" } } });
  });

  it("asks no more when a decision is remembered, until the tool is another one", async () => {
    const { id, approvals, path } = await start("pay Rome,pay Oslo");
    const remembered = { call_id: approvals[0].id, decision: "deny", remember: "session" };
    expect((await decide(id, remembered)).body).toMatchObject({ pending_approvals: [], resumed: true });
    await wire.until(id, "completed");
    await wire.post(`${path}/messages`, { message: "pay Bern" });
    const again = await wire.until(id, "completed", "awaiting_approval");
    expect(again.answer).toMatch(/were denied for the whole session/);
    await wire.send("PUT", `${path}/tools`, { body: { tools: [{ ...pay, description: "Another." }] } });
    await wire.post(`${path}/messages`, { message: "pay Bern" });
    expect((await wire.until(id, "awaiting_approval")).status).toBe("awaiting_approval");
  });

  it("is asked for as the agent says, and never with permissions of the host", async () => {
    const acts = { ...look, name: "act", capability: "actuator" };
    const free = { ...acts, name: "free", approval: "never" };
    const tools = [look, acts, free];
    const ofAgent = async (agent: object, more: object = {}) => {
      const { approvals } = await start("look A,act B,free C", { agent: { tools, ...agent }, ...more });
      return approvals.map((call: { tool_name: string; reason: string }) => [call.tool_name, call.reason]);
    };
    expect(await ofAgent({})).toEqual([]);
    expect(await ofAgent({ approval: "actuator" })).toEqual([["act", "actuator"]]);
    expect(await ofAgent({ approval: "always" })).toEqual([
      ["look", "agent"],
      ["act", "agent"],
    ]);
    expect(await ofAgent({ approval: "always" }, { permissions: "host" })).toEqual([]);
  });

  it("is denied, or allowed, when nobody decides in time", async () => {
    const denied = await start("pay Rome", { approval_timeout_s: 0.3 });
    expect(denied.approvals[0].deadline).toMatch(/Z$/);
    expect((await wire.until(denied.id, "completed")).answer).toMatch(/denied, and not run: Nobody decided/);
    const lenient = { ...pay, approval_timeout_s: 0.3, on_approval_timeout: "allow", timeout_s: 600 };
    const allowed = await start("pay Rome", { agent: { tools: [lenient] } });
    await wire.until(allowed.id, "awaiting_tool_results");
    const { pending } = await nowOpen(allowed.id);
    expect(Date.parse(pending[0].deadline)).toBeGreaterThan(
      Date.parse(allowed.approvals[0].deadline) + 500_000,
    );
    const late = await decide(allowed.id, { call_id: pending[0].id, decision: "deny" });
    expect(late.body.receipts).toMatchObject([{ status: "late" }]);
  });

  it("has one honest result after a cancel and a forced answer", async () => {
    for (const steer of ["cancel", "force_answer"]) {
      const { id, approvals, path } = await start("look Oslo,pay Rome");
      await (steer === "cancel" ? wire.send("DELETE", path) : wire.post(`${path}/force_answer`, undefined));
      const { new_events } = await wire.until(id, "interrupted", "failed");
      const results = new_events.filter(({ data }: Seen) => data.tool_req && data.kind === "error_event");
      // A forced answer that did not come made more calls, which were refused.
      expect(results.slice(0, 2).map(({ data }: Seen) => data.error)).toEqual([
        expect.stringContaining("Whether the tool ran is unknown"),
        expect.stringContaining("so the tool did not run"),
      ]);
      const reply = await decide(id, { call_id: approvals[0].id, decision: "allow" });
      expect(reply.status).toBe(409);
    }
  });
});
