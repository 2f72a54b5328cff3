// Tandem as it is deployed, on a database of its own: an API and workers as processes, or all in one.
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { findFreePort } from "../../apps/standalone/src/embedded-postgres/find-free-port.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { waitFor } from "../support/wait-for.ts";
import { type ApiClient, createApiClient } from "./api-client.ts";
import { type Closers, closeAll } from "./closers.ts";
import { type Program, startProgram } from "./program.ts";
import type { Stage } from "./stage.ts";

/** A running Tandem. */
export interface Stack {
  api: ApiClient;
  baseUrl: string;
  apiKey: string;
  databaseUrl: string;
  redisUrl: string | null;
  /** A connection of the bench's to the database. */
  db: pg.Client;
  /** Tandem's processes, and Redis' where it has one. Postgres is everybody's. */
  readonly pids: readonly number[];
  /** The process that answers requests. */
  apiProgram: Program;
  readonly programs: readonly Program[];
  /** Starts one more API on the same database, and gives a client of it. */
  addApi(): Promise<ApiClient>;
  /** Starts one more worker. */
  addWorker(): Promise<void>;
  /** Ends all workers. */
  stopWorkers(): Promise<void>;
  close(): Promise<void>;
}

/** How Tandem is deployed. */
export interface StackOptions {
  /** Also names its database and logs. */
  name: string;
  backend?: "postgres" | "redis";
  /** Default 1; none for what needs no steps. */
  workers?: number;
  /** True for API and worker in one process, as `npm start` runs them. */
  isStandalone?: boolean;
  /** Settings by their environment names; the others keep their defaults. */
  env?: Record<string, string>;
  /** For the node of API and workers. */
  nodeFlags?: string[];
}

const API_KEY = "key-of-the-bench-which-is-long-enough";

/** Starts it, and waits until it answers. */
export async function startStack(stage: Stage, options: StackOptions): Promise<Stack> {
  const closers: Closers = [];
  try {
    return await open(stage, options, closers);
  } catch (error) {
    await closeAll(closers);
    throw error;
  }
}

async function open(stage: Stage, options: StackOptions, closers: Closers): Promise<Stack> {
  const { workers = 1, isStandalone = false } = options;
  const { databaseUrl, redis, env } = await openServices(stage, options, closers);
  const launcher = createLauncher(stage, { ...options, env, closers });
  const { api, program: apiProgram } = await launcher.addApi();
  if (!isStandalone) for (let worker = 0; worker < workers; worker++) await launcher.addWorker();
  const db = new pg.Client({ connectionString: databaseUrl });
  db.on("error", () => undefined);
  await db.connect();
  closers.push(() => db.end());
  return {
    ...{ api, apiProgram, db, databaseUrl, redisUrl: redis?.url ?? null },
    ...{ baseUrl: api.baseUrl, apiKey: API_KEY, programs: launcher.programs },
    get pids() {
      return [...launcher.programs.map(({ pid }) => pid), ...(redis ? [redis.pid] : [])];
    },
    addApi: async () => (await launcher.addApi()).api,
    addWorker: launcher.addWorker,
    stopWorkers: launcher.stopWorkers,
    close: () => closeAll(closers),
  };
}

/** What Tandem runs on, and the settings that say so. */
async function openServices(
  stage: Stage,
  { name, backend = "postgres", env = {} }: StackOptions,
  closers: Closers,
): Promise<{ databaseUrl: string; redis: TestRedis | null; env: Record<string, string> }> {
  const databaseUrl = await stage.createDatabase(`bench_${name}`);
  closers.push(() => stage.dropDatabase(databaseUrl));
  const redis = backend === "redis" ? await startRedis() : null;
  if (redis) closers.push(() => redis.close());
  return {
    databaseUrl,
    redis,
    env: {
      DATABASE_URL: databaseUrl,
      ...(redis ? { REDIS_URL: redis.url } : {}),
      TANDEM_API_KEY: API_KEY,
      TANDEM_DATA_DIR: join(stage.folder, `data-${name}`),
      TANDEM_COMPATIBLE_BASE_URL: stage.model.baseUrl,
      TANDEM_COMPATIBLE_API_KEY: "key-of-no-provider",
      ...env,
    },
  };
}

/** Starts the stack's processes. */
function createLauncher(
  stage: Stage,
  options: StackOptions & { env: Record<string, string>; closers: Closers },
) {
  const { name, env, nodeFlags = [], closers } = options;
  const programs: Program[] = [];
  const workers: Program[] = [];
  const start = (kind: "api" | "worker" | "standalone", settings: Record<string, string> = {}) => {
    const program = startProgram({
      ...{ name: `${name}-${kind}-${programs.length}`, path: stage.paths[kind], folder: stage.folder },
      ...{ nodeFlags, env: { ...env, ...settings } },
    });
    closers.push(() => program.close());
    programs.push(program);
    return program;
  };
  return {
    programs,
    async addWorker() {
      const worker = start("worker");
      workers.push(worker);
      await worker.waitForLine(/the worker takes steps/);
    },
    async addApi() {
      const port = await findFreePort();
      const api = createApiClient(`http://127.0.0.1:${port}`, API_KEY);
      closers.push(() => api.close());
      const program = start(options.isStandalone ? "standalone" : "api", { PORT: String(port) });
      await untilReady(api, program);
      return { api, program };
    },
    async stopWorkers() {
      for (const worker of workers.splice(0)) await worker.close();
    },
  };
}

async function untilReady(api: ApiClient, program: Program): Promise<void> {
  const isReady = () =>
    api.send("GET", "/readyz").then(
      ({ status }) => status === 200,
      () => false,
    );
  await waitFor(async () => program.isRunning() && (await isReady()), {
    what: `${program.name} to be ready`,
    timeoutMs: 30_000,
  });
  // What a process does once, after its start, is over.
  await delay(SETTLING_MS);
}

const SETTLING_MS = 200;
