// Several API processes and several workers on one database: whoever makes a step due, whoever runs it, and wherever
// its client waits. Where sweeps are far apart, only wake-ups and offers can make it quick.
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { createPlanned, serveSession } from "../support/caller.ts";
import { checkHistories, checkSession } from "../support/invariants.ts";
import { createLedger, type Ledger } from "../support/ledger.ts";
import type { PatientWire } from "../support/patient-wire.ts";
import { keysOf, makePlans, type Plan, planned } from "../support/planned-sessions.ts";
import { startProcess, type TestProcess } from "../support/processes.ts";
import { scrape, seriesOf } from "../support/scrape.ts";
import { chooseSeed, type Random, seeded } from "../support/seeded.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire } from "../support/wire.ts";

const SESSIONS = 48;

/** How long a poll may wait, in seconds: far longer than a step takes, and far shorter than the time to a sweep. */
const WAIT_S = 20;

/** Nothing is found by looking in the time of a test. */
const noSweeps = { TANDEM_SWEEP_MS: "60000", TANDEM_LEASE_MS: "600000" };

const programs = inject("programs");

let stack: TestStack;
const processes: TestProcess[] = [];

async function endFleet(): Promise<void> {
  await Promise.all(processes.splice(0).map((process) => process.close()));
  await stack.close();
}

interface Worker {
  process: TestProcess;
  /** Where it serves its metrics. */
  url: string;
}

/** Three API processes, three workers, and what they tell each other. */
interface Fleet {
  env: Record<string, string>;
  apis: string[];
  workers: Worker[];
  /** How often each worker was offered a step, by the id that it has in notes. */
  offers: Map<string, number>;
  /** The workers that have said they are gone. */
  gone: string[];
}

async function startFleet(
  backend: "postgres" | "redis",
  options: { random: Random; env: Record<string, string> },
): Promise<Fleet> {
  const script = planned(() => options.random.integer(5, 30));
  const env = { ...options.env, LOG_LEVEL: "info" };
  stack = await startStack({ backend, worker: false, script, env });
  const offers = new Map<string, number>();
  const gone: string[] = [];
  const present = new Set<string>();
  stack.engine.wake.receive((note) => {
    const [kind, id = ""] = note.split(".");
    if (kind === "free") present.add(id);
    if (kind === "gone") gone.push(id);
    if (kind === "offer") offers.set(id, (offers.get(id) ?? 0) + 1);
  });
  const fleetEnv = { ...stack.env, ...env };
  const [apis, workers] = await Promise.all([
    Promise.all([1, 2, 3].map(() => startApi(fleetEnv))),
    Promise.all([1, 2, 3].map(() => startWorker(fleetEnv))),
  ]);
  await waitFor(() => present.size === 3, { what: "the workers to say that they are there" });
  return { env: fleetEnv, apis, workers, offers, gone };
}

async function startApi(env: Record<string, string>): Promise<string> {
  const api = startProcess({ entry: programs.api, env });
  processes.push(api);
  const [, baseUrl = ""] = await api.waitForLine(/Server listening at (http:[^"]+)"/, 60_000);
  return baseUrl;
}

async function startWorker(env: Record<string, string>): Promise<Worker> {
  const process = startProcess({ entry: programs.worker, env: { ...env, TANDEM_METRICS_PORT: "0" } });
  processes.push(process);
  const [, url = ""] = await process.waitForLine(/metrics are at (http:.+)\/metrics"/, 60_000);
  return { process, url };
}

/** The clients of all sessions, and what they met. */
interface Load {
  ledger: Ledger;
  /** Polls whose time was over before anything had come. */
  readonly inVain: number;
  /** Resolves when each session has ended; gives what does not hold. */
  served: Promise<unknown[]>;
}

/** Serves sessions whose create, polls and results each go to another API process. Their numbers begin with `first`. */
function startLoad(fleet: Fleet, random: Random, first = 0): Load {
  const wires = fleet.apis.map((baseUrl) => createWire(baseUrl, apiKey));
  const ledger = createLedger();
  let inVain = 0;
  const toWire = (number: number): PatientWire => ({
    async send(method, path, request) {
      const place = method === "GET" ? 1 : path.endsWith("/tool_results") ? 2 : 0;
      const wire = wires[(number + place) % wires.length];
      if (!wire) throw new Error("There is no API process");
      const longer = path.replace(/wait_for_seconds=\d+/, `wait_for_seconds=${WAIT_S}`);
      const reply = await wire.send(method, longer, request);
      if (reply.status === 204) inVain++;
      return reply;
    },
  });
  const serve = async (plan: Plan) => {
    const wire = toWire(plan.number);
    const id = await createPlanned(wire, plan);
    await serveSession(id, { wire, runTool: ledger.lookUp });
    return { id, plan };
  };
  const plans = makePlans(SESSIONS, random).map((plan) => ({ ...plan, number: first + plan.number }));
  const check = async () => {
    const sessions = await Promise.all(plans.map(serve));
    const db = new pg.Client({ connectionString: stack.databaseUrl });
    await db.connect();
    const faults: unknown[] = checkHistories(stack.model.requests);
    for (const { id, plan } of sessions) faults.push(...(await checkSession(db, { id, plan, ledger })));
    await db.end();
    const calls = plans.flatMap(keysOf).length;
    if (ledger.runs !== calls) faults.push(`${ledger.runs} runs of ${calls} calls`);
    return faults;
  };
  const served = check();
  // Awaited at the end.
  served.catch(() => undefined);
  return {
    ledger,
    get inVain() {
      return inVain;
    },
    served,
  };
}

/** How many steps a worker has run, and how many it has found by looking. */
async function readWork({ url }: Worker): Promise<{ steps: number; swept: number }> {
  const series = await scrape(url);
  const sum = (name: string) => Object.values(seriesOf(series, name)).reduce((a, b) => a + b, 0);
  return {
    steps: sum("tandem_steps_total"),
    swept: seriesOf(series, "tandem_sweep_found_total")['{what="steps"}'] ?? 0,
  };
}

/** Resolves when the model has been asked so many more times. */
async function untilAsked(times: number): Promise<void> {
  const target = stack.model.requests.length + times;
  await waitFor(() => stack.model.requests.length >= target, { what: "model requests", timeoutMs: 60_000 });
}

describe.each(backends)("three API processes and three workers that never sweep, on %s", (backend) => {
  const seed = chooseSeed();
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await startFleet(backend, { random: seeded(seed), env: noSweeps });
  });
  afterAll(endFleet);

  it("serve each session whichever of them it meets, by wake-ups and offers alone", async () => {
    const load = startLoad(fleet, seeded(seed));
    expect(await load.served, `TEST_SEED=${seed}`).toEqual([]);
    expect(load.inVain, "polls that waited in vain").toBe(0);
    const work = await Promise.all(fleet.workers.map(readWork));
    expect(work.map(({ steps, swept }) => [steps > 0, swept])).toEqual(Array(3).fill([true, 0]));
    expect([...fleet.offers.values()].filter((count) => count > 0)).toHaveLength(3);
    // From the start of each process on, nothing was amiss.
    const warnings = processes.flatMap(({ stdout }) => stdout.filter((line) => /"level":[456]0/.test(line)));
    expect(warnings).toEqual([]);
  });

  it("lose nothing with a worker that is stopped, and offer it no more", async () => {
    fleet.offers.clear();
    const load = startLoad(fleet, seeded(seed + 1), SESSIONS);
    await untilAsked(SESSIONS);
    const stopped = fleet.workers[0]?.process;
    stopped?.kill("SIGTERM");
    expect(await stopped?.exited).toEqual({ code: 0, signal: null });
    const id = await waitFor(() => fleet.gone[0], { what: "the worker to have said that it is gone" });
    const offered = fleet.offers.get(id);
    expect(offered).toBeGreaterThan(0);
    expect(await load.served, `TEST_SEED=${seed}`).toEqual([]);
    expect([load.inVain, fleet.offers.get(id)]).toEqual([0, offered]);
  });
});

describe.each(backends)("three API processes and three workers that sweep, on %s", (backend) => {
  afterEach(endFleet);

  it("lose nothing with a worker that is killed, and share with one that is added", async () => {
    const seed = chooseSeed();
    const env = { TANDEM_LEASE_MS: "700", TANDEM_SWEEP_MS: "300" };
    const fleet = await startFleet(backend, { random: seeded(seed), env });
    const load = startLoad(fleet, seeded(seed));
    await untilAsked(SESSIONS);
    fleet.workers[0]?.process.kill("SIGKILL");
    const added = await startWorker(fleet.env);
    // Whatever is left of the first load, there is more for the new one.
    const more = startLoad(fleet, seeded(seed + 1), SESSIONS);
    expect([await load.served, await more.served], `TEST_SEED=${seed}`).toEqual([[], []]);
    expect((await readWork(added)).steps).toBeGreaterThan(0);
  });
});
