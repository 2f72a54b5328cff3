// The worker process, with a place to die in; see crash-at.ts.
import { createEngine } from "@tandem/engine/engine";
import { runProcess } from "@tandem/engine/process";
import { loadConfig } from "@tandem/worker/config";
import { startWorker } from "@tandem/worker/start-worker";
import { crashInside } from "./crash-at.ts";

await runProcess("worker", loadConfig, async ({ databaseUrl, redisUrl, ...config }, log) => {
  const urls = { databaseUrl, ...(redisUrl ? { redisUrl } : {}) };
  const engine = crashInside(
    createEngine({ ...urls, poolMax: 10, maxActiveSessions: 0, name: "tandem-worker", log }),
  );
  const worker = startWorker(engine, { ...urls, ...config });
  return async () => {
    await worker.close();
    await engine.close();
  };
});
