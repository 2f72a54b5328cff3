// Checks of what runs: the database, the queue, Redis, the API. Nothing is changed by them.
import { settleWithin } from "@tandem/engine/domain/time-limit";
import { createEngine } from "@tandem/engine/engine";
import { findMissingMigrations } from "@tandem/engine/postgres/migrate";
import { createLogger } from "@tandem/engine/process";
import { listProbes } from "@tandem/engine/queries/check-readiness";
import { APIError, TandemClient } from "@tandem/sdk";
import { findDatabase } from "@tandem/standalone/key-database";
import { findServer, type Server, type ServerOptions } from "../connect.ts";
import { type Check, fail, ok, toReason, warn } from "./check.ts";

/** How long one probe may take, in ms. */
const PROBE_MS = 5_000;

/** Checks the database and what stands on it. */
export async function checkStores(env: NodeJS.ProcessEnv): Promise<Check[]> {
  const url = await findDatabase(env);
  if (url === null) {
    const advice = "`npx tandem up` starts one of its own; DATABASE_URL names one of yours.";
    return [warn("database", `none is named, and no stack runs on ${env.TANDEM_DATA_DIR}`, advice)];
  }
  const where = env.DATABASE_URL?.trim() ? "that of DATABASE_URL" : `of the stack on ${env.TANDEM_DATA_DIR}`;
  let missing: string[];
  try {
    missing = await settleWithin(PROBE_MS, findMissingMigrations(url));
  } catch (error) {
    const advice = "Check that Postgres runs, and DATABASE_URL: host, port, user, password, name.";
    return [fail("database", `${where} cannot be used: ${toReason(error)}`, advice)];
  }
  if (missing.length > 0) {
    const advice = "`npm run migrate` applies them; so does the start of any process.";
    const found = `${missing.length} missing, the first is ${missing[0]}`;
    return [ok("database", `reached, ${where}`), fail("migrations", found, advice)];
  }
  return [
    ok("database", `reached, ${where}`),
    ok("migrations", "all applied"),
    ...(await checkQueue(url, env)),
  ];
}

async function checkQueue(databaseUrl: string, env: NodeJS.ProcessEnv): Promise<Check[]> {
  const redisUrl = env.REDIS_URL?.trim();
  const on = redisUrl ? "Redis" : "Postgres";
  const engine = createEngine({
    databaseUrl,
    ...(redisUrl ? { redisUrl } : {}),
    poolMax: 2,
    maxActiveSessions: 0,
    name: "tandem-doctor",
    log: createLogger("tandem-doctor", "silent"),
  });
  const advice = redisUrl
    ? "Check that Redis runs, and REDIS_URL."
    : "Check the database's connection limit and its log.";
  try {
    const probes = listProbes(engine).filter(({ what }) => what !== "the database");
    return await Promise.all(
      probes.map(async ({ what, probe }) => {
        const name = what.replace(/^the /, "");
        try {
          await settleWithin(PROBE_MS, probe());
          return ok(name, `reached, on ${on}`);
        } catch (error) {
          return fail(name, `cannot be reached on ${on}: ${toReason(error)}`, advice);
        }
      }),
    );
  } finally {
    await engine.close();
  }
}

/** Checks the API and the key for it. Where no server is named and none runs, that is only worth a warning. */
export async function checkApi(options: ServerOptions): Promise<Check[]> {
  let server: Server;
  try {
    server = await findServer(options);
  } catch (error) {
    return [
      fail("api", toReason(error), "Correct --base-url and --api-key, or the settings of the same names."),
    ];
  }
  const { baseUrl, apiKey, isNamed } = server;
  const url = baseUrl.replace(/\/+$/, "").replace(/\/api\/v2$/, "");
  const readiness = await readReadiness(url);
  if ("error" in readiness) {
    const found = `nothing answers at ${baseUrl}: ${readiness.error}`;
    if (isNamed) return [fail("api", found, "Check the address, and that the server runs.")];
    return [warn("api", found, "Start one here with `npx tandem up`.")];
  }
  const advice = "Its body and its log tell what it cannot reach.";
  const api = readiness.ok
    ? ok("api", `ready at ${baseUrl}`)
    : fail("api", `${baseUrl} says: ${readiness.text}`, advice);
  return [api, await checkKey(url, apiKey)];
}

async function readReadiness(url: string): Promise<{ ok: boolean; text: string } | { error: string }> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(PROBE_MS) });
    return { ok: response.ok, text: `${response.status} ${await response.text()}` };
  } catch (error) {
    return { error: toReason(error) };
  }
}

async function checkKey(baseUrl: string, apiKey: string | null): Promise<Check> {
  if (apiKey === null) return fail("api key", "there is none", "Give --api-key, or set TANDEM_API_KEY.");
  try {
    await new TandemClient({ baseUrl, apiKey, maxRetries: 0 }).getSessionQuota();
    return ok("api key", "valid");
  } catch (error) {
    const isRefused = error instanceof APIError && error.status === 401;
    const advice = isRefused
      ? "`tandem keys create --org NAME` makes a new one."
      : "The server's log tells more.";
    return fail("api key", isRefused ? "the server does not know it" : toReason(error), advice);
  }
}
