// Many sessions like one: its rows, as Tandem wrote them, are copied with SQL. So what is loaded is right whatever
// columns there are.
import type pg from "pg";

/** How to copy. */
export interface CopyOptions {
  db: pg.Client;
  sessionId: string;
  count: number;
  /** Only so many of the first events; the copy then counts that many. Default: all. */
  events?: number;
}

/** Copies a session, the first copy oldest, and gives the copies' ids. They are of the same organization and user. */
export async function copySession({ db, sessionId, count, events }: CopyOptions): Promise<string[]> {
  await db.query("BEGIN");
  // Foreign keys hold for copies as they do for what is copied.
  await db.query("SET LOCAL session_replication_role = replica");
  await db.query("CREATE TEMP TABLE copies (id uuid, age interval) ON COMMIT DROP");
  // Ids grow with time, as Tandem's do.
  await db.query(
    `INSERT INTO copies SELECT uuidv7(-age), age
       FROM (SELECT number * interval '1 second' AS age FROM generate_series($1::int, 1, -1) AS number) AS ages`,
    [count],
  );
  for (const { name, columns } of await readTables(db)) {
    const values = columns.map((column) => toValue(name, column, events));
    const key = name === "sessions" ? "id" : "session_id";
    const narrowed = name === "events" && events !== undefined ? `AND row.index < ${events}` : "";
    await db.query(
      `INSERT INTO ${name} (${columns.map(quote).join(", ")})
       SELECT ${values.join(", ")} FROM copies, ${name} AS row WHERE row.${key} = '${sessionId}' ${narrowed}`,
    );
  }
  const { rows } = await db.query<{ id: string }>("SELECT id FROM copies");
  await db.query("COMMIT");
  return rows.map(({ id }) => id);
}

const quote = (name: string) => `"${name}"`;

function toValue(table: string, column: string, events: number | undefined): string {
  if (column === (table === "sessions" ? "id" : "session_id")) return "copies.id";
  if (table === "sessions" && column === "created_at") return "row.created_at - copies.age";
  if (table === "sessions" && column === "next_index" && events !== undefined) return String(events);
  return `row.${quote(column)}`;
}

/** The tables that belong to a session, `sessions` first, with the columns that can be written. */
async function readTables(db: pg.Client): Promise<{ name: string; columns: string[] }[]> {
  const { rows } = await db.query<{ name: string; columns: string[] }>(
    `SELECT table_name AS name, array_agg(column_name::text ORDER BY ordinal_position) AS columns
       FROM information_schema.columns
      WHERE table_schema = 'public' AND is_generated = 'NEVER'
        AND table_name IN ('sessions', 'events', 'tool_calls')
      GROUP BY table_name ORDER BY table_name <> 'sessions'`,
  );
  return rows;
}
