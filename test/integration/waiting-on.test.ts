import { afterEach, expect, it } from "vitest";
import { type ModelScript, oneToolThenAnswer } from "../support/fake-model-server.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, weatherTool } from "../support/wire.ts";

let stack: TestStack | undefined;
afterEach(async () => {
  await stack?.close();
  stack = undefined;
});

const start = async (
  script: ModelScript,
  options: { worker?: boolean; env?: Record<string, string> } = {},
) => {
  stack = await startStack({ script, ...options });
  const wire = createWire(stack.baseUrl, apiKey);
  const id = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Hi" });
  const waitingOn = async () => (await wire.get(`/sessions/${id}/status`)).body.waiting_on;
  const until = (what: string) =>
    waitFor(
      async () => {
        const waiting = await waitingOn();
        return waiting?.what === what && waiting;
      },
      { what: `to wait for ${what}` },
    );
  return { wire, id, waitingOn, until };
};

it("a session that no worker has taken waits for a worker", async () => {
  const { waitingOn } = await start(() => ({ text: "Hi." }), { worker: false });
  expect(await waitingOn()).toEqual({
    what: "worker",
    since: expect.stringMatching(/^20/),
    deadline: null,
    heartbeat_at: null,
  });
});

it("a session whose model is asked waits for the model, with the worker's heartbeat and the lease's end", async () => {
  const { until } = await start(() => ({ hang: true }), { env: { TANDEM_LEASE_MS: "600" } });
  const first = await until("model");
  expect(Date.parse(first.deadline)).toBeGreaterThan(Date.parse(first.heartbeat_at));
  const later = await waitFor(
    async () => {
      const waiting = await until("model");
      return waiting.heartbeat_at > first.heartbeat_at && waiting;
    },
    { what: "a new heartbeat" },
  );
  expect(later.since).toBe(first.since);
});

it("a session whose model failed waits for the retry, and says when", async () => {
  const { until } = await start(() => ({ status: 503, body: {}, headers: { "retry-after": "60" } }));
  const waiting = await until("model_retry");
  expect(Date.parse(waiting.deadline) - Date.parse(waiting.since)).toBeGreaterThan(50_000);
});

it("a session with pending calls waits for tool results, and an ended one for nothing", async () => {
  const { wire, id, until, waitingOn } = await start(oneToolThenAnswer("get_weather", { city: "Rome" }));
  expect(await until("tool_results")).toMatchObject({ since: expect.any(String), deadline: null });
  await wire.send("DELETE", `/sessions/${id}`);
  expect(await waitingOn()).toBeNull();
});
