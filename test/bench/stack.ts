// Tandem as it is deployed, on a database of its own: an API and workers as processes, or all in one.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { findFreePort } from "../../apps/standalone/src/embedded-postgres/find-free-port.ts";
import { startRedis } from "../support/redis.ts";
import { waitFor } from "../support/wait-for.ts";
import { type ApiClient, createApiClient } from "./api-client.ts";
import { type Program, type ProgramOptions, startProgram } from "./program.ts";
import type { Closers, Stage } from "./stage.ts";

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
  const { name, backend = "postgres", workers = 1, isStandalone = false, nodeFlags = [] } = options;
  const closers: Closers = [];
  const close = async () => {
    for (const closeNext of closers.splice(0).reverse()) await closeNext();
  };
  try {
    const databaseUrl = await stage.createDatabase(`bench_${name}`);
    closers.push(() => stage.dropDatabase(databaseUrl));
    const redis = backend === "redis" ? await startRedis() : null;
    if (redis) closers.push(() => redis.close());
    const dataDir = join(stage.folder, `data-${name}`);
    closers.push(() => rm(dataDir, { recursive: true, force: true }));
    const env = {
      DATABASE_URL: databaseUrl,
      ...(redis ? { REDIS_URL: redis.url } : {}),
      TANDEM_API_KEY: API_KEY,
      TANDEM_DATA_DIR: dataDir,
      TANDEM_COMPATIBLE_BASE_URL: stage.model.baseUrl,
      TANDEM_COMPATIBLE_API_KEY: "key-of-no-provider",
      ...options.env,
    };
    const programs: Program[] = [];
    const start = (kind: "api" | "worker" | "standalone", more: Partial<ProgramOptions> = {}) => {
      const path = stage.paths[kind];
      const log = `${name}-${kind}-${programs.length}`;
      const program = startProgram({ name: log, path, folder: stage.folder, env, ...more });
      closers.push(() => program.close());
      programs.push(program);
      return program;
    };
    const workerPrograms: Program[] = [];
    const addWorker = async () => {
      const worker = start("worker", { nodeFlags });
      workerPrograms.push(worker);
      await worker.waitForLine(/the worker takes steps/);
    };
    const addApi = async () => {
      const port = await findFreePort();
      const api = createApiClient(`http://127.0.0.1:${port}`, API_KEY);
      closers.push(() => api.close());
      const kind = isStandalone ? "standalone" : "api";
      const program = start(kind, { nodeFlags, env: { ...env, PORT: String(port) } });
      await untilReady(api, program);
      return { api, program };
    };
    const { api, program: apiProgram } = await addApi();
    if (!isStandalone) for (let worker = 0; worker < workers; worker++) await addWorker();
    const db = new pg.Client({ connectionString: databaseUrl });
    db.on("error", () => undefined);
    await db.connect();
    closers.push(() => db.end());
    return {
      ...{ api, baseUrl: api.baseUrl, apiKey: API_KEY, databaseUrl, redisUrl: redis?.url ?? null },
      ...{ db, programs, apiProgram },
      get pids() {
        return [...programs.map(({ pid }) => pid), ...(redis ? [redis.pid] : [])];
      },
      addApi: async () => (await addApi()).api,
      addWorker,
      async stopWorkers() {
        for (const worker of workerPrograms.splice(0)) await worker.close();
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
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
