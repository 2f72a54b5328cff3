// Two processes that serve a tool: one of them is killed in the middle of its work.
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { startProcess, type TestProcess } from "../support/processes.ts";
import { bundlePrograms, type Programs } from "../support/programs.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { keysOfTwo, lookUpDefinition, twoCalls } from "../support/two-calls.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, type Wire } from "../support/wire.ts";

const SESSIONS = 200;

let programs: Programs<"worker">;
beforeAll(async () => {
  programs = await bundlePrograms({ worker: "test/support/serve-look-up.ts" });
});
afterAll(() => programs.close());

let stack: TestStack;
const workers: TestProcess[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close()));
  await stack.close();
});

const runsOf = ({ stdout }: TestProcess) =>
  stdout.flatMap((line) => (line.startsWith("ran ") ? [line.slice("ran ".length)] : []));

async function serveSessions({ runMs, leaseS }: { runMs: number; leaseS: number }) {
  stack = await startStack({ script: twoCalls });
  const wire = createWire(stack.baseUrl, apiKey);
  const env = { TANDEM_BASE_URL: stack.baseUrl, TANDEM_API_KEY: apiKey };
  for (let i = 0; i < 2; i++) {
    workers.push(
      startProcess({
        entry: programs.paths.worker,
        env: { ...env, TANDEM_RUN_MS: `${runMs}`, TANDEM_LEASE_S: `${leaseS}` },
      }),
    );
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
    { what: "all sessions to be completed", timeoutMs: 60_000 },
  );

it("two processes run every call of 200 sessions exactly once, and end in good order", async () => {
  const { wire, keys } = await serveSessions({ runMs: 1, leaseS: 30 });
  await untilCompleted(wire);
  expect(workers.flatMap(runsOf).sort()).toEqual(keys.sort());
  for (const worker of workers) worker.kill("SIGTERM");
  for (const worker of workers) expect(await worker.exited).toEqual({ code: 0, signal: null });
  expect(workers.flatMap(({ stderr }) => stderr)).toEqual([]);
}, 120_000);

it("what a process held that was killed is taken over when its claims lapse, and nothing else runs twice", async () => {
  const { wire, keys } = await serveSessions({ runMs: 50, leaseS: 2 });
  const [victim, other] = workers as [TestProcess, TestProcess];
  await waitFor(() => runsOf(victim).length >= 30, { what: "the first process to be at work" });
  victim.kill("SIGKILL");
  await victim.exited;
  await untilCompleted(wire);
  const [lost, taken] = [runsOf(victim), runsOf(other)];
  expect([...new Set([...lost, ...taken])].sort()).toEqual(keys.sort());
  expect(new Set(taken).size).toBe(taken.length);
  const twice = lost.filter((key) => taken.includes(key));
  // Those that it ran when it died: no more than it runs at a time.
  expect(twice.length).toBeGreaterThan(0);
  expect(twice.length).toBeLessThanOrEqual(10);
}, 120_000);
