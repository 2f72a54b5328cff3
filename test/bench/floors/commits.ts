// The floor of every path that writes: one transaction that changes one row, committed for good, in one Postgres
// connection. Its three statements go in one message, which is the least that a client can do.
import pg from "pg";
import { findWallOffset, monotonicMs } from "../clock.ts";
import type { Closers } from "../closers.ts";
import type { Stage } from "../stage.ts";

/** Measures bare commits. */
export interface CommitFloor {
  /** Commits `count` times, one after the other, and gives each time in milliseconds to `add`. */
  measure(add: (ms: number) => void, count: number): Promise<void>;
  /** The same, from the moment that Postgres dates a commit with to the moment at which it has told of it. */
  measureFlush(add: (ms: number) => void, count: number): Promise<void>;
}

/** Opens the connection, on a database of its own on the stage's Postgres. */
export async function openCommitFloor(stage: Stage, closers: Closers): Promise<CommitFloor> {
  const db = new pg.Client({ connectionString: await stage.createDatabase("bench_commits") });
  db.on("error", () => undefined);
  await db.connect();
  closers.push(() => db.end());
  await db.query(
    "CREATE TABLE counter (id int PRIMARY KEY, count bigint NOT NULL); INSERT INTO counter VALUES (1, 0)",
  );
  return {
    async measure(add, count) {
      for (let i = 0; i < count; i++) {
        const startedAt = performance.now();
        await db.query("BEGIN; UPDATE counter SET count = count + 1 WHERE id = 1; COMMIT");
        add(performance.now() - startedAt);
      }
    },
    async measureFlush(add, count) {
      const offset = await findWallOffset();
      for (let i = 0; i < count; i++) {
        await db.query("BEGIN; UPDATE counter SET count = count + 1 WHERE id = 1; COMMIT");
        const toldAt = monotonicMs() + offset;
        const { rows } = await db.query(COMMITTED_AT);
        add(toldAt - rows[0].ms);
      }
    },
  };
}

const COMMITTED_AT = `SELECT (extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000)::float8 AS ms
                        FROM counter WHERE id = 1`;
