// The worker process: `npm run start:worker`, or `node dist/worker.js` in the image.
import { createEngine } from "@tandem/engine/engine";
import { migrate } from "@tandem/engine/postgres/migrate";
import { runProcess } from "@tandem/engine/process";
import { loadConfig } from "./config.ts";
import { listenForScrapes } from "./listen-for-scrapes.ts";
import { startWorker } from "./start-worker.ts";

await runProcess("worker", loadConfig, async (config, log) => {
  await migrate(config.databaseUrl);
  const engine = createEngine({
    databaseUrl: config.databaseUrl,
    ...(config.redisUrl ? { redisUrl: config.redisUrl } : {}),
    poolMax: config.databaseConnections,
    maxActiveSessions: config.maxActiveSessions,
    name: "tandem-worker",
    ...(config.traces ? { traces: config.traces } : {}),
    log,
  });
  const worker = startWorker(engine, config);
  const listener = await listenForScrapes(engine.telemetry, config, log);
  log.info({ concurrency: config.concurrency }, "the worker takes steps");
  return async () => {
    await worker.close();
    await listener.close();
    await engine.close();
  };
});
