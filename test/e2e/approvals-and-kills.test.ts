// Processes that die beside decisions and deadlines: nothing is lost, each call settles once, and the loop goes on
// once.
import pg from "pg";
import { afterEach, describe, expect, inject, it } from "vitest";
import {
  type Course,
  decidedScript,
  FATES,
  findDecidedFaults,
  serveDecided,
  toDecidedRequest,
  toDecision,
} from "../support/decided-sessions.ts";
import { checkHistories } from "../support/invariants.ts";
import { createPatientWire } from "../support/patient-wire.ts";
import { startProcess, type TestProcess } from "../support/processes.ts";
import { chooseSeed, type Random, seeded } from "../support/seeded.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, type Wire } from "../support/wire.ts";

const KILLS = 3;
const timing = { TANDEM_LEASE_MS: "600", TANDEM_SWEEP_MS: "150" };
const programs = inject("programs");
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Scene {
  seed: number;
  random: Random;
  stack: TestStack;
  db: pg.Client;
  wire: Wire;
  start(program: keyof typeof programs, env?: Record<string, string>): TestProcess;
  /** Creates sessions that make these calls in each of so many steps. */
  create(count: number, course: Course): Promise<string[]>;
}

async function openScene(backend: "postgres" | "redis"): Promise<Scene> {
  const seed = chooseSeed();
  const stack = await startStack({ backend, worker: false, script: decidedScript, env: timing });
  closers.push(() => stack.close());
  const db = new pg.Client({ connectionString: stack.databaseUrl });
  await db.connect();
  closers.push(() => db.end());
  const wire = createWire(stack.baseUrl, apiKey);
  return {
    ...{ seed, random: seeded(seed), stack, db, wire },
    start(program, env = {}) {
      const child = startProcess({ entry: programs[program], env: { ...stack.env, ...env } });
      closers.push(() => child.close());
      return child;
    },
    create: (count, course) =>
      Promise.all(Array.from({ length: count }, () => wire.create(toDecidedRequest(course)))),
  };
}

const CRASH = { CRASH_AT: "before queueing", CRASH_PASS: "1" };

async function expectSigkill(child: TestProcess): Promise<void> {
  expect(await child.exited, child.stderr.join("\n")).toEqual({ code: null, signal: "SIGKILL" });
}

async function startCrashingApi(scene: Scene, pass = 1) {
  const api = scene.start("crashingApi", { ...CRASH, CRASH_PASS: String(pass) });
  const [, baseUrl = ""] = await api.waitForLine(/listens on (\S+)/, 90_000);
  return { api, baseUrl };
}

async function expectNothingWrong({ seed, stack, db, wire }: Scene, ids: string[], course: Course) {
  for (const id of ids) await wire.until(id, "completed", "failed");
  const faults = await Promise.all(ids.map((id) => findDecidedFaults(db, { id, ...course })));
  expect([...faults.flat(), ...checkHistories(stack.model.requests)], `TEST_SEED=${seed}`).toEqual([]);
}

const waitingFor = async ({ wire }: Scene, ids: string[], status: string) => {
  for (const id of ids) await wire.until(id, status);
};

const approvalsOf = async ({ wire }: Scene, id: string) => {
  const { new_events } = (await wire.get(`/sessions/${id}/changes`)).body;
  return new_events.findLast(({ type }: { type: string }) => type === "ActiveStateChangeEvent").data
    .pending_approvals;
};

describe("decisions and deadlines hold", () => {
  it.each(backends)(
    "while workers are killed at random, and an API process before it queues a step, on %s",
    async (backend) => {
      const scene = await openScene(backend);
      const course = { steps: 2, fates: FATES };
      let running = [scene.start("worker"), scene.start("worker")] as const;
      const { api, baseUrl } = await startCrashingApi(scene, scene.random.integer(1, 2));
      const ids = await scene.create(6, course);
      const wire = createPatientWire({ baseUrls: [baseUrl, scene.stack.baseUrl], apiKey });
      const served = Promise.all(ids.map((id) => serveDecided(id, wire)));
      for (let kill = 0; kill < KILLS; kill++) {
        const target = scene.stack.model.requests.length + scene.random.integer(1, 6);
        const deadline = Date.now() + scene.random.integer(200, 900);
        const isTime = () => scene.stack.model.requests.length >= target || Date.now() >= deadline;
        await waitFor(isTime, { what: "a moment to kill a worker" });
        const [victim, other] = running;
        victim.kill("SIGKILL");
        await victim.exited;
        running = [other, scene.start("worker")];
      }
      await served;
      await expectSigkill(api);
      const { seed, db } = scene;
      const faults = await Promise.all(ids.map((id) => findDecidedFaults(db, { id, ...course })));
      faults.push(checkHistories(scene.stack.model.requests).map(({ text }) => text));
      expect(faults.flat(), `TEST_SEED=${seed}`).toEqual([]);
    },
  );

  it("when an API process dies between the commit of the last decision and its job", async () => {
    const scene = await openScene("postgres");
    const course: Course = { steps: 1, fates: ["denied"] };
    scene.start("worker");
    const [{ api, baseUrl }, ids] = await Promise.all([startCrashingApi(scene), scene.create(1, course)]);
    await waitingFor(scene, ids, "awaiting_approval");
    const path = `/sessions/${ids[0]}/approvals`;
    const decision = toDecision((await approvalsOf(scene, ids[0] ?? ""))[0]);
    await expect(createWire(baseUrl, apiKey).post(path, decision)).rejects.toThrow();
    await expectSigkill(api);
    const again = await scene.wire.post(path, decision);
    expect(again.body.receipts?.[0].status ?? again.body.code).toMatch(/^(duplicate|session_finished)$/);
    await expectNothingWrong(scene, ids, course);
  });

  it("when a worker dies between the commit of a deadline and its job", async () => {
    const scene = await openScene("postgres");
    const course: Course = { steps: 1, fates: ["forgotten", "slow"] };
    const dying = scene.start("crashingWorker", CRASH);
    const ids = await scene.create(3, course);
    await expectSigkill(dying);
    scene.start("worker");
    await expectNothingWrong(scene, ids, course);
  });

  it("when calls wait and their time passes without a worker, and then two start at once", async () => {
    const scene = await openScene("postgres");
    const course: Course = { steps: 1, fates: ["forgotten", "slow"], waitS: 60 };
    const first = scene.start("worker");
    const ids = await scene.create(12, course);
    await waitFor(async () => (await countWaiting(scene)) === ids.length, { what: "all calls to wait" });
    first.kill("SIGKILL");
    await first.exited;
    await scene.db.query("UPDATE sessions SET call_deadline_at = call_deadline_at - interval '2 minutes'");
    await scene.db.query("UPDATE tool_calls SET deadline_at = deadline_at - interval '2 minutes'");
    scene.start("worker");
    scene.start("worker");
    await expectNothingWrong(scene, ids, course);
  });
});

it("a batch of decisions whose connection is cut is taken as a whole or not at all, and may be sent again", async () => {
  const scene = await openScene("postgres");
  const course: Course = { steps: 1, fates: ["denied", "denied", "denied", "denied"] };
  scene.start("worker");
  const ids = await scene.create(24, course);
  await waitingFor(scene, ids, "awaiting_approval");
  const proxy = await startTcpProxy(Number(new URL(scene.stack.baseUrl).port));
  closers.push(() => proxy.close());
  for (const id of ids) {
    const path = `/sessions/${id}/approvals`;
    const approvals = (await approvalsOf(scene, id)).map(toDecision);
    const sent = createWire(`http://127.0.0.1:${proxy.port}`, apiKey).post(path, { approvals });
    const cut = new Promise((resolve) => setTimeout(resolve, scene.random.integer(0, 8))).then(proxy.cut);
    await Promise.allSettled([sent, cut]);
    await proxy.mend();
    const { status, body } = await scene.wire.post(path, { approvals });
    const kinds = new Set(body.receipts?.map((receipt: { status: string }) => receipt.status) ?? [body.code]);
    expect([status, kinds.size]).toEqual([kinds.has("session_finished") ? 409 : 202, 1]);
  }
  await expectNothingWrong(scene, ids, course);
});

async function countWaiting({ db }: Scene): Promise<number> {
  const { rows } = await db.query("SELECT count(DISTINCT session_id)::int AS count FROM tool_calls");
  return rows[0].count;
}
