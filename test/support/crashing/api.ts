// The API process, with a place to die in; see crash-at.ts. It says where it listens.
import { loadConfig } from "@tandem/api/config";
import { startApi } from "@tandem/api/start-api";
import { createEngine } from "@tandem/engine/engine";
import { runProcess } from "@tandem/engine/process";
import { crashInside } from "./crash-at.ts";

await runProcess("api", loadConfig, async ({ databaseUrl, redisUrl, ...config }, log) => {
  const urls = { databaseUrl, ...(redisUrl ? { redisUrl } : {}) };
  const engine = crashInside(
    createEngine({ ...urls, poolMax: 10, maxActiveSessions: 0, name: "tandem-api", log }),
  );
  const api = await startApi(engine, { ...urls, ...config });
  process.stdout.write(`listens on ${api.baseUrl}\n`);
  return async () => {
    await api.close();
    await engine.close();
  };
});
