// What commands and queries work with: the database, the queue of steps, and the wake-ups. One per process.
import type pg from "pg";
import type { Logger } from "pino";
import type { TraceSettings } from "./domain/telemetry-settings.ts";
import { settleWithin } from "./domain/time-limit.ts";
import { createKnownSessions, type KnownSessions } from "./handover/known-sessions.ts";
import { type Catalogue, createCatalogue } from "./postgres/catalogue.ts";
import { findUnclaimed, takeBackSteps } from "./postgres/leases.ts";
import { createPool, readPoolUse } from "./postgres/pool.ts";
import { readLoad } from "./postgres/read-load.ts";
import type { SessionChange } from "./postgres/update-session.ts";
import { type DirectQueue, offerSteps } from "./queue/offer-steps.ts";
import { createStepQueue } from "./queue/step-queue.ts";
import { noteMove } from "./telemetry/session-notes.ts";
import { createTelemetry, type Telemetry } from "./telemetry/telemetry.ts";
import { tellOfCalls } from "./wake/call-notes.ts";
import { createPostgresWake } from "./wake/postgres-wake.ts";
import { createRedisWake } from "./wake/redis-wake.ts";
import type { Wake } from "./wake/wake.ts";

/** The parts that a process shares among its commands and queries. */
export interface Engine {
  pool: pg.Pool;
  catalogue: Catalogue;
  queue: DirectQueue;
  wake: Wake;
  knownSessions: KnownSessions;
  telemetry: Telemetry;
  log: Logger;
  /** How many sessions of one organization may be active at once; 0 is any number. */
  maxActiveSessions: number;
  /** Closes everything, last what others need. */
  close(): Promise<void>;
}

/** Options of {@link createEngine}. */
export interface EngineOptions {
  databaseUrl: string;
  redisUrl?: string;
  /** Most connections for statements. The queue and the wake-ups have their own few. */
  poolMax: number;
  /** How many sessions of one organization may be active at once; 0 is any number. */
  maxActiveSessions: number;
  /** Names the process to Postgres, and in traces when no setting does. */
  name: string;
  /** Where traces go; absent: nothing is traced. */
  traces?: TraceSettings;
  log: Logger;
}

/** How long each part may take to close, in milliseconds. A Redis that is away would never let go. */
const CLOSE_MS = 5_000;

/** Opens the parts; none of them connects before it is used, so a database that is away is no error here. */
export function createEngine(options: EngineOptions): Engine {
  const { databaseUrl, redisUrl, log } = options;
  let isClosing = false;
  const pool = createPool({
    url: databaseUrl,
    max: options.poolMax,
    applicationName: options.name,
    onError: ({ message }) => {
      if (!isClosing) log.warn({ reason: message }, "an idle database connection broke");
    },
  });
  const catalogue = createCatalogue(pool);
  const wake = redisUrl
    ? createRedisWake({ url: redisUrl, log })
    : createPostgresWake({ url: databaseUrl, log });
  const queue = offerSteps({
    queue: createStepQueue({ databaseUrl, ...(redisUrl ? { redisUrl } : {}), log }),
    wake,
    findUnclaimed: (steps) => findUnclaimed(pool, steps),
    takeBack: (steps) => takeBackSteps(pool, steps),
    log,
  });
  const telemetry = createTelemetry({
    name: options.name,
    log,
    traces: options.traces,
    sources: {
      readLoad: () => readLoad(pool),
      readQueue: () => queue.count(),
      readPool: () => readPoolUse(pool),
    },
  });
  return {
    pool,
    catalogue,
    queue,
    wake,
    knownSessions: createKnownSessions(),
    telemetry,
    log,
    maxActiveSessions: options.maxActiveSessions,
    async close() {
      isClosing = true;
      const report = (error: Error) => {
        log.warn({ reason: error.message }, "a connection could not be closed in good order");
      };
      const closed = [queue.close(), catalogue.$disconnect(), telemetry.close()];
      await Promise.all(closed.map((part) => settleWithin(CLOSE_MS, part).catch(report)));
      await settleWithin(CLOSE_MS, wake.close()).catch(report);
      await settleWithin(CLOSE_MS, pool.end()).catch(report);
    },
  };
}

/**
 * Tells the world about a committed change: waiting clients are woken, a due step is given to a worker, maybe of this
 * very process, or put in the queue, and so is a timer. A queue that is away costs time, not the step: the sweep finds it.
 */
export async function announce(engine: Engine, change: SessionChange): Promise<void> {
  const { sessionId, fence, due, timer } = change;
  engine.wake.publish(sessionId);
  if (change.offered) tellOfCalls(engine.wake, { ...change, ...change.offered });
  if (change.move) noteMove(engine.telemetry, sessionId, change.move);
  const jobs: Promise<void>[] = [];
  if (due === "now") jobs.push(engine.queue.add({ sessionId, fence }));
  else if (due !== null) jobs.push(engine.queue.add({ sessionId, fence }, { delayMs: due.inMs }));
  if (timer) jobs.push(engine.queue.addTimer({ sessionId, fence }, timer));
  await Promise.all(jobs).catch((error: unknown) => {
    engine.log.warn({ err: error, session: sessionId }, "a due step was not queued; the sweep will do it");
  });
}
