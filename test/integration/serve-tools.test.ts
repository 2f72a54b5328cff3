// Tools that live apart from the programs that start sessions: several workers on the calls of many sessions.
import { serveTools, TandemClient, type Tool, tool } from "@tandem/sdk";
import { afterEach, describe, expect, it } from "vitest";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { keysOfTwo, lookUpDefinition, twoCalls } from "../support/two-calls.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, type Wire } from "../support/wire.ts";

let stack: TestStack;
let servings: ReturnType<typeof serveTools>[];

afterEach(async () => {
  await Promise.all(servings.map((serving) => serving.close()));
  await stack.close();
});

const open = async (options: Parameters<typeof startStack>[0]) => {
  stack = await startStack({ script: twoCalls, ...options });
  servings = [];
  return createWire(stack.baseUrl, apiKey);
};
/** A worker with a client of its own. */
const addWorker = (
  tools: Tool[],
  options: Partial<Parameters<typeof serveTools>[0]> & { key?: string; baseUrl?: string } = {},
) => {
  const { key = apiKey, baseUrl = stack.baseUrl, ...rest } = options;
  const client = new TandemClient({ baseUrl, apiKey: key });
  const serving = serveTools({ client, drainMs: 0, ...rest, tools });
  servings.push(serving);
  return serving;
};
const lookUp = (fn: (key: string, signal: AbortSignal) => unknown): Tool =>
  tool<{ key: string }>({ name: "look_up", description: "x", fn: ({ key }, { signal }) => fn(key, signal) });
const start = (wire: Wire, number: number, agent: object = {}) =>
  wire.create({ agent: { name: "x", tools: [lookUpDefinition], ...agent }, messages: `${number}` });

describe.each(backends)("on %s", (backend) => {
  it("two workers run every call of 200 sessions exactly once", async () => {
    const wire = await open({ backend });
    const api = await stack.addApi();
    const runs = new Map<string, string[]>();
    const worker = (name: string) =>
      lookUp((key) => {
        runs.set(key, [...(runs.get(key) ?? []), name]);
        return `${key}!`;
      });
    addWorker([worker("one")]);
    addWorker([worker("two")], { baseUrl: api.baseUrl });
    const ids = await Promise.all(Array.from({ length: 200 }, (_, number) => start(wire, number)));
    await waitFor(async () => (await countCompleted(wire)) === ids.length, {
      what: "all sessions to be completed",
      timeoutMs: 60_000,
    });
    const keys = ids.flatMap((_, number) => keysOfTwo(number));
    expect([...runs.keys()].sort()).toEqual(keys.sort());
    expect([...runs].filter(([, names]) => names.length !== 1)).toEqual([]);
    const [first = ""] = ids;
    expect((await wire.get(`/sessions/${first}/changes`)).body.answer).toBe("0.left! 0.right!");
    // Both had a part in it.
    expect(new Set([...runs.values()].flat()).size).toBe(2);
  }, 90_000);
});

it("a worker that has closed leaves its calls to another one at once", async () => {
  const wire = await open({});
  const hung: AbortSignal[] = [];
  const first = addWorker(
    [
      lookUp((_, signal) => {
        hung.push(signal);
        return new Promise(() => undefined);
      }),
    ],
    { leaseS: 3_600 },
  );
  const id = await start(wire, 7);
  await waitFor(() => hung.length === 2, { what: "both calls to hang" });
  addWorker([lookUp((key) => `${key} at last`)]);
  await first.close();
  expect((await wire.until(id, "completed")).answer).toBe("7.left at last 7.right at last");
  expect(hung.every(({ aborted }) => aborted)).toBe(true);
});

it("a handler is aborted when its session is cancelled", async () => {
  const wire = await open({});
  const signals: AbortSignal[] = [];
  const ends: string[] = [];
  addWorker(
    [
      lookUp((_, signal) => {
        signals.push(signal);
        return new Promise((resolve) => signal.addEventListener("abort", resolve));
      }),
    ],
    { leaseS: 0.5, onCall: ({ type }) => ends.push(type) },
  );
  const id = await start(wire, 1);
  await waitFor(() => signals.length === 2, { what: "the handlers" });
  await wire.send("DELETE", `/sessions/${id}`);
  await waitFor(() => ends.filter((type) => type === "gone").length === 2, { what: "both to be let go" });
  expect(signals.every(({ aborted }) => aborted)).toBe(true);
});

it("workers serve the agents that they name, of their own organization", async () => {
  const wire = await open({});
  const seen: string[] = [];
  const foreignKey = await stack.addOrganization("other");
  addWorker([lookUp((key) => seen.push(`foreign ${key}`))], { key: foreignKey });
  addWorker([lookUp((key) => seen.push(`mine ${key}`))], { agents: ["mine"] });
  const others = await start(wire, 1, { name: "others" });
  const mine = await start(wire, 2, { name: "mine" });
  await wire.until(mine, "completed");
  expect(seen.sort()).toEqual(["mine 2.left", "mine 2.right"]);
  expect((await wire.get(`/sessions/${others}/status`)).body.status).toBe("awaiting_tool_results");
  const { items } = (await wire.get("/tool_calls?tools=look_up")).body;
  expect(items.map(({ session_id }: { session_id: string }) => session_id)).toEqual([others, others]);
});

it("a worker goes on when the server is back", async () => {
  const wire = await open({ databaseProxy: true });
  const errors: unknown[] = [];
  addWorker([lookUp((key) => key)], { onError: (error) => errors.push(error), waitForSeconds: 1 });
  await wire.until(await start(wire, 1), "completed");
  stack.databaseProxy?.cut();
  await waitFor(() => errors.length > 0, { what: "an outage to be told", timeoutMs: 30_000 });
  stack.databaseProxy?.mend();
  const again = await waitFor(() => start(wire, 2).catch(() => null), {
    what: "a session",
    timeoutMs: 30_000,
  });
  await waitFor(async () => (await wire.get(`/sessions/${again}/status`)).body.status === "completed", {
    what: "the session to be completed",
    timeoutMs: 30_000,
  });
}, 90_000);

async function countCompleted(wire: Wire): Promise<number> {
  return (await wire.get("/sessions?owner=organization&status=completed&size=1")).body.total;
}
