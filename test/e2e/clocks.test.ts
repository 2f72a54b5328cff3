import pg from "pg";
import { describe, expect, inject, it } from "vitest";
import type { ModelScript, ParsedChatRequest } from "../support/fake-model-server.ts";
import { repositoryRoot, startProcess, type TestProcess } from "../support/processes.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire } from "../support/wire.ts";

const TEN_MINUTES_MS = 600_000;
const LEASE_MS = 1_500;
/** Longer than a lease, so that it has to be kept. */
const SLOW_MS = 2_500;
const RETRY_AFTER_S = 3;
/** How long a session stays idle, or may run. */
const DEADLINE_S = 2;
/** How late something may happen: far less than clocks are apart, far more than a busy machine needs. */
const LATE_MS = 20_000;

const programs = inject("programs");

async function startShifted(stack: TestStack, shiftMs: number): Promise<TestProcess> {
  const env = {
    ...stack.env,
    LOG_LEVEL: "info",
    NODE_OPTIONS: `--import=${repositoryRoot}test/support/shifted-clock.mjs`,
    CLOCK_SHIFT_MS: String(shiftMs),
  };
  const worker = startProcess({ entry: programs.worker, env });
  const [line] = await worker.waitForLine(/.*the worker takes steps.*/, 90_000);
  // That the shift works at all.
  expect(Math.abs(JSON.parse(line).time - Date.now() - shiftMs)).toBeLessThan(60_000);
  return worker;
}

/** What a session's message asks the model for. */
const scripts: Record<string, (earlier: number) => Awaited<ReturnType<ModelScript>>> = {
  slow: () => ({ text: "Done.", delayMs: SLOW_MS }),
  busy: (earlier) =>
    earlier === 0
      ? { status: 429, body: {}, headers: { "retry-after": String(RETRY_AFTER_S) } }
      : { text: "Done." },
  idle: () => ({ text: "Hello." }),
  asleep: () => ({ hang: true }),
  // "Your time is over": what a model is told in its last step.
  Your: () => ({ text: "Awake." }),
  fatal: (earlier) => (earlier === 0 ? { hang: true } : { text: "Done." }),
};

const messageOf = ({ body }: ParsedChatRequest) => String(body.messages.at(-1)?.content);

describe.concurrent("clocks ten minutes apart", () => {
  it.each(backends)("steal no lease and miss no deadline on %s", async (backend) => {
    const seen = new Map<string, number[]>();
    const script: ModelScript = (request) => {
      const message = messageOf(request);
      const times = seen.get(message) ?? [];
      seen.set(message, [...times, performance.now()]);
      const [kind = ""] = message.split(" ");
      return scripts[kind]?.(times.length) ?? { text: "?" };
    };
    const env = { TANDEM_LEASE_MS: String(LEASE_MS), TANDEM_SWEEP_MS: "200" };
    const stack = await startStack({ backend, worker: false, script, env });
    const wire = createWire(stack.baseUrl, apiKey);
    const shifts = [-TEN_MINUTES_MS, 0, TEN_MINUTES_MS];
    const workers = await Promise.all(shifts.map((shift) => startShifted(stack, shift)));
    const create = (kind: string, count: number) =>
      Promise.all(
        Array.from({ length: count }, async (_, i) => {
          const message = `${kind} ${i}`;
          return { message, id: await wire.create({ agent: { name: "x" }, messages: message }) };
        }),
      );
    const [slow, busy] = await Promise.all([create("slow", 6), create("busy", 6)]);
    const idle = await wire.create({ agent: { name: "x" }, messages: "idle", idle_timeout_s: DEADLINE_S });
    const timed = await wire.create({ agent: { name: "x" }, messages: "asleep", max_time_s: DEADLINE_S });
    await wire.until(idle, "completed");
    expect((await wire.until(timed, "timed_out")).answer).toBe("Awake.");
    for (const id of [idle, timed]) {
      // Both are stamped by the database.
      const { started_at: start, finished_at: end } = (await wire.get(`/sessions/${id}`)).body;
      expect(Date.parse(end) - Date.parse(start)).toBeGreaterThanOrEqual(DEADLINE_S * 1_000);
      expect(Date.parse(end) - Date.parse(start)).toBeLessThan(DEADLINE_S * 1_000 + LATE_MS);
    }
    for (const { id } of [...slow, ...busy]) await wire.until(id, "completed");
    // A lease that is kept is taken by nobody, whatever their clocks say.
    for (const { message } of slow) expect(seen.get(message), message).toHaveLength(1);
    for (const { message } of busy) {
      const [first = 0, second = 0, ...more] = seen.get(message) ?? [];
      expect(more, message).toEqual([]);
      expect(second - first, message).toBeGreaterThan(RETRY_AFTER_S * 1_000 - 50);
      expect(second - first, message).toBeLessThan(RETRY_AFTER_S * 1_000 + LATE_MS);
    }

    const fatal = await create("fatal", 12);
    await waitFor(() => fatal.every(({ message }) => seen.has(message)), { what: "the model requests" });
    const [behind, right, ahead] = workers as [TestProcess, TestProcess, TestProcess];
    const candidates = backend === "postgres" ? [ahead, behind, right] : [behind, ahead, right];
    const { survivor, orphans } = await chooseSurvivor(stack, candidates);
    for (const victim of workers.filter((worker) => worker !== survivor)) victim.kill("SIGKILL");
    const diedAt = performance.now();
    for (const { id } of fatal.filter(({ id: session }) => orphans.has(session)))
      await wire.until(id, "completed");
    for (const { message } of fatal.filter(({ id }) => orphans.has(id))) {
      const [, second = 0] = seen.get(message) ?? [];
      expect(second - diedAt, message).toBeLessThan(LEASE_MS + LATE_MS);
    }
    await Promise.all(workers.map((worker) => worker.close()));
    await stack.close();
  });
});

/** The first of these workers whose fellows hold steps, with the sessions of those. */
async function chooseSurvivor(stack: TestStack, candidates: readonly TestProcess[]) {
  for (const survivor of candidates) {
    const orphans = await findOrphans(stack, survivor);
    if (orphans.size > 0) return { survivor, orphans };
  }
  throw new Error("No worker holds a step");
}

/** The sessions whose steps are claimed by other workers than this one. */
async function findOrphans(stack: TestStack, survivor: TestProcess): Promise<Set<string>> {
  const db = new pg.Client({ connectionString: stack.databaseUrl });
  await db.connect();
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM sessions
      WHERE status = 'running' AND lease_until IS NOT NULL AND split_part(worker, '-', -2) <> $1`,
    [String(survivor.pid)],
  );
  await db.end();
  return new Set(rows.map(({ id }) => id));
}
