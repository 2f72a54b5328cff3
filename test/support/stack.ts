// Tandem in the test's own process, on real parts: a database of its own, either queue backend, a fake model.
import { type ApiConfig, loadConfig as loadApiConfig } from "@tandem/api/config";
import { type RunningApi, startApi } from "@tandem/api/start-api";
import { createApiKey, type NewApiKey } from "@tandem/engine/commands/api-keys";
import { hashApiKey } from "@tandem/engine/domain/api-keys";
import { createEngine, type Engine } from "@tandem/engine/engine";
import { loadConfig as loadWorkerConfig } from "@tandem/worker/config";
import { type RunningWorker, startWorker } from "@tandem/worker/start-worker";
import pino from "pino";
import { createTestDatabase } from "./database.ts";
import { type FakeModel, type ModelScript, startFakeModel } from "./fake-model-server.ts";
import { hasRedis, startRedis, type TestRedis } from "./redis.ts";
import { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";

/** The queue backends that this machine can test. */
export const backends: ("postgres" | "redis")[] = hasRedis ? ["postgres", "redis"] : ["postgres"];

/** The key of the stack's first organization. */
export const apiKey = "test-key-of-default";

export interface StackOptions {
  backend?: "postgres" | "redis";
  /** A Redis that the test runs itself, in place of `backend`. */
  redisUrl?: string;
  script?: ModelScript;
  /** Settings by their environment names. */
  env?: Record<string, string>;
  /** True for a stack whose way to the database can be cut: `stack.databaseProxy`. */
  databaseProxy?: boolean;
  /** False for a stack whose steps only run when a test says so. Default true. */
  worker?: boolean;
}

export interface TestStack {
  baseUrl: string;
  databaseUrl: string;
  engine: Engine;
  databaseProxy: TcpProxy | null;
  redis: TestRedis | null;
  /** The settings of its processes, for more of them. */
  env: Record<string, string>;
  model: FakeModel;
  config: { api: ApiConfig; worker: ReturnType<typeof loadWorkerConfig> };
  /** Starts one more worker on an engine of its own. */
  addWorker(env?: Record<string, string>): Promise<RunningWorker & { engine: Engine }>;
  /** Starts one more API on an engine of its own. */
  addApi(): Promise<RunningApi>;
  /** Makes an organization with one key and returns the key. */
  addOrganization(name: string): Promise<string>;
  /** Makes one more key, of organization `default` unless said otherwise, and returns it. */
  addKey(key?: Partial<NewApiKey>): Promise<string>;
  close(): Promise<void>;
}

export async function startStack(options: StackOptions = {}): Promise<TestStack> {
  const database = await createTestDatabase();
  const model = await startFakeModel(options.script ?? (() => ({ text: "Hello." })));
  const redis = options.backend === "redis" ? await startRedis() : null;
  const redisUrl = redis?.url ?? options.redisUrl;
  const databaseProxy = options.databaseProxy
    ? await startTcpProxy(Number(new URL(database.url).port))
    : null;
  const databaseUrl = databaseProxy
    ? Object.assign(new URL(database.url), { port: databaseProxy.port }).href
    : database.url;
  const env: Record<string, string> = {
    DATABASE_URL: databaseUrl,
    ...(redisUrl ? { REDIS_URL: redisUrl } : {}),
    PORT: "0",
    LOG_LEVEL: "silent",
    TANDEM_API_KEY: apiKey,
    TANDEM_COMPATIBLE_BASE_URL: model.baseUrl,
    TANDEM_COMPATIBLE_API_KEY: "fake-provider-key",
    TANDEM_MODEL: "compatible/fake",
    TANDEM_SWEEP_MS: "250",
    ...options.env,
  };
  const { traces } = loadApiConfig(env);
  const closers: (() => Promise<void>)[] = [];
  const openEngine = () => {
    const engine = createEngine({
      databaseUrl,
      ...(redisUrl ? { redisUrl } : {}),
      poolMax: 10,
      maxActiveSessions: Number(env.TANDEM_MAX_ACTIVE_SESSIONS ?? 0),
      name: "tandem-test",
      ...(traces ? { traces } : {}),
      log: pino({ level: process.env.TEST_LOG_LEVEL ?? "silent" }),
    });
    closers.push(() => engine.close());
    return engine;
  };
  const addApi = async () => {
    const api = await startApi(openEngine(), loadApiConfig(env));
    closers.push(() => api.close());
    return api;
  };
  const addWorker = async (extra: Record<string, string> = {}) => {
    const engine = openEngine();
    const worker = startWorker(engine, loadWorkerConfig({ ...env, ...extra }));
    closers.push(() => worker.close());
    return { ...worker, engine };
  };
  const engine = openEngine();
  const api = await startApi(engine, loadApiConfig(env));
  closers.push(() => api.close());
  if (options.worker !== false) await addWorker();
  return {
    baseUrl: api.baseUrl,
    databaseUrl: database.url,
    databaseProxy,
    redis,
    env,
    engine,
    model,
    config: { api: loadApiConfig(env), worker: loadWorkerConfig(env) },
    addApi,
    addWorker,
    async addOrganization(name) {
      const key = `test-key-of-${name}`;
      const { id } = await engine.catalogue.organization.create({ data: { name } });
      await engine.catalogue.apiKey.create({
        data: { organizationId: id, name: "first", userName: "somebody", keyHash: hashApiKey(key) },
      });
      return key;
    },
    async addKey(key = {}) {
      return (await createApiKey(engine, { organization: "default", ...key })).key;
    },
    async close() {
      await model.close();
      for (const close of closers.reverse()) await close();
      await redis?.close();
      await databaseProxy?.close();
      await database.drop();
    },
  };
}
