// What routes work with. Made once per process and passed to every route.

import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { Principal } from "@tandem/engine/domain/api-keys";
import type { ModelSettings } from "@tandem/engine/domain/models";
import type { Engine } from "@tandem/engine/engine";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { KnownKeys } from "./known-keys.ts";
import type { FeedWaiters } from "./waiting/feed-waiters.ts";
import type { Waiters } from "./waiting/waiters.ts";

/** What an application is built from. */
export interface ApiParts {
  engine: Engine;
  models: ModelSettings;
  waiters: Waiters;
  /** Absent: the application makes its own. */
  feeds?: FeedWaiters;
  /** Absent: requests are not limited. */
  rateLimit?: RateLimit;
  /** The server's address as others see it, without a slash at its end; absent: that of each request. */
  publicUrl?: string;
  /** What a request for metrics must bring; absent: nothing. */
  metricsToken?: string;
  /** Absent: the times that clients are told. */
  streamTimes?: StreamTimes;
}

/** The times of streams. */
export interface StreamTimes {
  /** How often a comment is sent, which keeps proxies from closing what is silent, in milliseconds. */
  heartbeatMs: number;
  /** How long a client may take nothing before it is disconnected, in milliseconds. */
  slowMs: number;
}

/** How many requests each API key may make, and where they are counted. */
export interface RateLimit {
  /** At least 1. */
  perMinute: number;
  /** The Redis that counts for all processes; without one each process counts its own. */
  redisUrl?: string;
}

/** The parts that routes share. */
export interface ApiContext extends ApiParts {
  knownKeys: KnownKeys;
  feeds: FeedWaiters;
}

/** A Fastify instance whose routes are typed by their schemas. */
export type App = FastifyInstance<
  import("node:http").Server,
  import("node:http").IncomingMessage,
  import("node:http").ServerResponse,
  import("fastify").FastifyBaseLogger,
  TypeBoxTypeProvider
>;

declare module "fastify" {
  interface FastifyRequest {
    /** Who the request is from; null on routes without a key. */
    principal: Principal | null;
    /** The session that the request made; null when it made none. */
    createdSessionId: string | null;
  }
  interface FastifyContextConfig {
    /** `none` on routes that need no key. */
    auth?: "none";
    /** On routes for admin keys alone, what other keys are told: that they may not, or that nothing is there. */
    adminOnly?: "refused" | "hidden";
    /** True on routes below a session that its tokens may use too. */
    sessionToken?: boolean;
  }
}

/** Who the request is from, on routes that need a key. */
export function principalOf(request: Pick<FastifyRequest, "principal">): Principal {
  if (!request.principal) throw new Error("A route that needs a principal was reached without one.");
  return request.principal;
}
