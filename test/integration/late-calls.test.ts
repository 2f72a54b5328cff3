import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lastToolResults, type ModelScript } from "../support/fake-model-server.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

/** Calls the tools that its message names, and answers with what came back. */
const script: ModelScript = (request) => {
  const results = lastToolResults(request);
  if (results.length > 0) return { text: results.map((result) => result.content).join(" | ") };
  const text = String(request.body.messages.at(-1)?.content);
  if (text === "hello") return { text: "Hello." };
  const names = text.split(" ").at(-1)?.split(",") ?? [];
  const toolCalls = names.map((name) => ({ name, arguments: { city: "Oslo" } }));
  return { toolCalls, ...(text.startsWith("slowly") ? { delayMs: 1_500 } : {}) };
};

const quick = { ...weatherTool, name: "quick", timeout_s: 0.3 };
const later = { ...weatherTool, name: "later", timeout_s: 0.8 };
const lively = { ...weatherTool, name: "lively", timeout_s: 2.5 };
const slow = { ...weatherTool, name: "slow", timeout_s: 600 };
const fatal = { ...weatherTool, name: "fatal", timeout_s: 0.5, on_timeout: "fail" };
const plain = { ...weatherTool, name: "plain" };
const asked = { ...weatherTool, name: "asked", approval: "always" };
const tools = [quick, later, lively, slow, fatal, plain, asked];

interface Seen {
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: events of every shape
  data: any;
}

describe.each(backends)("a late call on %s", (backend) => {
  let stack: TestStack;
  let wire: Wire;

  beforeAll(async () => {
    stack = await startStack({ backend, script, worker: false });
    wire = createWire(stack.baseUrl, apiKey);
    worker = await stack.addWorker();
  });
  afterAll(() => stack?.close());

  let worker: Awaited<ReturnType<TestStack["addWorker"]>>;
  const start = async (messages: string, more: object = {}) => {
    const id = await wire.create({ agent: { name: "x", tools }, messages, ...more });
    // From the event that asks for them: some may be over before anybody reads the state.
    const isAsking = ({ data }: Seen) => /^awaiting/.test(data.state ?? "");
    const { data } = await waitFor(async () => (await eventsOf(id)).find(isAsking), {
      what: `calls of ${id}`,
    });
    const calls = data.pending_tool_calls as (PendingCall & { deadline: string | null })[];
    return { id, calls, approvals: data.pending_approvals, path: `/sessions/${id}` };
  };
  const post = (id: string, call: PendingCall | undefined, value: unknown) =>
    wire.post(`/sessions/${id}/tool_results`, resultFor(call as PendingCall, value));
  const progress = (id: string, call: { id: string } | undefined) =>
    wire.post(`/sessions/${id}/tool_calls/${call?.id}/progress`, { progress: 1 });
  const statusOf = async (id: string) => (await wire.get(`/sessions/${id}/status`)).body;
  const eventsOf = async (id: string): Promise<Seen[]> =>
    (await wire.get(`/sessions/${id}/changes`)).body.new_events;
  const untilOver = (id: string, count = 1) =>
    expect
      .poll(async () => (await eventsOf(id)).filter(({ type }) => type === "ToolCallCancelledEvent").length, {
        timeout: 20_000,
      })
      .toBe(count);
  const resultsIn = (events: Seen[]) =>
    events.filter(({ data }) => data.tool_req && ["tool_result", "error_event"].includes(data.kind));

  it("has its time from when it was asked for, not from when the step began", async () => {
    const { calls } = await start("slowly slow");
    const { receivedAt } = stack.model.requests.findLast(({ body }) =>
      JSON.stringify(body.messages).includes("slowly slow"),
    ) as { receivedAt: number };
    // The model took 1.5 s, and 600 s come after that.
    const sinceMs = Date.parse(calls[0]?.deadline ?? "") - receivedAt;
    expect(sinceMs).toBeGreaterThan(601_000);
  });

  it("goes one after the other when deadlines differ", async () => {
    const { id, calls } = await start("later,slow,quick");
    await untilOver(id, 2);
    expect((await statusOf(id)).waiting_on.deadline).toBe(calls[1]?.deadline);
    await post(id, calls[1], "in time");
    const { answer, new_events } = await wire.until(id, "completed");
    expect(answer).toMatch(/^Error: .* \| in time \| Error: /);
    const cancelled = new_events.filter(({ type }: Seen) => type === "ToolCallCancelledEvent");
    expect(cancelled.map(({ data }: Seen) => data.tool_req.tool_name)).toEqual(["quick", "later"]);
  });

  it("has its deadline told while it is the earliest", async () => {
    const { id, calls } = await start("plain,slow", { tool_timeout_s: 300 });
    const told = async () => (await statusOf(id)).waiting_on;
    expect(await told()).toMatchObject({ what: "tool_results", deadline: calls[0]?.deadline });
    await post(id, calls[0], "in time");
    expect(await told()).toMatchObject({ what: "tool_results", deadline: calls[1]?.deadline });
  });

  it("leaves no deadline behind when it is answered in time", async () => {
    const { id, calls, path } = await start("slow");
    await post(id, calls[0], "in time");
    await wire.until(id, "completed");
    await wire.post(`${path}/messages`, { message: "plain" });
    await wire.until(id, "awaiting_tool_results");
    expect((await statusOf(id)).waiting_on).toMatchObject({ what: "tool_results", deadline: null });
    expect(await wire.pending(id)).toMatchObject([{ deadline: null }]);
  });

  it("keeps one late result, however often it comes", async () => {
    const { id, calls } = await start("quick,plain");
    await untilOver(id);
    for (const value of ["late", "late", "later still"]) {
      const { status, body } = await post(id, calls[0], value);
      expect({ status, receipts: body.receipts }).toEqual({
        status: 409,
        receipts: [{ id: calls[0]?.id, status: "late" }],
      });
    }
    const kept = (await eventsOf(id)).filter(({ type }) => type === "LateToolResultEvent");
    expect(kept).toMatchObject([{ data: { result: "late" } }]);
    await post(id, calls[1], "in time");
    const { new_events } = await wire.until(id, "completed");
    expect(resultsIn(new_events)).toHaveLength(2);
    expect((await wire.get(`/sessions/${id}/tool_calls`)).body.items[0]).toMatchObject({
      ...{ state: "timed_out", settled_by: "server", reason: "timed_out", deadline: null },
    });
  });

  it("takes progress while it is pending, and not before or after", async () => {
    const { id, calls, approvals } = await start("quick,plain,asked");
    await untilOver(id);
    expect(await progress(id, calls[0])).toMatchObject({
      status: 409,
      body: { code: "call_not_pending", state: "timed_out" },
    });
    expect(await progress(id, calls[1])).toMatchObject({ status: 202, body: { deadline: null } });
    expect(await progress(id, approvals[0])).toMatchObject({
      status: 409,
      body: { code: "approval_required" },
    });
    expect((await progress(id, { id: "call_nobody" })).status).toBe(404);
    await post(id, calls[1], "done");
    expect(await progress(id, calls[1])).toMatchObject({ body: { state: "answered" } });
  });

  it("takes no decision: that is late as well", async () => {
    const { id, calls } = await start("quick,plain");
    await untilOver(id);
    const decision = { call_id: calls[0]?.id, decision: "allow" };
    expect((await wire.post(`/sessions/${id}/approvals`, decision)).body).toMatchObject({
      code: "approval_conflict",
      receipts: [{ status: "late" }],
    });
  });

  it("lives for as long as progress comes", async () => {
    const { id, calls } = await start("lively");
    const firstEnd = Date.parse(calls[0]?.deadline ?? "");
    const deadlines: string[] = [];
    await expect
      .poll(
        async () => {
          deadlines.push((await progress(id, calls[0])).body.deadline);
          return Date.now() - firstEnd;
        },
        { timeout: 20_000 },
      )
      .toBeGreaterThan(300);
    expect(deadlines.every((deadline, place) => place === 0 || deadline > (deadlines[place - 1] ?? ""))).toBe(
      true,
    );
    expect((await post(id, calls[0], "done")).status).toBe(202);
    expect((await wire.until(id, "completed")).answer).toBe("done");
  });

  it("that must not be late fails a paused session too", async () => {
    const { id, path } = await start("fatal,asked");
    await wire.post(`${path}/pause`, undefined);
    const { new_events, reason } = await wire.until(id, "failed");
    expect(reason).toBe("tool_timeout");
    expect(resultsIn(new_events).map(({ data }) => data.error)).toEqual([
      "The call's time was over before a result came. Whether the tool ran is unknown.",
      expect.stringContaining("so the tool did not run"),
    ]);
    const failed = new_events.find(({ type }: Seen) => type === "AgentErrorEvent");
    expect(failed.data.info).toEqual({ error_code: "timeout", reason: "tool_timeout" });
    await wire.post(`${path}/messages`, { message: "hello" });
    expect((await wire.until(id, "completed")).answer).toBe("Hello.");
  });

  it("that must not be late ends the run, and a message that waits starts the next one", async () => {
    const { id, path } = await start("fatal");
    await wire.post(`${path}/messages`, { message: "hello" });
    const { new_events, answer } = await wire.until(id, "completed");
    expect(answer).toBe("Hello.");
    const types = new_events.map(({ type }: Seen) => type);
    expect(types.filter((type: string) => type === "AgentErrorEvent")).toHaveLength(1);
    expect(types.filter((type: string) => type === "RequestStartEvent")).toHaveLength(2);
  });

  it("is found by the next worker when none runs as its time passes", async () => {
    const { id, calls } = await start("plain", { tool_timeout_s: 2 });
    await worker.close();
    const end = Date.parse(calls[0]?.deadline ?? "");
    await expect.poll(() => Date.now() - end, { timeout: 20_000 }).toBeGreaterThan(100);
    expect((await statusOf(id)).status).toBe("awaiting_tool_results");
    worker = await stack.addWorker();
    expect((await wire.until(id, "completed")).answer).toMatch(/time was over/);
  });

  it("and its result in the same moment are one result, thirty times", async () => {
    const race = async (_: unknown, round: number) => {
      const { id, calls } = await start("quick,plain");
      const end = Date.parse(calls[0]?.deadline ?? "") + (round % 10) * 8 - 30;
      await expect.poll(() => Date.now() - end, { timeout: 20_000, interval: 1 }).toBeGreaterThanOrEqual(0);
      const { status } = await post(id, calls[0], "just so");
      await post(id, calls[1], "in time");
      const { answer, new_events } = await wire.until(id, "completed");
      return { status, answer, results: resultsIn(new_events).length };
    };
    for (const { status, answer, results } of await Promise.all(Array.from({ length: 30 }).map(race))) {
      expect(results).toBe(2);
      expect(answer).toMatch(
        status === 202 ? /^just so \| in time$/ : /^Error: .*time was over.* \| in time$/,
      );
    }
  });
});
