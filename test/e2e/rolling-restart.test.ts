import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { describe, expect, inject, it } from "vitest";
import { findFreePort } from "../../apps/standalone/src/embedded-postgres/find-free-port.ts";
import { createPlanned, serveSession } from "../support/caller.ts";
import type { ModelScript } from "../support/fake-model-server.ts";
import { checkHistories, checkSession } from "../support/invariants.ts";
import { createLedger } from "../support/ledger.ts";
import { createPatientWire } from "../support/patient-wire.ts";
import { makePlans, type Plan, planned } from "../support/planned-sessions.ts";
import { startProcess, type TestProcess } from "../support/processes.ts";
import { chooseSeed, seeded } from "../support/seeded.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";

const programs = inject("programs");

/** How many sessions are served at once. */
const LOAD = 4;

/** A lease that no test outlives: what is done although a worker has gone, was handed over. */
const env = { TANDEM_LEASE_MS: "600000", TANDEM_SWEEP_MS: "300", LOG_LEVEL: "info" };

/** A process of ours that is up. */
async function start(program: "api" | "worker", stack: TestStack, port = 0): Promise<TestProcess> {
  const child = startProcess({
    entry: programs[program],
    env: { ...stack.env, ...env, PORT: String(port) },
  });
  await child.waitForLine(/Server listening|the worker takes steps/, 90_000);
  return child;
}

/** Keeps to the plans, but for the very first request, which it leaves without an answer. */
function hangOnce(script: ModelScript): ModelScript {
  return (request, index) => (index === 0 ? { hang: true } : script(request, index));
}

describe("rolling restarts under load", () => {
  it.concurrent.each(backends)(
    "lose nothing, hand steps over, and show clients nothing that a retry does not cure on %s",
    async (backend) => {
      const seed = chooseSeed();
      const random = seeded(seed);
      const script = hangOnce(planned(() => random.integer(100, 500)));
      const stack = await startStack({ backend, worker: false, script, env });
      const ports = [await findFreePort(), await findFreePort()];
      const running = new Map<string, TestProcess>();
      const ledger = createLedger();
      const retries: string[] = [];
      const wire = createPatientWire({
        baseUrls: ports.map((port) => `http://127.0.0.1:${port}`),
        apiKey,
        onRetry: (reason) => retries.push(reason),
      });
      const steps: [string, () => Promise<TestProcess>][] = [
        ["worker 0", () => start("worker", stack)],
        ...ports.map(
          (port, i) => [`API ${i}`, () => start("api", stack, port)] as [string, () => Promise<TestProcess>],
        ),
        ["worker 1", () => start("worker", stack)],
      ];
      for (const [name, begin] of steps) running.set(name, await begin());

      let isRolling = true;
      const plans = makePlans(1_000, random);
      const served: { plan: Plan; id: string }[] = [];
      const options = { wire, runTool: ledger.lookUp, postsTwice: () => random() < 0.2 };
      const serveOn = async () => {
        while (isRolling) {
          const plan = plans.shift() as Plan;
          const id = await createPlanned(wire, plan);
          served.push({ plan, id });
          await serveSession(id, options);
        }
      };
      const load = Promise.all(Array.from({ length: LOAD }, serveOn));
      // Awaited at the end.
      load.catch(() => undefined);
      await waitFor(() => stack.model.requests.length > LOAD, { what: "the load", timeoutMs: 60_000 });
      for (const [name, begin] of steps) {
        const old = running.get(name);
        old?.kill("SIGTERM");
        expect(await old?.exited, `${name}: ${old?.stdout.join("\n")}`).toEqual({ code: 0, signal: null });
        running.set(name, await begin());
      }
      isRolling = false;
      await load;

      const db = new pg.Client({ connectionString: stack.databaseUrl });
      await db.connect();
      const faults = checkHistories(stack.model.requests);
      for (const { plan, id } of served) faults.push(...(await checkSession(db, { id, plan, ledger })));
      await db.end();
      for (const child of running.values()) await child.close();
      await stack.close();
      expect(faults, `TEST_SEED=${seed}`).toEqual([]);
      expect(served.length).toBeGreaterThan(LOAD);
      expect(retries.filter((reason) => !["connection", "503"].includes(reason))).toEqual([]);
    },
    240_000,
  );
});

describe("a second signal, more than a second after the first", () => {
  it.concurrent.each([
    ["worker", "waits for a model"],
    ["api", "waits for the rest of a request"],
  ] as const)("ends the %s process that %s with 1", async (program, _wait) => {
    const stack = await startStack({ worker: false, script: () => ({ hang: true }), env });
    const port = await findFreePort();
    const child = await start(program, stack, port);
    if (program === "worker") await holdWorker(stack);
    const socket = program === "api" ? await holdApi(port) : null;
    const startedAt = performance.now();
    let hasExited = false;
    void child.exited.then(() => {
      hasExited = true;
    });
    while (!hasExited) {
      child.kill("SIGTERM");
      await delay(100);
    }
    const tookMs = performance.now() - startedAt;
    expect(await child.exited, child.stdout.join("\n")).toEqual({ code: 1, signal: null });
    expect(child.stdout.join("\n")).toContain("second signal");
    expect(tookMs).toBeGreaterThan(1_000);
    socket?.destroy();
    await stack.close();
  });
});

async function holdWorker(stack: TestStack): Promise<void> {
  const wire = createPatientWire({ baseUrls: [stack.baseUrl], apiKey });
  await wire.send("POST", "/sessions", { body: { agent: { name: "x" }, messages: "Hi" } });
  await waitFor(() => stack.model.requests.length === 1, { what: "the model request" });
}

/** Sends the head of a request and the beginning of its body. */
async function holdApi(port: number) {
  const socket = connect(port, "127.0.0.1");
  const head = ["POST /api/v2/sessions HTTP/1.1", "Host: x", `Authorization: Bearer ${apiKey}`];
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(
    [...head, "Content-Type: application/json", "Content-Length: 100", "Expect: 100-continue", "", "{"].join(
      "\r\n",
    ),
  );
  await new Promise((resolve) => socket.once("data", resolve));
  return socket;
}
