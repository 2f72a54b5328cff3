// What is looked at again and again while a load goes on.
import { countHandles, readResidentKib } from "../proc.ts";
import { readHeapKib } from "../read-heap.ts";
import type { Stack } from "../stack.ts";
import type { Load } from "./load.ts";
import type { QueueDepth } from "./step-queue-depth.ts";

/** The state of the stack at one moment. */
export interface Sample {
  /** Seconds since the load began. */
  at: number;
  /** Memory in RAM, in MiB. */
  api_rss: number;
  worker_rss: number;
  /** In use on and beside the JavaScript heap when garbage has just been collected, in MiB. */
  api_heap: number;
  worker_heap: number;
  /** Open files and sockets. */
  api_handles: number;
  worker_handles: number;
  /** To Postgres, of Tandem. */
  connections: number;
  /** Jobs in the queue. */
  jobs: number;
  /** Sessions that have started and not ended. */
  under_way: number;
  ended: number;
}

const MIB = 1_024;

/** Takes a sample. It collects the processes' garbage, which a process would do by itself somewhat later. */
export async function takeSample(
  at: number,
  { stack, load, depth }: { stack: Stack; load: Load; depth: QueueDepth },
): Promise<Sample> {
  const [api, worker] = stack.programs;
  if (!api || !worker) throw new Error("A soak needs an API and a worker");
  const connections = await stack.db.query(CONNECTIONS);
  return {
    at: Math.round(at),
    api_rss: toMib(readResidentKib(api.pid)),
    worker_rss: toMib(readResidentKib(worker.pid)),
    api_heap: toMib(await readHeapKib(api)),
    worker_heap: toMib(await readHeapKib(worker)),
    api_handles: countHandles(api.pid),
    worker_handles: countHandles(worker.pid),
    connections: connections.rows[0].count,
    jobs: await depth.read(),
    under_way: load.started - load.ended,
    ended: load.ended,
  };
}

const toMib = (kib: number): number => Math.round((kib / MIB) * 10) / 10;

const CONNECTIONS = `SELECT count(*)::int AS count FROM pg_stat_activity
  WHERE datname = current_database() AND application_name LIKE 'tandem%'`;
