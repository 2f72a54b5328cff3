import pg from "pg";
import { afterEach, expect, inject, it } from "vitest";
import { createPlanned, serveSession } from "../support/caller.ts";
import { checkHistories, checkSession } from "../support/invariants.ts";
import { createLedger } from "../support/ledger.ts";
import { createPatientWire } from "../support/patient-wire.ts";
import { makePlans, planned } from "../support/planned-sessions.ts";
import { startProcess, type TestProcess } from "../support/processes.ts";
import { chooseSeed, seeded } from "../support/seeded.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";

const SESSIONS = 40;
const KILLS = 8;

const programs = inject("programs");

let stack: TestStack | undefined;
const workers: TestProcess[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close()));
  await stack?.close();
  stack = undefined;
});

function startWorker(env: Record<string, string>): TestProcess {
  const worker = startProcess({ entry: programs.worker, env });
  workers.push(worker);
  return worker;
}

it.each(backends)(
  "workers that are killed at random lose nothing and do nothing twice on %s",
  async (backend) => {
    const seed = chooseSeed();
    const random = seeded(seed);
    const env = { TANDEM_LEASE_MS: "700", TANDEM_SWEEP_MS: "200", LOG_LEVEL: "silent" };
    stack = await startStack({ backend, worker: false, script: planned(() => 20), env });
    const workerEnv = { ...env, ...stack.env };
    const wire = createPatientWire({ baseUrls: [stack.baseUrl], apiKey });
    const ledger = createLedger();
    let running = [startWorker(workerEnv), startWorker(workerEnv)];
    const plans = makePlans(SESSIONS, random);
    const ids = await Promise.all(plans.map((plan) => createPlanned(wire, plan)));
    const options = { wire, runTool: ledger.lookUp, postsTwice: () => random() < 0.3 };
    const served = Promise.all(ids.map((id) => serveSession(id, options)));
    for (let kill = 0; kill < KILLS; kill++) {
      // A random moment of somebody's work: after so many more requests of the model, or a while without any.
      const target = stack.model.requests.length + random.integer(1, 4);
      const deadline = Date.now() + 1_500;
      while (stack.model.requests.length < target && Date.now() < deadline) await wire.send("GET", "/agents");
      const [victim, other] = running as [TestProcess, TestProcess];
      victim.kill("SIGKILL");
      await victim.exited;
      running = [other, startWorker(workerEnv)];
    }
    await served;

    const db = new pg.Client({ connectionString: stack.databaseUrl });
    await db.connect();
    const faults = checkHistories(stack.model.requests);
    for (const [i, plan] of plans.entries())
      faults.push(...(await checkSession(db, { id: ids[i] ?? "", plan, ledger })));
    await db.end();
    expect(faults, `TEST_SEED=${seed}`).toEqual([]);
  },
);
