import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lastToolResults, type ModelScript } from "../support/fake-model-server.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { createWire, kindsOf, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

/** Asks for as many cities as the message names, then answers with what came back. */
const cities: ModelScript = (request) => {
  const results = lastToolResults(request);
  if (results.length > 0) return { text: results.map((result) => result.content).join(" | ") };
  const names = String(request.body.messages.at(-1)?.content).split(",");
  return { toolCalls: names.map((city) => ({ name: "get_weather", arguments: { city } })) };
};

describe.each(backends)("tool results on %s", (backend) => {
  let stack: TestStack;
  let wire: Wire;

  beforeAll(async () => {
    stack = await startStack({ backend, script: cities });
    wire = createWire(stack.baseUrl, apiKey);
  });
  afterAll(() => stack.close());

  const ask = async (message: string) => {
    const id = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: message });
    await wire.until(id, "awaiting_tool_results");
    return { id, calls: await wire.pending(id), path: `/sessions/${id}/tool_results` };
  };
  const answerOf = (call: PendingCall) => `sunny in ${call.args.city}`;

  it("resume the session once, when the last of ten calls is answered in any order", async () => {
    const { id, calls, path } = await ask("A,B,C,D,E,F,G,H,I,J");
    expect(calls.map((call) => call.args.city).join("")).toBe("ABCDEFGHIJ");
    const requestsBefore = stack.model.requests.length;
    const order = [3, 1, 4, 0, 5, 9, 2, 6, 8, 7].map((index) => calls[index] as PendingCall);
    for (const [index, call] of order.entries()) {
      const { status, body } = await wire.post(path, resultFor(call, answerOf(call)));
      expect(status).toBe(202);
      expect(body.resumed).toBe(index === order.length - 1);
      const left = new Set(order.slice(index + 1).map((rest) => rest.id));
      expect(body.pending).toEqual(calls.map((rest) => rest.id).filter((rest) => left.has(rest)));
    }
    const done = await wire.until(id, "completed");
    expect(done.answer).toBe(calls.map(answerOf).join(" | "));
    expect(stack.model.requests.length).toBe(requestsBefore + 1);
  });

  it("publish the calls that remain whenever one settles", async () => {
    const { id, calls, path } = await ask("A,B,C");
    await wire.post(path, resultFor(calls[1] as PendingCall, "x"));
    expect((await wire.pending(id)).map((call) => call.args.city)).toEqual(["A", "C"]);
  });

  it("are taken from two posters at once, each call once", async () => {
    const { id, calls, path } = await ask("A,B,C,D,E,F");
    const post = (call: PendingCall, who: string) =>
      wire.post(path, resultFor(call, `${who} ${call.args.city}`));
    const replies = await Promise.all(calls.flatMap((call) => [post(call, "first"), post(call, "second")]));
    const statuses = replies.map((reply) => reply.status);
    expect(statuses.filter((status) => status === 202)).toHaveLength(6);
    expect(statuses.filter((status) => status === 409)).toHaveLength(6);
    expect(replies.filter((reply) => reply.body.resumed === true)).toHaveLength(1);
    const done = await wire.until(id, "completed");
    expect(kindsOf(done.new_events).filter((kind) => kind === "tool_result")).toHaveLength(6);
    expect(done.metrics.steps).toBe(2);
  });

  it("in a batch get a receipt each, and the first entry for a call wins", async () => {
    const { calls, path } = await ask("A,B,C");
    const [a, b] = calls as [PendingCall, PendingCall];
    const invented = { ...a, id: "call_nobody" };
    const results = [
      resultFor(a, 1),
      resultFor(a, 2),
      resultFor(a, 1),
      resultFor(invented, 1),
      resultFor(b, 1),
    ];
    const { status, body } = await wire.post(path, { type: "batch", results });
    expect(status).toBe(202);
    expect(body.receipts.map((receipt: { status: string }) => receipt.status)).toEqual([
      "accepted",
      "conflict",
      "duplicate",
      "unknown",
      "accepted",
    ]);
    expect(body.pending).toEqual([calls[2]?.id]);
    expect(body.resumed).toBe(false);
  });

  it("posted again with the same content are harmless, whatever the order of their keys", async () => {
    const { calls, path } = await ask("A,B");
    const call = calls[0] as PendingCall;
    await wire.post(path, resultFor(call, { x: 1, y: [{ a: 1, b: 2 }] }));
    const again = await wire.post(path, resultFor(call, { y: [{ b: 2, a: 1 }], x: 1 }));
    expect(again.status).toBe(202);
    expect(again.body.receipts).toEqual([{ id: call.id, status: "duplicate" }]);
  });

  it("that all conflict answer 409, that are all unknown 404, both with receipts", async () => {
    const { calls, path } = await ask("A,B");
    const [a, b] = calls as [PendingCall, PendingCall];
    await wire.post(path, resultFor(a, "first"));
    const conflict = await wire.post(path, resultFor(a, "second"));
    expect(conflict.status).toBe(409);
    expect(conflict.body).toMatchObject({
      code: "result_conflict",
      receipts: [{ id: a.id, status: "conflict" }],
    });
    const unknown = await wire.post(path, resultFor({ ...a, id: "call_nobody" }, 1));
    expect(unknown.status).toBe(404);
    expect(unknown.body).toMatchObject({
      code: "calls_unknown",
      receipts: [{ id: "call_nobody", status: "unknown" }],
    });
    expect(unknown.body.detail).toContain(b.id);
  });

  it("without an id mean the pending call of the same name and arguments", async () => {
    const { calls, path } = await ask("A,B");
    const { id: _id, ...request } = calls[1] as PendingCall;
    const { status, body } = await wire.post(path, { tool_req: request, result: 1 });
    expect(status).toBe(202);
    expect(body.receipts).toEqual([{ id: calls[1]?.id, status: "accepted" }]);
    const again = await wire.post(path, { tool_req: request, result: 1 });
    expect(again.body.receipts).toEqual([{ id: calls[1]?.id, status: "duplicate" }]);
  });

  it("without an id that fit several calls are refused, and nothing is settled", async () => {
    const { id, path } = await ask("A,A");
    const reply = await wire.post(path, {
      tool_req: { tool_name: "get_weather", args: { city: "A" } },
      result: 1,
    });
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0].loc).toEqual(["body", "tool_req", "id"]);
    expect(await wire.pending(id)).toHaveLength(2);
  });

  it("whose name does not fit the id are refused as a whole", async () => {
    const { id, calls, path } = await ask("A,B");
    const [a, b] = calls as [PendingCall, PendingCall];
    const results = [resultFor(a, 1), resultFor({ ...b, tool_name: "other" }, 1)];
    const reply = await wire.post(path, { type: "batch", results });
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0].loc).toEqual(["body", "results", 1, "tool_req", "tool_name"]);
    expect(await wire.pending(id)).toHaveLength(2);
  });

  it("can be errors, which the model sees as such", async () => {
    const { id, calls, path } = await ask("A");
    const body = { kind: "error_event", error: "no such city", origin: "client", tool_req: calls[0] };
    expect((await wire.post(path, body)).status).toBe(202);
    const done = await wire.until(id, "completed");
    expect(done.answer).toBe("Error: no such city");
    const event = done.new_events.find(
      (entry: { data: { kind?: string } }) => entry.data.kind === "error_event",
    );
    const { tool_name, args, id: callId } = calls[0] as PendingCall;
    expect(event.data).toMatchObject({ error: "no such city", origin: "client" });
    expect(event.data.tool_req).toEqual({ tool_name, args, id: callId });
  });
});
