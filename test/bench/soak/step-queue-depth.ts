// How many jobs are in the engine's queue, asked of BullMQ itself, which knows on either backend.
import { createPostgresBackend, type PgPool, Queue, withBackend } from "bullmq";
import pg from "pg";
import type { Stack } from "../stack.ts";

/** Looks at the queue. */
export interface QueueDepth {
  /** Jobs of any state: waiting, active, delayed, failed, completed. */
  read(): Promise<number>;
  close(): Promise<void>;
}

/** As the engine calls them. */
const QUEUE = "tandem-steps";
const REDIS_PREFIX = "tandem";
const POSTGRES_SCHEMA = "bullmq";

/** Opens a connection of its own. */
export function openQueueDepth({ redisUrl, databaseUrl }: Stack): QueueDepth {
  if (redisUrl !== null) {
    const queue = new Queue(QUEUE, { connection: { url: redisUrl }, prefix: REDIS_PREFIX });
    return { read: async () => sum(await queue.getJobCounts()), close: () => queue.close() };
  }
  const pool = new pg.Pool({
    ...{ connectionString: databaseUrl, max: 1, options: `-c search_path=${POSTGRES_SCHEMA}` },
  });
  pool.on("error", () => undefined);
  // BullMQ describes a pool by a type of its own, which pg's class fulfils but for an index signature.
  const connection = pool as unknown as PgPool;
  const queue = new (withBackend(createPostgresBackend).Queue)(QUEUE, { connection });
  return {
    read: async () => sum(await queue.getJobCounts()),
    async close() {
      await queue.close();
      await pool.end();
    },
  };
}

const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((a, b) => a + b, 0);
