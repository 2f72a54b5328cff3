// Two processes that serve a tool: one of them is killed in the middle of its work.
import { afterEach, expect, inject, it } from "vitest";
import { startProcess, type TestProcess } from "../support/processes.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { keysOfTwo, lookUpDefinition, twoCalls } from "../support/two-calls.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, type Wire } from "../support/wire.ts";

const SESSIONS = 100;

const programs = inject("programs");

let stack: TestStack;
const workers: TestProcess[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close()));
  await stack.close();
});

const runsOf = ({ stdout }: TestProcess) =>
  stdout.flatMap((line) => (line.startsWith("ran ") ? [line.slice("ran ".length)] : []));

/** Starts a process for each of these settings, and then the sessions. */
async function serveSessions(...settings: Record<string, string>[]) {
  stack = await startStack({ script: twoCalls });
  const wire = createWire(stack.baseUrl, apiKey);
  const env = { TANDEM_BASE_URL: stack.baseUrl, TANDEM_API_KEY: apiKey };
  for (const more of settings) {
    workers.push(startProcess({ entry: programs.toolServer, env: { ...env, ...more } }));
  }
  await Promise.all(workers.map((worker) => worker.waitForLine(/^serving$/)));
  const agent = { name: "x", tools: [lookUpDefinition] };
  const create = (_: unknown, number: number) => wire.create({ agent, messages: `${number}` });
  const ids = await Promise.all(Array.from({ length: SESSIONS }, create));
  const keys = ids.flatMap((__, number) => keysOfTwo(number));
  return { wire, keys };
}

const untilCompleted = (wire: Wire) =>
  waitFor(
    async () => {
      const { body } = await wire.get("/sessions?owner=organization&status=completed&size=1");
      return body.total === SESSIONS;
    },
    { what: "all sessions to be completed", timeoutMs: 90_000 },
  );

it("two processes run every call of 100 sessions exactly once, and end in good order", async () => {
  const { wire, keys } = await serveSessions({ RUN_MS: "1", LEASE_S: "30" }, { RUN_MS: "1", LEASE_S: "30" });
  await untilCompleted(wire);
  expect(workers.flatMap(runsOf).sort()).toEqual(keys.sort());
  for (const worker of workers) worker.kill("SIGTERM");
  for (const worker of workers) expect(await worker.exited).toEqual({ code: 0, signal: null });
  expect(workers.flatMap(({ stderr }) => stderr)).toEqual([]);
}, 120_000);

it("what a process held that was killed is taken over when its claims lapse, and nothing else runs twice", async () => {
  const { wire, keys } = await serveSessions(
    { RUN_MS: "1", LEASE_S: "2", HANG_AFTER: "20" },
    { RUN_MS: "100", LEASE_S: "2" },
  );
  const [victim, other] = workers as [TestProcess, TestProcess];
  // It runs ten at a time: these hang.
  await waitFor(() => runsOf(victim).length === 30, { what: "the first process to be at work" });
  victim.kill("SIGKILL");
  await victim.exited;
  await untilCompleted(wire);
  const [lost, taken] = [runsOf(victim), runsOf(other)];
  expect([...new Set([...lost, ...taken])].sort()).toEqual(keys.sort());
  expect(new Set(taken).size).toBe(taken.length);
  const twice = lost.filter((key) => taken.includes(key));
  expect(lost.slice(20).sort()).toEqual(expect.arrayContaining(twice));
  expect(twice.length).toBe(10);
}, 120_000);
