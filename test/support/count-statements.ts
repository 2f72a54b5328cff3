import pg from "pg";

/** How many statements each `pg` connection of this process sends while some work is done: those of the work, when nobody else works. */
export async function countStatements<T>(work: () => Promise<T>): Promise<{ result: T; count: number }> {
  const { query } = pg.Client.prototype;
  let count = 0;
  pg.Client.prototype.query = function counted(this: pg.Client, ...args: unknown[]) {
    // A pool's own query goes through its client's; what has no text is a query that was made before.
    count++;
    return Reflect.apply(query, this, args);
  } as typeof query;
  try {
    const result = await work();
    return { result, count };
  } finally {
    pg.Client.prototype.query = query;
  }
}
