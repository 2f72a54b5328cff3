// Barriers on the database's own locks: contenders are held up at a session's row until all of them wait there.
import pg from "pg";

/** A lock that a test holds. */
export interface HeldLock {
  /** How many statements of the database wait for a lock. */
  countWaiters(): Promise<number>;
  /** Lets them go on, in the order in which they came. */
  release(): Promise<void>;
}

/** Connections that hold locks, and one that looks who waits. */
export interface Locks {
  /** Holds a session's row, as a command in the middle of its transaction does. */
  holdSession(sessionId: string): Promise<HeldLock>;
  /** Holds what a statement locks until the end of its transaction. */
  hold(statement: string, values: unknown[]): Promise<HeldLock>;
  close(): Promise<void>;
}

export async function openLocks(databaseUrl: string): Promise<Locks> {
  const holder = new pg.Client({ connectionString: databaseUrl });
  const observer = new pg.Client({ connectionString: databaseUrl });
  await Promise.all([holder.connect(), observer.connect()]);
  const countWaiters = async () => {
    const { rows } = await observer.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows[0]?.count ?? 0;
  };
  const hold = async (statement: string, values: unknown[]): Promise<HeldLock> => {
    await holder.query("BEGIN");
    await holder.query(statement, values);
    return {
      countWaiters,
      async release() {
        await holder.query("COMMIT");
      },
    };
  };
  return {
    hold,
    holdSession: (sessionId) => hold("SELECT FROM sessions WHERE id = $1 FOR UPDATE", [sessionId]),
    async close() {
      await Promise.all([holder.end(), observer.end()]);
    },
  };
}
