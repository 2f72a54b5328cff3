// Tandem as it is deployed, on a database of its own: an API and workers as processes, or all in one.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { findFreePort } from "../../apps/standalone/src/embedded-postgres/find-free-port.ts";
import { startRedis } from "../support/redis.ts";
import { waitFor } from "../support/wait-for.ts";
import { type ApiClient, createApiClient } from "./api-client.ts";
import { type Program, startProgram } from "./program.ts";
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
  /** Starts one more worker. */
  addWorker(): Promise<void>;
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
  /** For the node of the API. */
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
    const port = await findFreePort();
    const dataDir = join(stage.folder, `data-${name}`);
    closers.push(() => rm(dataDir, { recursive: true, force: true }));
    const env = {
      DATABASE_URL: databaseUrl,
      ...(redis ? { REDIS_URL: redis.url } : {}),
      PORT: String(port),
      TANDEM_API_KEY: API_KEY,
      TANDEM_DATA_DIR: dataDir,
      TANDEM_COMPATIBLE_BASE_URL: stage.model.baseUrl,
      TANDEM_COMPATIBLE_API_KEY: "key-of-no-provider",
      ...options.env,
    };
    const programs: Program[] = [];
    const start = (kind: "api" | "worker" | "standalone") => {
      const flags = kind === "worker" ? {} : { nodeFlags };
      const program = startProgram({
        ...{ name: `${name}-${kind}-${programs.length}`, path: stage.paths[kind], folder: stage.folder, env },
        ...flags,
      });
      closers.push(() => program.close());
      programs.push(program);
      return program;
    };
    const addWorker = () => start("worker").waitForLine(/the worker takes steps/);
    const baseUrl = `http://127.0.0.1:${port}`;
    const api = createApiClient(baseUrl, API_KEY);
    closers.push(() => api.close());
    const apiProgram = start(isStandalone ? "standalone" : "api");
    await untilReady(api, apiProgram);
    if (!isStandalone) for (let worker = 0; worker < workers; worker++) await addWorker();
    const db = new pg.Client({ connectionString: databaseUrl });
    db.on("error", () => undefined);
    await db.connect();
    closers.push(() => db.end());
    return {
      ...{
        api,
        baseUrl,
        apiKey: API_KEY,
        databaseUrl,
        redisUrl: redis?.url ?? null,
        db,
        programs,
        apiProgram,
      },
      get pids() {
        return [...programs.map(({ pid }) => pid), ...(redis ? [redis.pid] : [])];
      },
      addWorker,
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
