import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isAboutGrowing } from "../support/find-slow-parts.ts";
import { type RecordedStatement, recordStatements } from "../support/recorded-statements.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { createWire, type Wire } from "../support/wire.ts";

let stack: TestStack;
let wire: Wire;
let client: pg.Client;
const ids = new Map<number, string>();

beforeAll(async () => {
  stack = await startStack({ worker: false });
  wire = createWire(stack.baseUrl, apiKey);
  client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  for (const length of [10, 100_000]) {
    const id = await wire.create({ agent: { name: "x" }, messages: "Hi" });
    ids.set(length, id);
    await client.query(
      `INSERT INTO events (session_id, index, type, data)
       SELECT $1, index, 'AgentEvent', json_build_object('kind', 'policy_event', 'text', repeat('e', 200))
         FROM generate_series(1, $2 - 1) AS index`,
      [id, length],
    );
    await client.query("UPDATE sessions SET next_index = $2 WHERE id = $1", [id, length]);
  }
  await client.query("VACUUM ANALYZE");
});
afterAll(async () => {
  await client.end();
  await stack.close();
});

/** Pages of the database that are read for a request, and what it answers. */
async function measure(
  path: string,
): Promise<{ pages: number; body: Awaited<ReturnType<Wire["get"]>>["body"] }> {
  const recording = recordStatements();
  const { status, body } = await wire.get(path).finally(recording.stop);
  expect(status).toBe(200);
  let pages = 0;
  for (const statement of recording.statements.filter(isAboutGrowing)) pages += await countPages(statement);
  expect(pages).toBeGreaterThan(0);
  return { pages, body };
}

async function countPages({ text, values }: RecordedStatement): Promise<number> {
  const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values);
  const { Plan: plan } = rows[0]["QUERY PLAN"][0];
  return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
}

/** The index of a larger table is some levels higher, for each of the few times that it is searched. */
const HIGHER = 12;

it.each([
  { what: "the status", path: () => "status", count: undefined },
  { what: "the session", path: () => "", count: undefined },
  { what: "changes at the end", path: (length: number) => `changes?from_index=${length - 3}`, count: 3 },
  { what: "changes of a page", path: () => "changes?from_index=2&limit=5", count: 5 },
  { what: "the first page", path: () => "events?size=5", count: 5 },
  { what: "the last page", path: (length: number) => `events?size=5&page=${length / 5}`, count: 5 },
  { what: "the newest page", path: () => "events?size=5&sort=-timestamp", count: 5 },
  {
    what: "the last page, newest first",
    path: (length: number) => `events?size=5&sort=-timestamp&page=${length / 5}`,
    count: 5,
  },
])("$what of a session costs the same with 100,000 events as with 10", async ({ path, count }) => {
  const costs = [];
  for (const [length, id] of ids) {
    const { pages, body } = await measure(`/sessions/${id}/${path(length)}`.replace(/\/$/, ""));
    expect((body.items ?? body.new_events)?.length).toBe(count);
    if (body.total !== undefined) expect(body.total).toBe(length);
    costs.push(pages);
  }
  const [short = 0, long = 0] = costs;
  expect(long).toBeLessThanOrEqual(short + HIGHER);
});
