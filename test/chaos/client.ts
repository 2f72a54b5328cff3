// A client process: creates its sessions when their time comes, and serves each to its end. What it sees it writes to
// standard output, a line each; it may be killed at any moment and starts over from the plans alone.
import { setTimeout as delay } from "node:timers/promises";
import { createPlanned, serveSession } from "../support/caller.ts";
import { lookUpAt } from "../support/ledger.ts";
import { createPatientWire } from "../support/patient-wire.ts";
import type { Plan } from "../support/planned-sessions.ts";

/** What a client is told, as JSON in its one argument. */
export interface ClientTask {
  baseUrls: string[];
  apiKey: string;
  ledgerUrl: string;
  /** With the moment to create each, in epoch milliseconds. */
  plans: (Plan & { startAt: number })[];
}

const task = JSON.parse(process.argv[2] ?? "null") as ClientTask;
const say = (line: string) => process.stdout.write(`${line}\n`);

const wire = createPatientWire({
  ...task,
  patienceMs: 60_000,
  onRetry: (reason, request) => say(`retry ${reason} ${request}`),
});
const options = {
  wire,
  runTool: (key: string, callId: string) => lookUpAt(task.ledgerUrl, key, callId),
  postsTwice: () => Math.random() < 0.1,
  onReceipt: (status: string) => say(`receipt ${status}`),
};

async function play({ startAt, ...plan }: ClientTask["plans"][number]): Promise<void> {
  await delay(Math.max(0, startAt - Date.now()));
  const id = await createPlanned(wire, plan);
  say(`created ${plan.number} ${id}`);
  await serveSession(id, options);
}

await Promise.all(
  task.plans.map((plan) =>
    play(plan).catch((error: Error) => say(`fault session ${plan.number}: ${error.message}`)),
  ),
);
