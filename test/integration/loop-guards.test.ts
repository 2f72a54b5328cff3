import { afterAll, beforeAll, expect, it } from "vitest";
import { lastToolResults, type ModelScript } from "../support/fake-model-server.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { createWire, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

let stack: TestStack;
let wire: Wire;
let script: ModelScript = () => ({ text: "Hello." });

beforeAll(async () => {
  stack = await startStack({ script: (...args) => script(...args) });
  wire = createWire(stack.baseUrl, apiKey);
});
afterAll(() => stack.close());

const ask = (city: string) => ({ toolCalls: [{ name: "get_weather", arguments: { city } }] });

/**
 * Creates a session and answers its calls until it has ended; returns its changes and how often the model was asked.
 */
async function run(request: object, answer: (call: PendingCall, n: number) => object) {
  const before = stack.model.requests.length;
  const id = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Hi", ...request });
  return { id, ...(await goOn(id, answer)), asked: stack.model.requests.length - before };
}

async function goOn(id: string, answer: (call: PendingCall, n: number) => object) {
  for (let n = 1; ; n++) {
    const seen = await wire.until(id, "awaiting_tool_results", "failed", "completed");
    if (seen.status !== "awaiting_tool_results") return { seen };
    for (const call of await wire.pending(id))
      await wire.post(`/sessions/${id}/tool_results`, answer(call, n));
  }
}

const sunny = (call: PendingCall, n: number) => resultFor(call, `sunny ${n}`);
const broken = (call: PendingCall) => ({
  kind: "error_event",
  tool_req: call,
  error: "No network.",
  origin: "client",
});

it("the same call again and again ends the session before the next model request", async () => {
  script = () => ask("Rome");
  const { seen, asked } = await run({ repeat_limit: 4 }, sunny);
  expect(seen).toMatchObject({
    status: "failed",
    reason: "repeat_limit",
    error: expect.stringContaining("4"),
  });
  expect(asked).toBe(4);
});

it("two calls that take turns again and again end the session too", async () => {
  script = (_request, index) => ask(index % 2 === 0 ? "Rome" : "Oslo");
  const { seen, asked } = await run({ repeat_limit: 3 }, sunny);
  expect(seen.reason).toBe("repeat_limit");
  expect(asked).toBe(6);
});

it("the same calls side by side, turn after turn, count as turns", async () => {
  const cities = ["Rome", "Oslo", "Bern", "Kyiv"];
  script = () => ({ toolCalls: cities.map((city) => ({ name: "get_weather", arguments: { city } })) });
  const { seen, asked } = await run({ repeat_limit: 3 }, sunny);
  expect(seen.reason).toBe("repeat_limit");
  expect(asked).toBe(3);
});

it.each(["environment", "model", "server"])("the same error counts with origin %s too", async (origin) => {
  let n = 0;
  script = () => ask(`City ${n++}`);
  const { seen } = await run({ error_limit: 3 }, (call) => ({ ...broken(call), origin }));
  expect(seen.reason).toBe("error_limit");
});

it("calls that differ go on, and a message begins the count anew", async () => {
  let n = 0;
  script = (request) =>
    n++ < 8 ? ask(`City ${n}`) : { text: `Done after ${lastToolResults(request).length}.` };
  expect((await run({ repeat_limit: 3 }, sunny)).seen.status).toBe("completed");

  script = () => ask("Rome");
  const { id, seen } = await run({ repeat_limit: 3 }, sunny);
  expect(seen.reason).toBe("repeat_limit");
  const before = stack.model.requests.length;
  await wire.post(`/sessions/${id}/messages`, { message: "Try again" });
  await wire.until(id, "running", "awaiting_tool_results");
  expect((await goOn(id, sunny)).seen.reason).toBe("repeat_limit");
  expect(stack.model.requests.length - before).toBe(3);
});

it("the same error in turn after turn ends the session", async () => {
  let n = 0;
  script = () => ask(`City ${n++}`);
  const { seen, asked } = await run({ error_limit: 3 }, broken);
  expect(seen).toMatchObject({
    status: "failed",
    reason: "error_limit",
    error: expect.stringContaining("3"),
  });
  expect(asked).toBe(3);
});

it("errors that alternate with results go on", async () => {
  let n = 0;
  script = () => (n++ < 7 ? ask(`City ${n}`) : { text: "Done." });
  const { seen } = await run({ error_limit: 2 }, (call, turn) =>
    turn % 2 === 0 ? broken(call) : sunny(call, turn),
  );
  expect(seen.status).toBe("completed");
});

it("a spent token budget ends the session before the next model request", async () => {
  let n = 0;
  script = () => ({ ...ask(`City ${n++}`), usage: { prompt_tokens: 80, completion_tokens: 20 } });
  const { seen, asked } = await run({ token_budget: 250 }, sunny);
  expect(seen).toMatchObject({
    status: "failed",
    reason: "token_budget",
    error: expect.stringContaining("300"),
  });
  expect(asked).toBe(3);
});

it("a limit that is null bounds nothing, and limits show in the request", async () => {
  let n = 0;
  script = () => (n++ < 60 ? ask("Rome") : { text: "At last." });
  const { id, seen } = await run({ repeat_limit: null, error_limit: null }, sunny);
  expect(seen.answer).toBe("At last.");
  const { request } = (await wire.get(`/sessions/${id}`)).body;
  expect(request).toMatchObject({ repeat_limit: null, error_limit: null, token_budget: null });
  const other = await wire.create({ agent: { name: "x" }, messages: "Hi" });
  expect((await wire.get(`/sessions/${other}`)).body.request).toMatchObject({
    repeat_limit: 50,
    error_limit: 25,
  });
});

it.each([
  ["repeat_limit", 0],
  ["error_limit", -1],
  ["token_budget", 0],
  ["max_time_s", 0],
  ["idle_timeout_s", 0],
])("%s of %d is refused by name", async (name, value) => {
  const refused = await wire.post("/sessions", { agent: { name: "x" }, messages: "Hi", [name]: value });
  expect(refused.status).toBe(422);
  expect(refused.body.detail[0].loc).toEqual(["body", name]);
});
