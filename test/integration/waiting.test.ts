// A client that hangs, or too many of them, must not stand in the way of the others.
import { afterAll, beforeAll, expect, it } from "vitest";
import { lastToolResults, type ModelScript } from "../support/fake-model-server.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, kindsOf, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

const cities = ["Rome", "Oslo", "Bonn"];
const script: ModelScript = (request) => {
  const results = lastToolResults(request);
  if (results.length > 0) return { text: results.map(({ content }) => content).join(" | ") };
  return { toolCalls: cities.map((city) => ({ name: "get_weather", arguments: { city } })) };
};

let stack: TestStack;
let wire: Wire;
beforeAll(async () => {
  stack = await startStack({ script });
  wire = createWire(stack.baseUrl, apiKey);
});
afterAll(() => stack.close());

const ask = async () => {
  const id = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Weather?" });
  const { next_index: cursor } = await wire.until(id, "awaiting_tool_results");
  return { id, cursor, calls: await wire.pending(id), path: `/sessions/${id}/tool_results` };
};

it("any client of the organization settles and cancels what another one hangs on", async () => {
  const { id, cursor, calls, path } = await ask();
  const hanging = wire.get(`/sessions/${id}/changes?from_index=${cursor}&wait_for_seconds=25`);
  const helper = createWire(stack.baseUrl, await stack.addKey({ name: "helper" }));
  const posted = await helper.post(path, resultFor(calls[0] as PendingCall, "sunny"));
  expect(posted).toMatchObject({ status: 202, body: { receipts: [{ status: "accepted" }] } });
  expect((await hanging).body.next_index).toBeGreaterThan(cursor);
  expect((await helper.send("DELETE", `/sessions/${id}`)).status).toBe(204);
  expect((await wire.until(id, "interrupted")).reason).toBe("cancelled");
});

it("a call that failed costs the others nothing: each result is stored when it comes", async () => {
  const { id, calls, path } = await ask();
  const [rome, oslo, bonn] = calls as [PendingCall, PendingCall, PendingCall];
  await wire.post(path, { kind: "error_event", error: "no such city", origin: "client", tool_req: oslo });
  await wire.post(path, resultFor(bonn, "rain"));
  const { new_events: events } = (await wire.get(`/sessions/${id}/changes`)).body;
  expect(kindsOf(events).filter((kind) => kind.endsWith("_result") || kind === "error_event")).toEqual([
    "error_event",
    "tool_result",
  ]);
  expect((await wire.pending(id)).map((call) => call.id)).toEqual([rome.id]);
  await wire.post(path, resultFor(rome, "sun"));
  expect((await wire.until(id, "completed")).answer).toBe("sun | Error: no such city | rain");
});

it("a pool without a free connection answers 503 with Retry-After, and recovers", async () => {
  const { id } = await ask();
  const { pool } = stack.engine;
  const taken = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
  const refused = await wire.get(`/sessions/${id}/status`);
  expect(refused.status).toBe(503);
  expect(refused.body.code).toBe("unavailable");
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  for (const client of taken) client.release();
  await waitFor(async () => (await wire.get(`/sessions/${id}/status`)).status === 200, {
    what: "a 200 again",
  });
});
