// A bare queue on either backend of BullMQ, with the settings that the engine's step queue has, and nothing around it.
import { createPostgresBackend, type PgPool, Queue, Worker, withBackend } from "bullmq";
import pg from "pg";

const NAME = "bench-hops";
/** As the engine's. */
const JOB_OPTIONS = { removeOnComplete: true, removeOnFail: true, delay: 0 };
const CONCURRENCY = 50;
const POOL_MAX = 5;

const isRedis = (url: string) => url.startsWith("redis");

function openPool(url: string): PgPool {
  const pool = new pg.Pool({
    connectionString: url,
    max: POOL_MAX,
    options: "-c search_path=bullmq -c idle_in_transaction_session_timeout=5000",
    keepAlive: true,
  });
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  // BullMQ describes a pool by a type of its own, which pg's class fulfils but for an index signature.
  return pool as unknown as PgPool;
}

const redisOptions = (url: string) => ({ connection: { url, maxRetriesPerRequest: null }, prefix: "bench" });

/** The near end of a queue. */
export interface HopQueue {
  add(id: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens the near end. */
export async function openHopQueue(url: string): Promise<HopQueue> {
  if (isRedis(url)) {
    const queue = new Queue(NAME, redisOptions(url));
    await queue.waitUntilReady();
    return { add: (id) => addTo(queue, id), close: () => queue.close() };
  }
  const pool = openPool(url);
  const queue = new (withBackend(createPostgresBackend).Queue)(NAME, { connection: pool });
  return {
    add: (id) => addTo(queue, id),
    async close() {
      await queue.close();
      await (pool as unknown as pg.Pool).end();
    },
  };
}

async function addTo(queue: Pick<Queue, "add">, id: string): Promise<void> {
  await queue.add("step", { session_id: id, fence: 1, kind: "step" }, { ...JOB_OPTIONS, jobId: id });
}

/** Opens the far end, which calls back for every job and stays open as long as its process. */
export async function openHopWorker(url: string, onJob: (id: string) => void): Promise<void> {
  const run = async (job: { id?: string }) => onJob(job.id ?? "");
  const worker = isRedis(url)
    ? new Worker(NAME, run, { ...redisOptions(url), concurrency: CONCURRENCY })
    : new (withBackend(createPostgresBackend).Worker)(NAME, run, {
        connection: openPool(url),
        concurrency: CONCURRENCY,
      });
  worker.on("error", (error: Error) => process.stderr.write(`${error.message}\n`));
  await worker.waitUntilReady();
}
