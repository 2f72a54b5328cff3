import type pg from "pg";
import { isStatementTimeout } from "./pool.ts";

/**
 * How long a transaction may wait for its own process between two statements, in milliseconds: then it is rolled back.
 * A process that is suspended, or whose machine is gone, would hold its locks for as long as nobody notices.
 */
export const IDLE_IN_TRANSACTION_MS = 5_000;

/**
 * How long a statement of a transaction waits for a lock, in milliseconds. Ours are held for a few; what waits longer
 * waits for a process that does not go on, and would use up the pool meanwhile.
 */
export const LOCK_TIMEOUT_MS = 3_000;

const BEGIN =
  `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}; ` +
  `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`;

/**
 * Runs `work` in one transaction and commits it; any error rolls everything back and is thrown on.
 * A connection whose rollback fails is broken and leaves the pool.
 */
export async function inTransaction<T>(pool: pg.Pool, work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  try {
    await client.query(BEGIN);
    const result = await work(client);
    await client.query("COMMIT");
    return result;
  } catch (error) {
    broken = isStatementTimeout(error);
    if (!broken) {
      await client.query("ROLLBACK").catch(() => {
        broken = true;
      });
    }
    throw error;
  } finally {
    client.release(broken);
  }
}
