import type { AddressInfo } from "node:net";
import { bootstrap } from "@tandem/engine/commands/bootstrap";
import type { Engine } from "@tandem/engine/engine";
import { buildApp } from "./app.ts";
import type { ApiConfig } from "./config.ts";
import type { ApiParts } from "./context.ts";
import { createFeedWaiters } from "./waiting/feed-waiters.ts";
import { createWaiters } from "./waiting/waiters.ts";

/** Connections that may wait to be accepted: thousands of clients come at once when a network is back. */
const BACKLOG = 4_096;

/** A listening API. */
export interface RunningApi {
  /** Where it listens, for example `http://127.0.0.1:3000`. */
  baseUrl: string;
  /** Answers waiting polls with 204, takes no new requests, and waits for those that run. The engine stays open. */
  close(): Promise<void>;
}

/** Starts the API on an engine whose database is migrated. */
export async function startApi(engine: Engine, config: ApiConfig): Promise<RunningApi> {
  await bootstrap(engine.catalogue, config.apiKey === undefined ? {} : { apiKey: config.apiKey });
  const waiters = createWaiters(engine, { sweepMs: config.sweepMs });
  const feeds = createFeedWaiters(engine, { sweepMs: config.sweepMs });
  engine.telemetry.watchWaiters(() => waiters.size + feeds.size);
  const { models, publicUrl, metricsToken } = config;
  const app = await buildApp({
    engine,
    models,
    waiters,
    feeds,
    ...toRateLimit(config),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(metricsToken === undefined ? {} : { metricsToken }),
  });
  await app.listen({ host: config.host, port: config.port, backlog: BACKLOG });
  const { port } = app.server.address() as AddressInfo;
  const host = config.host === "0.0.0.0" || config.host === "::" ? "127.0.0.1" : config.host;
  return {
    baseUrl: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    close: () => app.close(),
  };
}

function toRateLimit({ rateLimitPerMinute, redisUrl }: ApiConfig): Pick<ApiParts, "rateLimit"> {
  if (rateLimitPerMinute === 0) return {};
  return { rateLimit: { perMinute: rateLimitPerMinute, ...(redisUrl === undefined ? {} : { redisUrl }) } };
}
