import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lastToolResults, type ModelScript } from "../support/fake-model-server.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { createWire, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

/** Makes the calls that its message lists as `tool city`, and answers with what came back. */
const script: ModelScript = (request) => {
  const results = lastToolResults(request);
  if (results.length > 0) return { text: results.map((result) => result.content).join(" | ") };
  if (!request.body.tools?.length) return { text: "Nothing came." };
  const lines = String(request.body.messages.at(-1)?.content).split(",");
  const toCall = ([name = "", city = ""]: string[]) => ({ name, arguments: { city } });
  return { toolCalls: lines.map((line) => toCall(line.trim().split(" "))) };
};

const pay = { ...weatherTool, name: "pay", approval: "always" };
const look = { ...weatherTool, name: "look" };
/** A name that every object has something under. */
const proto = { ...pay, name: "__proto__" };
const anything = { name: "anything", description: "Takes anything.", approval: "always" };

interface Seen {
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: events of every shape
  data: any;
}

describe("a decision on a call", () => {
  let stack: TestStack;
  let wire: Wire;

  beforeAll(async () => {
    stack = await startStack({ script });
    wire = createWire(stack.baseUrl, apiKey);
  });
  afterAll(() => stack?.close());

  const openOf = ({ new_events }: { new_events: Seen[] }) => {
    const { data } = new_events.findLast(({ type }) => type === "ActiveStateChangeEvent") as Seen;
    return { pending: data.pending_tool_calls ?? [], approvals: data.pending_approvals ?? [] };
  };
  const start = async (messages: string, more: object = {}) => {
    const tools = [pay, look, proto, anything];
    const id = await wire.create({ agent: { name: "x", tools }, messages, ...more });
    const seen = await wire.until(id, "awaiting_approval", "awaiting_tool_results");
    return { id, ...openOf(seen), path: `/sessions/${id}` };
  };
  const decide = (id: string, body: object) => wire.post(`/sessions/${id}/approvals`, body);
  const settle = (id: string, call: PendingCall, value: unknown) =>
    wire.post(`/sessions/${id}/tool_results`, resultFor(call, value));
  const statusOf = async (id: string) => (await wire.get(`/sessions/${id}/status`)).body;
  const callsOf = async (id: string) => (await wire.get(`/sessions/${id}/tool_calls`)).body.items;
  const eventsOf = async (id: string): Promise<Seen[]> =>
    (await wire.get(`/sessions/${id}/changes`)).body.new_events;
  const resultsOf = async (id: string) =>
    (await eventsOf(id)).filter(
      ({ data }) => data.tool_req && ["tool_result", "error_event"].includes(data.kind),
    );

  it("is told as who waits changes: results before approvals, and then the step", async () => {
    const { id, pending, approvals } = await start("look Oslo,pay Rome");
    await settle(id, pending[0], "rainy");
    await decide(id, { call_id: approvals[0].id, decision: "allow" });
    await settle(id, approvals[0], "paid");
    await wire.until(id, "completed");
    const told = (await eventsOf(id)).filter(({ type }) => type === "ActiveStateChangeEvent");
    expect(told.map(({ data }) => data.state)).toEqual([
      ...["running", "awaiting_tool_results", "awaiting_approval", "awaiting_tool_results", "running"],
    ]);
  });

  it("that denies every call needs no caller to go on, and each has its own words", async () => {
    const { id, approvals } = await start("pay Rome,pay Oslo");
    const [a, b] = approvals;
    const entries = [
      { call_id: a.id, decision: "deny", message: "Too far." },
      { call_id: b.id, decision: "deny" },
    ];
    expect((await decide(id, { type: "batch", approvals: entries })).body.resumed).toBe(true);
    const { answer } = await wire.until(id, "completed");
    expect(answer).toBe(
      "Error: The call was denied, and not run: Too far. | Error: The call was denied, and not run.",
    );
    expect(await callsOf(id)).toMatchObject([
      { state: "denied", reason: "Too far.", approval: { decision: "deny", message: "Too far." } },
      { state: "denied", reason: "denied", approval: { decision: "deny", message: null } },
    ]);
    const [{ settled_by, approval }] = await callsOf(id);
    expect([settled_by, approval.decided_by]).toEqual([settled_by, settled_by]);
    expect(settled_by).not.toBe("server");
  });

  it("stays a duplicate after the call has its result, and its opposite a conflict", async () => {
    const { id, approvals } = await start("pay Rome,pay Oslo,pay Bern");
    const [a, b] = approvals;
    await decide(id, { call_id: a.id, decision: "allow" });
    await settle(id, a, "paid");
    const message = "No \u0000 \ud83d \u{1f600}.";
    await decide(id, { call_id: b.id, decision: "deny", message });
    const before = (await eventsOf(id)).length;
    const again = [
      { call_id: a.id, decision: "allow" },
      { call_id: a.id, decision: "deny" },
      { call_id: a.id, decision: "allow", args: { city: "Bonn" } },
      { call_id: b.id, decision: "deny", message },
      { call_id: b.id, decision: "deny", message: "Never." },
    ];
    const { status, body } = await decide(id, { approvals: again });
    expect(status).toBe(202);
    expect(body.receipts.map((receipt: { status: string }) => receipt.status)).toEqual([
      ...["duplicate", "conflict", "conflict", "duplicate", "conflict"],
    ]);
    expect((await eventsOf(id)).length).toBe(before);
  });

  it("with arguments that do not fit changes nothing, and names their place in the batch", async () => {
    const { id, approvals } = await start("pay Rome,pay Oslo");
    const entries = [
      { call_id: approvals[0].id, decision: "allow" },
      { call_id: approvals[1].id, decision: "allow", args: { city: 5 } },
    ];
    const { status, body } = await decide(id, { type: "batch", approvals: entries });
    expect(status).toBe(422);
    expect(body.detail[0].loc).toEqual(["body", "approvals", 1, "args"]);
    expect((await callsOf(id)).map(({ state }: { state: string }) => state)).toEqual([
      ...["awaiting_approval", "awaiting_approval"],
    ]);
  });

  it("that was taken is a duplicate even when its arguments fit the tool no more", async () => {
    const { id, approvals, path } = await start("pay Rome");
    const decision = { call_id: approvals[0].id, decision: "allow", args: { city: "Oslo" } };
    await decide(id, decision);
    await settle(id, approvals[0], "paid");
    await wire.until(id, "completed");
    expect((await decide(id, { ...decision, args: { city: 5 } })).body.code).toBe("session_finished");
    const input_schema = { ...pay.input_schema, properties: { city: { type: "integer" } } };
    await wire.send("PUT", `${path}/tools`, { body: { tools: [{ ...pay, input_schema }, anything] } });
    await wire.post(`${path}/messages`, { message: "anything Bern" });
    await wire.until(id, "awaiting_approval");
    expect((await decide(id, decision)).body.receipts).toMatchObject([{ status: "duplicate" }]);
  });

  it("keeps edited arguments to the last digit", async () => {
    const { id, approvals, path } = await start("anything Rome");
    const args = '{"amount":12345678901234567890.12345678901234567890}';
    const text = `{"call_id":${JSON.stringify(approvals[0].id)},"decision":"allow","args":${args}}`;
    expect((await wire.send("POST", `${path}/approvals`, { text })).status).toBe(202);
    expect((await wire.get(`${path}/changes`)).text).toContain(args);
    expect((await wire.get(`${path}/tool_calls`)).text).toContain(args);
    await settle(id, approvals[0], "done");
    expect((await wire.until(id, "completed")).answer).toContain(args);
  });

  it.each(["pay", "__proto__"])(
    "to allow %s that is remembered counts for calls that wait and for later ones",
    async (tool) => {
      const { id, approvals, path } = await start(`${tool} Rome,${tool} Oslo,anything Bern`);
      const [a, b, other] = approvals;
      const { body } = await decide(id, { call_id: a.id, decision: "allow", remember: "session" });
      expect(body).toMatchObject({ pending: [a.id, b.id], pending_approvals: [other.id] });
      for (const call of [a, b]) await settle(id, call, "paid");
      await decide(id, { call_id: other.id, decision: "deny" });
      await wire.until(id, "completed");
      await wire.post(`${path}/messages`, { message: `${tool} Bonn` });
      const { pending, approvals: waiting } = openOf(await wire.until(id, "awaiting_tool_results"));
      expect(waiting).toEqual([]);
      expect(pending).toMatchObject([{ tool_name: tool, args: { city: "Bonn" } }]);
    },
  );

  it("that is remembered gives way to another one for a call in the same batch", async () => {
    const { id, approvals } = await start("pay Rome,pay Oslo,pay Bern");
    const [a, b, c] = approvals;
    const entries = [
      { call_id: a.id, decision: "deny", remember: "session" },
      { call_id: b.id, decision: "allow" },
    ];
    const { body } = await decide(id, { approvals: entries });
    expect(body).toMatchObject({ pending: [b.id], pending_approvals: [] });
    expect((await callsOf(id)).map(({ state }: { state: string }) => state)).toEqual([
      ...["denied", "pending", "denied"],
    ]);
    const told = (await eventsOf(id)).filter(({ type }) => type === "ToolApprovalEvent");
    expect(told.map(({ data }) => data.tool_req.id)).toEqual([a.id, b.id, c.id]);
  });

  it("is taken while the session is paused, which stays so", async () => {
    const { id, approvals, path } = await start("pay Rome");
    await wire.post(`${path}/pause`, undefined);
    expect((await decide(id, { call_id: approvals[0].id, decision: "deny" })).body.resumed).toBe(false);
    expect((await statusOf(id)).status).toBe("paused");
    await wire.post(`${path}/resume`, undefined);
    expect((await wire.until(id, "completed")).answer).toMatch(/denied/);
  });

  it("begins the tool's time: until then only the approval's runs", async () => {
    const timed = { ...pay, timeout_s: 300, approval_timeout_s: 900 };
    const { id, approvals } = await start("pay Rome", { agent: { name: "x", tools: [timed] } });
    const leftS = (deadline: string) => (Date.parse(deadline) - Date.now()) / 1_000;
    expect(leftS(approvals[0].deadline)).toBeGreaterThan(600);
    expect((await statusOf(id)).waiting_on.deadline).toBe(approvals[0].deadline);
    await decide(id, { call_id: approvals[0].id, decision: "allow" });
    const { pending } = openOf((await wire.get(`/sessions/${id}/changes`)).body);
    expect(leftS(pending[0].deadline)).toBeGreaterThan(200);
    expect(leftS(pending[0].deadline)).toBeLessThan(400);
    expect((await statusOf(id)).waiting_on).toMatchObject({
      what: "tool_results",
      deadline: pending[0].deadline,
    });
  });

  it("is not made when the session's time is over, and the call says that it did not run", async () => {
    const { id, approvals } = await start("look Oslo,pay Rome", { max_time_s: 2 });
    await wire.until(id, "timed_out");
    expect((await resultsOf(id)).map(({ data }) => data.error)).toEqual([
      "The session's time was over before a result came. Whether the tool ran is unknown.",
      expect.stringContaining("so the tool did not run"),
    ]);
    expect(await callsOf(id)).toMatchObject([
      { state: "withdrawn", reason: "max_time" },
      { state: "withdrawn", reason: "max_time", approval: { reason: "tool", decision: null } },
    ]);
    const late = await decide(id, { call_id: approvals[0].id, decision: "allow" });
    expect(late).toMatchObject({ status: 409, body: { code: "session_finished" } });
  });

  it("and a result at once settle the call once, whoever is first", async () => {
    const round = async () => {
      const { id, approvals } = await start("pay Rome");
      const [call] = approvals;
      const replies = await Promise.all([
        decide(id, { call_id: call.id, decision: "deny" }),
        settle(id, call, "paid"),
        decide(id, { call_id: call.id, decision: "deny" }),
      ]);
      await wire.until(id, "completed");
      const codes = [replies[1]?.body.code];
      return { results: await resultsOf(id), codes, decided: [replies[0]?.status, replies[2]?.status] };
    };
    for (const { results, codes, decided } of await Promise.all(Array.from({ length: 20 }, round))) {
      expect(results.map(({ data }) => data.kind)).toEqual(["error_event"]);
      expect(["approval_required", "result_conflict", "session_finished"]).toContain(codes[0]);
      expect(decided).toContain(202);
    }
  });
});
