import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { afterEach, describe, expect, inject, it } from "vitest";
import { createPlanned, serveSession } from "../support/caller.ts";
import type { CrashPoint } from "../support/crashing/crash-at.ts";
import { checkHistories, checkSession } from "../support/invariants.ts";
import { createLedger, type Ledger, serveLedger } from "../support/ledger.ts";
import { createPatientWire, type PatientWire } from "../support/patient-wire.ts";
import { makePlans, type Plan, planned } from "../support/planned-sessions.ts";
import { startProcess, type TestProcess } from "../support/processes.ts";
import { chooseSeed, type Random, seeded } from "../support/seeded.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";

const SESSIONS = 6;
const CRASHES = 3;
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
  ledger: Ledger;
  plans: Plan[];
  /** Sends to the API in the test's process. */
  wire: PatientWire;
  start(program: keyof typeof programs, env?: Record<string, string>, args?: string[]): TestProcess;
  /** A process that dies at this point: at its `maxPass`th pass or one before, at once or a little later. */
  startCrashing(
    program: keyof typeof programs,
    at: CrashPoint,
    maxPass: number,
    env?: Record<string, string>,
    args?: string[],
  ): TestProcess;
}

/** How long the model takes for a step, in milliseconds. */
const QUICK: [number, number] = [5, 60];
/** So long that a process that is stopped a moment after it took a step still has it. */
const SLOW: [number, number] = [150, 300];

async function openScene(backend: "postgres" | "redis", modelMs = QUICK): Promise<Scene> {
  const seed = chooseSeed();
  const random = seeded(seed);
  const stack = await startStack({
    backend,
    worker: false,
    script: planned(() => random.integer(...modelMs)),
    env: timing,
  });
  closers.push(() => stack.close());
  const start: Scene["start"] = (program, env = {}, args = []) => {
    const child = startProcess({ entry: programs[program], env: { ...stack.env, ...env }, args });
    closers.push(() => child.close());
    return child;
  };
  return {
    seed,
    random,
    stack,
    ledger: createLedger(),
    plans: makePlans(SESSIONS, random),
    wire: createPatientWire({ baseUrls: [stack.baseUrl], apiKey }),
    start,
    startCrashing(program, at, maxPass, env, args) {
      const crash = {
        CRASH_AT: at,
        CRASH_PASS: String(random.integer(1, maxPass)),
        CRASH_DELAY_MS: String(random.pick([0, random.integer(0, 50)])),
      };
      return start(program, { ...env, ...crash }, args);
    },
  };
}

const serve = ({ ledger, random }: Scene, wire: PatientWire, ids: readonly string[]) =>
  Promise.all(
    ids.map((id) => serveSession(id, { wire, runTool: ledger.lookUp, postsTwice: () => random() < 0.2 })),
  );

const createAll = ({ plans, wire }: Scene) => Promise.all(plans.map((plan) => createPlanned(wire, plan)));

async function expectSigkill(child: TestProcess): Promise<void> {
  const end = await child.exited;
  expect(end, child.stderr.join("\n")).toEqual({ code: null, signal: "SIGKILL" });
}

/** API processes that die before they queue a step, and for the i-th session a wire that asks one of them first. */
async function startCrashingApis(scene: Scene) {
  const apis = Array.from({ length: CRASHES }, () =>
    scene.startCrashing("crashingApi", "before queueing", 2),
  );
  const lines = await Promise.all(apis.map((api) => api.waitForLine(/listens on (\S+)/, 90_000)));
  const wires = lines.map(([, baseUrl = ""]) =>
    createPatientWire({ baseUrls: [baseUrl, scene.stack.baseUrl], apiKey }),
  );
  return { apis, wireOf: (i: number) => wires[i % wires.length] as PatientWire };
}

/** Stops a worker with a SIGSTOP while it holds a claim. */
async function stopInTheMiddle(db: pg.Client, worker: TestProcess, random: Random): Promise<void> {
  const isStopped = async () => {
    if ((await countClaims(db, worker)) === 0) return false;
    await delay(random.integer(0, 50));
    worker.kill("SIGSTOP");
    // What it has sent before, its commit for one, is done by then.
    await delay(50);
    if ((await countClaims(db, worker)) > 0) return true;
    worker.kill("SIGCONT");
    return false;
  };
  await waitFor(isStopped, { what: `worker ${worker.pid} to hold a claim when it is stopped` });
}

/** How many claims are a worker process's, lapsed ones too. */
async function countClaims(db: pg.Client, { pid }: TestProcess): Promise<number> {
  const { rowCount } = await db.query(
    "SELECT FROM sessions WHERE split_part(worker, '-', -2) = $1 AND lease_until IS NOT NULL",
    [String(pid)],
  );
  return rowCount ?? 0;
}

const countLost = ({ stdout }: TestProcess): number =>
  stdout.filter((line) => line.includes("the claim is gone; nothing was written")).length;

async function connectTo(stack: TestStack): Promise<pg.Client> {
  const db = new pg.Client({ connectionString: stack.databaseUrl });
  await db.connect();
  closers.push(() => db.end());
  return db;
}

async function expectNothingWrong(scene: Scene, ids: readonly string[]): Promise<void> {
  const { seed, stack, plans, ledger } = scene;
  const db = await connectTo(stack);
  const faults = checkHistories(stack.model.requests);
  for (const [i, id] of ids.entries())
    faults.push(...(await checkSession(db, { id, plan: plans[i] as Plan, ledger })));
  expect(faults, `TEST_SEED=${seed}`).toEqual([]);
}

describe.each(backends)("nothing is lost and nothing is done twice on %s", (backend) => {
  it.each(["before queueing", "after the claim", "after the reply", "before the commit"] as const)(
    "when workers die %s",
    async (at) => {
      const scene = await openScene(backend);
      // A step that goes on by itself is queued by its worker. One that dies a moment later passes there with others
      // too: so many of them that each worker gets to its end.
      if (at === "before queueing") for (const plan of scene.plans) plan.steps.splice(1, 9, 0, 0, 0, 0, 0, 0);
      const ids = await createAll(scene);
      const served = serve(scene, scene.wire, ids);
      const crashing = Array.from({ length: CRASHES }, () => scene.startCrashing("crashingWorker", at, 3));
      await Promise.all(crashing.map(expectSigkill));
      scene.start("worker");
      await served;
      await expectNothingWrong(scene, ids);
    },
  );

  it("when API processes die between the commit of a session and its job", async () => {
    const scene = await openScene(backend);
    scene.start("worker");
    const { apis, wireOf } = await startCrashingApis(scene);
    const ids = await Promise.all(scene.plans.map((plan, i) => createPlanned(wireOf(i), plan)));
    const served = serve(scene, scene.wire, ids);
    await Promise.all(apis.map(expectSigkill));
    await served;
    await expectNothingWrong(scene, ids);
  });

  it("when API processes die between the commit of the last result and the next job", async () => {
    const scene = await openScene(backend);
    scene.start("worker");
    const { apis, wireOf } = await startCrashingApis(scene);
    const ids = await createAll(scene);
    const served = Promise.all(ids.map((id, i) => serve(scene, wireOf(i), [id])));
    await Promise.all(apis.map(expectSigkill));
    await served;
    await expectNothingWrong(scene, ids);
  });

  it("when workers come back after they lost their lease", async () => {
    const scene = await openScene(backend, SLOW);
    const { stack, plans, random } = scene;
    const db = await connectTo(stack);
    const ids: string[] = [];
    let [victim, other] = [
      scene.start("worker", { LOG_LEVEL: "info" }),
      scene.start("worker", { LOG_LEVEL: "info" }),
    ];
    for (let round = 0; round < 3; round++) {
      // So that it is the victim that takes a step.
      other.kill("SIGSTOP");
      const started = await Promise.all(
        plans.slice(2 * round, 2 * round + 2).map((plan) => createPlanned(scene.wire, plan)),
      );
      ids.push(...started);
      const served = serve(scene, scene.wire, started);
      await stopInTheMiddle(db, victim, random);
      const lost = countLost(victim);
      other.kill("SIGCONT");
      const isTakenOver = async () => (await countClaims(db, victim)) === 0;
      await waitFor(isTakenOver, { what: "the steps to be taken over", timeoutMs: 30_000 });
      victim.kill("SIGCONT");
      await waitFor(() => countLost(victim) > lost, { what: "the late write to be refused" });
      await served;
      [victim, other] = [other, victim];
    }
    await expectNothingWrong(scene, ids);
  });

  it("when clients die between running a tool and posting its result", async () => {
    const scene = await openScene(backend);
    const { ledger, stack } = scene;
    const served = await serveLedger(ledger.lookUp);
    closers.push(served.close);
    scene.start("worker");
    const ids = await createAll(scene);
    const env = { TANDEM_BASE_URL: stack.baseUrl, LEDGER_URL: served.url };
    const crashing = Array.from({ length: CRASHES }, (_, i) =>
      scene.startCrashing("crashingClient", "before posting", 2, env, ids.slice(2 * i, 2 * i + 2)),
    );
    await Promise.all(crashing.map(expectSigkill));
    const last = scene.start("crashingClient", env, ids);
    expect(await last.exited, last.stderr.join("\n")).toEqual({ code: 0, signal: null });
    await expectNothingWrong(scene, ids);
  });
});
