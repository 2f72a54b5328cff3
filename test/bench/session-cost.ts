// What sessions cost the machine, read before and after they were played.
import { setTimeout as delay } from "node:timers/promises";
import { readCpuMs, readForkingCpuMs } from "./proc.ts";
import type { Stack } from "./stack.ts";
import type { Stage } from "./stage.ts";

/** CPU time of Tandem's processes, its Redis, and Postgres with all its children, so far, in milliseconds. */
export const readStackCpuMs = (stage: Stage, stack: Stack): number =>
  readCpuMs(stack.pids) + readForkingCpuMs(stage.postgres.pid);

/** Transactions that have changed something, so far, in the whole Postgres: each took the next id. */
export async function readWrittenCommits({ db }: Stack): Promise<number> {
  const { rows } = await db.query("SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next");
  return Number(rows[0].next);
}

/**
 * Transactions that Postgres has counted in the stack's database, so far, those that only read included.
 *
 * @param options.afterFlush waits until idle backends have told what they still hold back
 */
export async function readCommits({ db }: Stack, options: { afterFlush?: boolean } = {}): Promise<number> {
  if (options.afterFlush) await delay(FLUSH_MS);
  const { rows } = await db.query(
    "SELECT xact_commit::float8 AS count FROM pg_stat_database WHERE datname = current_database()",
  );
  return rows[0].count;
}

/** A backend of Postgres tells its counts ten seconds after its last transaction at the latest. */
const FLUSH_MS = 10_500;
