// The floor of every path that writes: one transaction that changes one row, committed for good, in one Postgres
// connection. Its three statements go in one message, which is the least that a client can do.
import pg from "pg";
import type { Closers, Stage } from "../stage.ts";

/** Measures bare commits. */
export interface CommitFloor {
  /** Commits `count` times, one after the other, and gives each time in milliseconds to `add`. */
  measure(add: (ms: number) => void, count: number): Promise<void>;
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
  };
}
