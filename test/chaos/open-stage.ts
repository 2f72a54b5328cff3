// Everything that a chaos run plays with: a database, a queue, a model and the world outside in this process's hands,
// and the stack itself in processes of its own.
import { migrate } from "@tandem/engine/postgres/migrate";
import { findFreePort } from "../../apps/standalone/src/embedded-postgres/find-free-port.ts";
import { type FakeModel, startFakeModel } from "../support/fake-model-server.ts";
import { createLedger, type Ledger, serveLedger } from "../support/ledger.ts";
import { type Plan, planned } from "../support/planned-sessions.ts";
import { type PrivatePostgres, startPrivatePostgres } from "../support/private-postgres.ts";
import { bundlePrograms, testPrograms } from "../support/programs.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { type Random, seeded } from "../support/seeded.ts";
import type { ClientTask } from "./client.ts";
import { type SupervisedProcess, superviseProcess } from "./supervised-process.ts";

export interface Stage {
  apis: SupervisedProcess[];
  workers: SupervisedProcess[];
  clients: SupervisedProcess[];
  postgres: PrivatePostgres;
  redis: TestRedis | null;
  model: FakeModel;
  ledger: Ledger;
  /** What the clients said. */
  lines: string[];
  /** How often a client was killed between a tool's effect and the post of its result. */
  readonly deathsAfterTool: number;
}

/** Takes what closes a part, to be called in the reverse order. */
export type Closers = (() => Promise<unknown>)[];

/** How long a lease of the stage lasts, in milliseconds. */
export const LEASE_MS = 1_500;

const APIS = 2;
const WORKERS = 2;
const CLIENTS = 3;
const API_KEY = "key-of-the-chaos-run";
/** How likely a client is killed when one of its tools has had its effect, for the first time. */
const DEATH_AFTER_TOOL = 0.03;
/** The clients start their sessions within this part of the time. */
const STARTING = 0.85;

/** The paths of the programs that a stage runs. */
export type ChaosPrograms = Record<"api" | "worker" | "chaosClient", string>;

export async function openStage(options: {
  backend: "postgres" | "redis";
  plans: readonly Plan[];
  seconds: number;
  seed: number;
  /** What is bundled already. */
  programs?: ChaosPrograms;
  closers: Closers;
}): Promise<Stage> {
  const { plans, closers } = options;
  const random = seeded(options.seed);
  const keep = <T extends { close(): Promise<unknown> }>(part: T): T => {
    closers.push(() => part.close());
    return part;
  };
  const { api, worker, chaosClient } = testPrograms;
  const paths = options.programs ?? keep(await bundlePrograms({ api, worker, chaosClient })).paths;
  const postgres = keep(await startPrivatePostgres());
  await migrate(postgres.url);
  const redis = options.backend === "redis" ? keep(await startRedis()) : null;
  const model = keep(await startFakeModel(planned(() => random.integer(10, 250))));
  const ledger = createLedger();
  const clients: SupervisedProcess[] = [];
  let deathsAfterTool = 0;
  const world = keep(
    await serveLedger(async (key, callId, pid) => {
      const isRepeat = ledger.valueOf(callId) !== undefined;
      const value = ledger.lookUp(key, callId);
      const client = clients.find((process) => process.pid === pid);
      if (!client || isRepeat || random() >= DEATH_AFTER_TOOL) return value;
      deathsAfterTool++;
      client.kill();
      return value;
    }),
  );
  const env = {
    DATABASE_URL: postgres.url,
    ...(redis ? { REDIS_URL: redis.url } : {}),
    LOG_LEVEL: "info",
    TANDEM_API_KEY: API_KEY,
    TANDEM_COMPATIBLE_BASE_URL: model.baseUrl,
    TANDEM_COMPATIBLE_API_KEY: "fake-provider-key",
    TANDEM_MODEL: "compatible/fake",
    TANDEM_LEASE_MS: String(LEASE_MS),
    TANDEM_SWEEP_MS: "300",
  };
  const supervise = (name: string, entry: string, extra: Partial<Parameters<typeof superviseProcess>[0]>) =>
    keep(superviseProcess({ name, entry, env, restartAfterMs: () => random.integer(50, 500), ...extra }));
  const ports = await Promise.all(Array.from({ length: APIS }, findFreePort));
  const apis = ports.map((port, i) =>
    supervise(`API ${i}`, paths.api, { env: { ...env, PORT: String(port) }, upWhen: /Server listening/ }),
  );
  const workers = Array.from({ length: WORKERS }, (_, i) =>
    supervise(`worker ${i}`, paths.worker, { upWhen: /the worker takes steps/ }),
  );
  await Promise.all([...apis, ...workers].map(({ isUp }) => isUp));
  const lines: string[] = [];
  const baseUrls = ports.map((port) => `http://127.0.0.1:${port}`);
  const common = { apiKey: API_KEY, ledgerUrl: world.url };
  for (const [i, ofClient] of shareOut(plans, options.seconds, random).entries()) {
    // Each client has an API that it asks first.
    const urls = [...baseUrls.slice(i % APIS), ...baseUrls.slice(0, i % APIS)];
    const task: ClientTask = { ...common, baseUrls: urls, plans: ofClient };
    const onLine = (line: string) => lines.push(line);
    clients.push(
      supervise(`client ${i}`, paths.chaosClient, { env: {}, args: [JSON.stringify(task)], onLine }),
    );
  }
  return {
    ...{ apis, workers, clients, postgres, redis, model, ledger, lines },
    get deathsAfterTool() {
      return deathsAfterTool;
    },
  };
}

/** Each client's plans, with the moments of their start. One session in five has two clients, who both answer. */
function shareOut(plans: readonly Plan[], seconds: number, random: Random): ClientTask["plans"][] {
  const now = Date.now();
  const timed = plans.map((plan, i) => ({
    ...plan,
    startAt: now + (i / plans.length) * seconds * 1_000 * STARTING,
    isShared: random() < 0.2,
  }));
  return Array.from({ length: CLIENTS }, (_, client) =>
    timed
      .filter(
        ({ number, isShared }) =>
          number % CLIENTS === client || (isShared && (number + 1) % CLIENTS === client),
      )
      .map(({ isShared: _isShared, ...plan }) => plan),
  );
}
