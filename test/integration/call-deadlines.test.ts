import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lastToolResults, type ModelScript } from "../support/fake-model-server.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { createWire, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

/** Calls the tools that its message names, and answers with what came back. */
const script: ModelScript = (request) => {
  const results = lastToolResults(request);
  if (results.length > 0) return { text: results.map((result) => result.content).join(" | ") };
  const names = String(request.body.messages.at(-1)?.content).split(",");
  return { toolCalls: names.map((name) => ({ name, arguments: { city: "Oslo" } })) };
};

const quick = { ...weatherTool, name: "quick", timeout_s: 0.4 };
const slow = { ...weatherTool, name: "slow", timeout_s: 600 };
const patient = { ...weatherTool, name: "patient", timeout_s: null };
const fatal = { ...weatherTool, name: "fatal", timeout_s: 0.4, on_timeout: "fail" };
const plain = { ...weatherTool, name: "plain" };

describe.each(backends)("a call's deadline on %s", (backend) => {
  let stack: TestStack;
  let wire: Wire;

  beforeAll(async () => {
    stack = await startStack({ backend, script });
    wire = createWire(stack.baseUrl, apiKey);
  });
  afterAll(() => stack?.close());

  const start = async (messages: string, more: object = {}) => {
    const tools = [quick, slow, patient, fatal, plain];
    const id = await wire.create({ agent: { name: "x", tools }, messages, ...more });
    await wire.until(id, "awaiting_tool_results");
    return { id, calls: (await wire.pending(id)) as (PendingCall & { deadline: string | null })[] };
  };
  const post = (id: string, call: PendingCall, value: unknown) =>
    wire.post(`/sessions/${id}/tool_results`, resultFor(call, value));

  it("settles the call with an error that the model sees, and the session goes on", async () => {
    const { id, calls } = await start("quick,slow");
    const done = async () => (await wire.pending(id)).length === 1;
    await expect.poll(done, { timeout: 20_000 }).toBe(true);
    const late = await post(id, calls[0] as PendingCall, "too late");
    expect(late).toMatchObject({ status: 409, body: { receipts: [{ status: "late" }] } });
    await post(id, calls[1] as PendingCall, "in time");
    const { answer, new_events } = await wire.until(id, "completed");
    expect(answer).toBe(
      "Error: The call's time was over before a result came. Whether the tool ran is unknown. | in time",
    );
    const types = new_events.map(({ type }: { type: string }) => type);
    expect(types.filter((type: string) => type === "ToolCallCancelledEvent")).toHaveLength(1);
    expect(types.filter((type: string) => type === "LateToolResultEvent")).toHaveLength(1);
    const { items } = (await wire.get(`/sessions/${id}/tool_calls`)).body;
    expect(items).toMatchObject([
      { state: "timed_out", settled_by: "server", reason: "timed_out" },
      { state: "answered" },
    ]);
  });

  it("fails the session where the tool asks for that, and withdraws the other calls", async () => {
    const { id } = await start("fatal,plain");
    const { new_events, reason, error_code } = await wire.until(id, "failed");
    expect({ reason, error_code }).toEqual({ reason: "tool_timeout", error_code: "timeout" });
    const cancelled = new_events.filter(({ type }: { type: string }) => type === "ToolCallCancelledEvent");
    expect(cancelled.map(({ data }: { data: { reason: string } }) => data.reason)).toEqual([
      "timed_out",
      "session_failed",
    ]);
  });

  it("is the session's where the tool has none, and never where the tool says null", async () => {
    const { calls } = await start("plain,patient,slow", { tool_timeout_s: 300 });
    const leftS = calls.map(({ deadline }) => deadline && (Date.parse(deadline) - Date.now()) / 1_000);
    expect(leftS[1]).toBe(null);
    expect(leftS[0]).toBeGreaterThan(240);
    expect(leftS[0]).toBeLessThan(360);
    expect(leftS[2]).toBeGreaterThan(540);
  });

  it("moves with progress, which is told and not seen by the model", async () => {
    const { id, calls } = await start("slow");
    const path = `/sessions/${id}/tool_calls/${calls[0]?.id}/progress`;
    const { body } = await wire.post(path, { progress: { done: 1 } });
    expect(Date.parse(body.deadline)).toBeGreaterThan(Date.parse(calls[0]?.deadline ?? ""));
    expect((await wire.get(`/sessions/${id}/status`)).body.waiting_on.deadline).toBe(body.deadline);
    await post(id, calls[0] as PendingCall, "done");
    const { new_events, answer } = await wire.until(id, "completed");
    expect(answer).toBe("done");
    const told = new_events.filter(({ type }: { type: string }) => type === "ToolCallProgressEvent");
    expect(told).toMatchObject([{ data: { progress: { done: 1 }, deadline: body.deadline } }]);
    expect((await wire.post(path, { progress: 2 })).body.code).toBe("session_finished");
  });

  it("passes while the session is paused, which then goes on with the error", async () => {
    const { id } = await start("quick");
    await wire.post(`/sessions/${id}/pause`, undefined);
    const events = async () => (await wire.get(`/sessions/${id}/changes`)).body.new_events;
    const isOver = async () =>
      (await events()).some(({ type }: { type: string }) => type === "ToolCallCancelledEvent");
    await expect.poll(isOver, { timeout: 20_000 }).toBe(true);
    expect((await wire.get(`/sessions/${id}/status`)).body.status).toBe("paused");
    await wire.post(`/sessions/${id}/resume`, undefined);
    expect((await wire.until(id, "completed")).answer).toMatch(/time was over/);
  });

  it("and a result at the same moment settle the call once", async () => {
    const race = async (waitMs: number) => {
      const { id, calls } = await start("quick");
      const leftMs = Date.parse(calls[0]?.deadline ?? "") - Date.now() + waitMs;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, leftMs)));
      await post(id, calls[0] as PendingCall, "just so");
      const { new_events } = await wire.until(id, "completed");
      const results = new_events.filter(
        ({ data }: { data: { kind?: string; tool_req?: unknown } }) =>
          data.tool_req && (data.kind === "tool_result" || data.kind === "error_event"),
      );
      return results.length;
    };
    const counts = await Promise.all([-30, -20, -10, -5, 0, 0, 5, 5, 10, 20, 30, 40].map(race));
    expect(counts).toEqual(counts.map(() => 1));
  });
});
