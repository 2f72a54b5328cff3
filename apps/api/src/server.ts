// The API process: `npm run start:api`, or `node dist/api.js` in the image.

import { createEngine } from "@tandem/engine/engine";
import { migrate } from "@tandem/engine/postgres/migrate";
import { runProcess } from "@tandem/engine/process";
import { loadConfig } from "./config.ts";
import { startApi } from "./start-api.ts";

await runProcess("api", loadConfig, async (config, log) => {
  await migrate(config.databaseUrl);
  const engine = createEngine({
    databaseUrl: config.databaseUrl,
    ...(config.redisUrl ? { redisUrl: config.redisUrl } : {}),
    poolMax: config.databaseConnections,
    maxActiveSessions: config.maxActiveSessions,
    name: "tandem-api",
    ...(config.traces ? { traces: config.traces } : {}),
    log,
  });
  const api = await startApi(engine, config);
  return async () => {
    await api.close();
    await engine.close();
  };
});
