// The whole service in one process: Postgres unless there is one, the API, and a worker.
import { startApi } from "@tandem/api/start-api";
import { newApiKey } from "@tandem/engine/domain/api-keys";
import { createEngine } from "@tandem/engine/engine";
import { migrate } from "@tandem/engine/postgres/migrate";
import { startWorker } from "@tandem/worker/start-worker";
import type { Logger } from "pino";
import type { StandaloneConfig } from "./config.ts";
import { startEmbeddedPostgres } from "./embedded-postgres/start-embedded-postgres.ts";
import { keepApiKey } from "./keep-api-key.ts";

/** A running stack. */
export interface RunningStandalone {
  baseUrl: string;
  apiKey: string;
  /** Ends everything in order: API, worker, connections, database. */
  close(): Promise<void>;
}

/** Starts the stack. What has started is closed again when a later part fails. */
export async function startStandalone(config: StandaloneConfig, log: Logger): Promise<RunningStandalone> {
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closeNext of closers.splice(0).reverse()) await closeNext();
  };
  try {
    const databaseUrl = await openDatabase(config, log, closers);
    const apiKey = config.api.apiKey ?? (await keepApiKey(config.dataDir, newApiKey));
    await migrate(databaseUrl);
    const { redisUrl, traces } = config.api;
    const engine = createEngine({
      databaseUrl,
      ...(redisUrl ? { redisUrl } : {}),
      poolMax: config.api.databaseConnections,
      maxActiveSessions: config.api.maxActiveSessions,
      name: "tandem",
      ...(traces ? { traces } : {}),
      log,
    });
    closers.push(() => engine.close());
    const worker = startWorker(engine, { ...config.worker, databaseUrl });
    closers.push(() => worker.close());
    const api = await startApi(engine, { ...config.api, databaseUrl, apiKey });
    closers.push(() => api.close());
    return { baseUrl: api.baseUrl, apiKey, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openDatabase(
  config: StandaloneConfig,
  log: Logger,
  closers: (() => Promise<void>)[],
): Promise<string> {
  if (!config.isEmbedded) return config.api.databaseUrl;
  const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, log: (line) => log.info(line) });
  closers.push(() => postgres.close());
  return postgres.url;
}
