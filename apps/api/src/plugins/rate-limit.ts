// Rate limits: so many requests per API key in a minute, from its first one on. The library counts; what clients are
// told is ours, since it would send the seconds until the reset, where they expect the moment of it.
import rateLimit from "@fastify/rate-limit";
import { TandemError } from "@tandem/engine/domain/errors";
import { settleWithin } from "@tandem/engine/domain/time-limit";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Redis } from "ioredis";
import type { Logger } from "pino";
import { type ApiContext, type App, principalOf, type RateLimit } from "../context.ts";

/**
 * What limited replies carry: requests per minute, those that are left, and when they are counted anew, in Unix
 * seconds.
 */
export const RATE_HEADERS = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"] as const;

/** How long requests are counted before the count begins anew, in milliseconds. */
const WINDOW_MS = 60_000;

/** Most keys that a process without Redis counts at once; the one that was used longest ago is counted anew. */
const MAX_COUNTED = 10_000;

/** How long Redis may take to count a request, in milliseconds. Past it the request goes on uncounted. */
const COUNT_TIMEOUT_MS = 250;

/** How long requests go uncounted after Redis failed, in milliseconds: not each of them waits to see it fail. */
const PAUSE_MS = 500;

/** How long the start waits for Redis, in milliseconds, and how long to wait between attempts to reach it. */
const CONNECT_TIMEOUT_MS = 2_000;
const RECONNECT_MS = 250;

/** A request as it was counted. */
interface Count {
  max: number;
  remaining: number;
  /** Until the count begins anew, in milliseconds. */
  ttl: number;
  isExceeded: boolean;
}

/**
 * Counts every request of this scope against its key, and refuses what is over the limit before its body is read. Comes
 * after authentication. Does nothing without a limit.
 */
export async function limitRate(app: App, context: ApiContext): Promise<void> {
  if (!context.rateLimit) return;
  const count = await createCounter(app, context.rateLimit, context.engine.log);
  app.addHook("onRequest", async (request, reply) => {
    if (request.principal === null) return;
    const counted = await count(request);
    if (counted === null) return;
    tell(reply, counted);
    if (!counted.isExceeded) return;
    const seconds = Math.max(1, Math.ceil(counted.ttl / 1_000));
    reply.header("retry-after", seconds);
    context.engine.telemetry.metrics.rateLimited.inc();
    throw new TandemError(
      "rate_limited",
      `The key's limit of ${counted.max} requests per minute is reached; try again in ${seconds} s.`,
    );
  });
}

function tell(reply: FastifyReply, { max, remaining, ttl }: Count): void {
  const [limit, left, reset] = RATE_HEADERS;
  reply.header(limit, max);
  reply.header(left, remaining);
  reply.header(reset, Math.ceil((Date.now() + ttl) / 1_000));
}

/** Counts a request; null when it cannot be counted. */
type Counter = (request: FastifyRequest) => Promise<Count | null>;

async function createCounter(app: App, limit: RateLimit, log: Logger): Promise<Counter> {
  const redis = limit.redisUrl === undefined ? null : await openRedis(limit.redisUrl, log);
  if (redis) app.addHook("onClose", async () => redis.disconnect());
  await app.register(rateLimit, {
    global: false,
    max: limit.perMinute,
    timeWindow: WINDOW_MS,
    // A session token counts as a key of its own: what a browser does takes nothing from its server.
    keyGenerator: (request) => {
      const { keyId, scope } = principalOf(request);
      return scope?.tokenId ?? keyId;
    },
    cache: MAX_COUNTED,
    ...(redis ? { redis, nameSpace: "tandem:rate:" } : {}),
  });
  const count = app.createRateLimit();
  let pausedUntil: number | null = null;
  return async (request) => {
    if (pausedUntil !== null && performance.now() < pausedUntil) return null;
    try {
      const counted = await count(request);
      if (pausedUntil !== null) log.info("requests are counted again");
      pausedUntil = null;
      return counted.isAllowed ? null : counted;
    } catch (error) {
      // A count that is out of reach limits nobody: the library's `skipOnError` would tell a wrong count.
      if (pausedUntil === null) log.warn({ err: error }, "requests are not counted: Redis is out of reach");
      pausedUntil = performance.now() + PAUSE_MS;
      return null;
    }
  };
}

/** Connects to Redis; commands fail fast while it is away. A start without it is no fault. */
async function openRedis(url: string, log: Logger): Promise<Redis> {
  const redis = new Redis(url, {
    connectionName: "tandem-rate",
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COUNT_TIMEOUT_MS,
    retryStrategy: () => RECONNECT_MS,
  });
  redis.on("error", (error: Error) =>
    log.debug({ err: error }, "the connection to Redis that counts requests"),
  );
  // Requests that come before the connection would not be counted.
  await settleWithin(CONNECT_TIMEOUT_MS, redis.connect()).catch((error: unknown) =>
    log.warn({ err: error }, "Redis, which counts requests, cannot be reached yet"),
  );
  return redis;
}
