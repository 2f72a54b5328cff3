// The queue of due steps, on either backend of BullMQ. It only delivers: a job carries ids, and losing all jobs
// loses nothing, since a sweep over the sessions puts back what should run.
import { createPostgresBackend, type JobsOptions, type PgPool, Queue, Worker, withBackend } from "bullmq";
import pg from "pg";
import type { Logger } from "pino";
import type { QueueDepth } from "../domain/load.ts";
import { settleWithin } from "../domain/time-limit.ts";
import type { DueStep } from "../postgres/leases.ts";
import { CONNECTION_TIMEOUT_MS, STATEMENT_TIMEOUT_MS, surviveBrokenConnections } from "../postgres/pool.ts";
import { IDLE_IN_TRANSACTION_MS } from "../postgres/transaction.ts";
import { type Opening, openUntilReady } from "./open-until-ready.ts";
import { warnOfEviction } from "./warn-of-eviction.ts";

/** Where steps are put by whoever makes one due. */
export interface StepQueue {
  /** Puts a step in. The same step put in twice is delivered once. */
  add(step: DueStep, options?: { delayMs?: number }): Promise<void>;
  /** Asks for a look at a session when one of its timers is up, if that is soon. */
  addTimer(step: DueStep, timer: Timer): Promise<void>;
  /** Resolves when the queue can be reached, rejects when not. */
  ready(): Promise<void>;
  /** Counts the jobs in it. */
  count(): Promise<QueueDepth>;
  /** Takes steps and timers out and runs them, `concurrency` at once. */
  consume(run: (job: StepJob) => Promise<void>, options: ConsumeOptions): StepConsumer;
  close(): Promise<void>;
}

/** What a worker is and how much it takes. */
export interface ConsumeOptions {
  /** Names it among all workers, in letters, digits, `_` and `-`. */
  id: string;
  concurrency: number;
  /** How long it holds a step before it must prolong that, in milliseconds. */
  leaseMs: number;
}

/** When something happens by itself: by the database's clock, and how far away that is, in milliseconds. */
export interface Timer {
  at: Date;
  delayMs: number;
}

/** What the queue delivers: a step to run, or a session to look at because a timer is up. */
export interface StepJob extends DueStep {
  kind: "step" | "timer";
  /** What a worker must be told of a step that is claimed for it already: see `Assignment`. Else absent. */
  news?: string;
}

/** A running consumer of steps. */
export interface StepConsumer {
  /** Takes no more steps and waits for those that run. */
  close(): Promise<void>;
}

/** Which backend to use: Redis when there is a URL for it, else Postgres. */
export interface StepQueueOptions {
  databaseUrl: string;
  redisUrl?: string;
  log: Logger;
}

const QUEUE = "tandem-steps";

/** Jobs leave no trace: what happened is in the session's events. */
const JOB_OPTIONS = { removeOnComplete: true, removeOnFail: true } as const satisfies JobsOptions;

/** BullMQ's tables in Postgres live in a schema of their own. */
const QUEUE_SCHEMA = "bullmq";

/**
 * Connections of the Postgres backend: one to listen, one per job that is taken or finished at the same moment.
 * A job holds none while it runs.
 */
const QUEUE_POOL_MAX = 5;

/** How long connections may take to be given back at the end, in milliseconds: no statement is under way by then. */
const POOL_CLOSE_MS = 200;

/** Longest wait between attempts to reach Redis again, in milliseconds. */
const RECONNECT_MAX_MS = 1_000;

/** How long putting a step in may take, in milliseconds. Past it the sweep does it: nobody waits for a queue. */
const ADD_TIMEOUT_MS = 1_000;

/** A look just before a timer is up would be in vain, in milliseconds. */
const TIMER_MARGIN_MS = 5;

/** The longest timer that gets a job, in milliseconds: to a longer one the sweep's delay is nothing. */
const MAX_TIMER_MS = 3_600_000;

/** A job that lost its worker may come back any number of times: claims decide, not the queue. */
const MAX_STALLED_COUNT = 1_000_000;

type StepData = { session_id: string; fence: number; kind: StepJob["kind"] };

/** What differs between the backends. */
interface Backend {
  openQueue(log: Logger): Opening<Pick<Queue<StepData>, "add" | "getJobCountByTypes" | "getJobCounts">>;
  openWorker(run: (data: StepData) => Promise<void>, concurrency: number, log: Logger): Opening<unknown>;
  close(): Promise<void>;
}

/** BullMQ's classes have a type of their own per backend; this is what we use of both. */
interface ErrorSource {
  on(event: "error", listener: (error: Error) => void): unknown;
}

interface WorkerHandle extends ErrorSource {
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "failed", listener: (job: { id?: string } | undefined, error: Error) => void): unknown;
}

/** Opens the queue. */
export function createStepQueue(options: StepQueueOptions): StepQueue {
  const backend = options.redisUrl ? redisBackend(options.redisUrl) : postgresBackend(options);
  const look = options.redisUrl ? warnOfEviction({ url: options.redisUrl, log: options.log }) : null;
  const queue = backend.openQueue(options.log);
  const opened = () => settleWithin(ADD_TIMEOUT_MS, queue.ready);
  const put = async (job: StepJob, jobId: string, delayMs: number) => {
    const data = { session_id: job.sessionId, fence: job.fence, kind: job.kind };
    const delay = Math.max(0, Math.ceil(delayMs));
    const added = queue.ready.then((it) => it.add(job.kind, data, { ...JOB_OPTIONS, jobId, delay }));
    await settleWithin(ADD_TIMEOUT_MS, added);
  };
  return {
    async add(step, { delayMs = 0 } = {}) {
      // A claim raises the fence, so a step that becomes due later never has the id of a job that is still active.
      // A job that a worker took and never claimed stays active for a while: what is put back needs another id.
      const putBack = step.putBack === undefined ? "" : `.${step.putBack}`;
      await put({ ...step, kind: "step" }, `${step.sessionId}.${step.fence}${putBack}`, delayMs);
    },
    async addTimer(step, { at, delayMs }) {
      if (delayMs > MAX_TIMER_MS) return;
      // One session has timers at different times under one fencing token: idle, then at work again.
      const jobId = `${step.sessionId}.${step.fence}.timer.${at.getTime()}`;
      await put({ ...step, kind: "timer" }, jobId, delayMs + TIMER_MARGIN_MS);
    },
    async ready() {
      await (await opened()).getJobCountByTypes("active");
    },
    count: async () =>
      (await (await opened()).getJobCounts("waiting", "active", "delayed")) as unknown as QueueDepth,
    consume(run, { concurrency }) {
      const take = ({ session_id: sessionId, fence, kind = "step" }: StepData) =>
        run({ sessionId, fence, kind });
      return backend.openWorker(take, concurrency, options.log);
    },
    async close() {
      look?.close();
      await queue.close();
      await backend.close();
    },
  };
}

function reportQueue<S extends ErrorSource>(queue: S, log: Logger): S {
  queue.on("error", ({ message }) => log.warn({ reason: message }, "the step queue has a problem"));
  return queue;
}

function reportWorker<S extends WorkerHandle>(worker: S, log: Logger): S {
  worker.on("error", ({ message }) => log.warn({ reason: message }, "the step worker has a problem"));
  worker.on("failed", (job, error) => log.error({ err: error, job: job?.id }, "a step job failed"));
  return worker;
}

function redisBackend(url: string): Backend {
  // BullMQ's own waits grow to 20 s; a Redis that is back should be used at once.
  const retryStrategy = (attempt: number) => Math.min(attempt * 100, RECONNECT_MAX_MS);
  const base = { connection: { url, maxRetriesPerRequest: null, retryStrategy }, prefix: "tandem" };
  return {
    // A producer fails fast when Redis is away: the caller's answer must not wait, the sweep repairs.
    openQueue(log) {
      const connection = { url, maxRetriesPerRequest: 1, enableOfflineQueue: false, retryStrategy };
      const queue = reportQueue(new Queue<StepData>(QUEUE, { ...base, connection }), log);
      return { ready: Promise.resolve(queue), close: () => queue.close() };
    },
    openWorker(run, concurrency, log) {
      const options = { ...base, concurrency, maxStalledCount: MAX_STALLED_COUNT };
      const worker = reportWorker(new Worker<StepData>(QUEUE, (job) => run(job.data), options), log);
      return { ready: Promise.resolve(worker), close: () => worker.close() };
    },
    close: async () => undefined,
  };
}

function postgresBackend(options: StepQueueOptions): Backend {
  const { Queue: PostgresQueue, Worker: PostgresWorker } = withBackend(createPostgresBackend);
  const pool = new pg.Pool({
    connectionString: options.databaseUrl,
    max: QUEUE_POOL_MAX,
    application_name: "tandem-queue",
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS,
    options: [
      `-c search_path=${QUEUE_SCHEMA}`,
      `-c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_MS}`,
      // A job that the database loses in a crash is put back by the sweep: nobody waits for a disk on its account.
      "-c synchronous_commit=off",
    ].join(" "),
    keepAlive: true,
  });
  pool.on("error", ({ message }) => {
    if (!isClosing) options.log.warn({ reason: message }, "a connection of the step queue broke");
  });
  let isClosing = false;
  surviveBrokenConnections(pool);
  const clients = new Set<pg.PoolClient>();
  pool.on("connect", (client) => {
    clients.add(client);
    client.once("end", () => clients.delete(client));
  });
  // BullMQ describes a pool by a type of its own, which pg's class fulfils but for an index signature.
  const connection = pool as unknown as PgPool;
  return {
    openQueue: (log) =>
      openUntilReady(() => reportQueue(new PostgresQueue<StepData>(QUEUE, { connection }), log)),
    openWorker(run, concurrency, log) {
      const options = { connection, concurrency, maxStalledCount: MAX_STALLED_COUNT, autorun: false };
      const opening = openUntilReady(() =>
        reportWorker(new PostgresWorker<StepData>(QUEUE, (job) => run(job.data), options), log),
      );
      const report = ({ message }: Error) => log.warn({ reason: message }, "the step worker has ended");
      void opening.ready.then((worker) => worker.run().catch(report)).catch(() => undefined);
      return opening;
    },
    async close() {
      isClosing = true;
      // A worker of BullMQ that is still closing may take a connection to listen by, which nobody gives back.
      await settleWithin(POOL_CLOSE_MS, pool.end()).catch(() =>
        Promise.all([...clients].map((client) => client.end())),
      );
    },
  };
}
