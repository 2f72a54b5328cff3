import { readSessionPage } from "@tandem/engine/postgres/read-session-page";
import type { SessionFilter } from "@tandem/engine/postgres/session-filter";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
let client: pg.Client;
let organizationId: string;
/** A moment that the sessions' times are counted from. */
const start = Date.parse("2026-01-01T00:00:00Z");
const at = (seconds: number) => new Date(start + seconds * 1_000).toISOString();

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query("INSERT INTO organizations (name) VALUES ('acme') RETURNING id");
  organizationId = rows[0].id;
  // Three begin in each second, in no order of their ids; each tenth takes an hour, the others five seconds.
  await client.query(
    `INSERT INTO sessions (id, organization_id, user_name, status, agent_name, group_id, request, agent, tools,
                           first_text, answer_text, created_at, finished_at)
     SELECT md5(i::text)::uuid, $1, 'user-' || i % 2,
            (ARRAY['completed', 'completed', 'failed', 'interrupted', 'idle'])[i % 5 + 1], 'agent-' || i % 7,
            'group-' || i / 100, '{}', '{}', '[]', 'question ' || i, 'answer ' || i, created_at,
            CASE WHEN i % 5 <> 4 THEN created_at + CASE WHEN i % 10 = 0 THEN interval '1 hour' ELSE interval '5 s' END END
       FROM (SELECT i, $2::timestamptz + i / 3 * interval '1 s' AS created_at FROM generate_series(0, 299) AS i) AS new`,
    [organizationId, at(0)],
  );
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

type Filter = Omit<SessionFilter, "organizationId">;
type Page = { offset?: number; limit?: number; oldestFirst?: boolean; counted?: number; searched?: number };

const read = (filter: Filter, page: Page = {}) =>
  readSessionPage(client, {
    filter: { organizationId, ...filter },
    oldestFirst: false,
    offset: 0,
    limit: 10,
    ...page,
  });

/** What a list should hold, by the plainest statement. */
async function select(where: string, order: "ASC" | "DESC"): Promise<string[]> {
  const { rows } = await client.query(
    `SELECT id FROM sessions WHERE ${where} ORDER BY created_at ${order}, id ${order}`,
  );
  return rows.map(({ id }) => id);
}

/** Reads page after page, as a client does that trusts `total`. */
async function readAll(filter: Filter, page: Page & { limit: number }): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 1; ; number++) {
    const offset = (number - 1) * page.limit;
    const { rows, total } = await read(filter, { ...page, offset });
    ids.push(...(rows ?? []).map(({ id }) => id));
    if (number * page.limit >= total) return ids;
  }
}

const filters: { what: string; filter: Filter; where: string }[] = [
  { what: "an owner", filter: { userName: "user-1" }, where: "user_name = 'user-1'" },
  { what: "all", filter: {}, where: "true" },
  { what: "a status", filter: { statuses: ["failed"] }, where: "status = 'failed'" },
  {
    what: "several statuses, one twice",
    filter: { statuses: ["failed", "idle", "failed"] },
    where: "status IN ('failed', 'idle')",
  },
  { what: "an agent", filter: { agentNames: ["agent-3"] }, where: "agent_name = 'agent-3'" },
  {
    what: "agents, one of a name that no agent has",
    filter: { agentNames: ["agent-3", "a\u0000", "agent-4"] },
    where: "agent_name IN ('agent-3', 'agent-4')",
  },
  {
    what: "more agents than are looked for one by one",
    filter: {
      agentNames: Array.from({ length: 60 }, (_, i) => `agent-${i + 2}`),
      statuses: ["idle", "failed"],
    },
    where: "agent_name >= 'agent-2' AND status IN ('failed', 'idle')",
  },
  {
    what: "agents and statuses",
    filter: { agentNames: ["agent-3", "agent-4"], statuses: ["completed", "idle"] },
    where: "agent_name IN ('agent-3', 'agent-4') AND status IN ('completed', 'idle')",
  },
  { what: "a group", filter: { groupId: "group-1" }, where: "group_id = 'group-1'" },
  {
    what: "a time of creation",
    filter: { createdAfter: at(20), createdBefore: at(60) },
    where: `created_at > '${at(20)}' AND created_at < '${at(60)}'`,
  },
  { what: "an early end", filter: { finishedBefore: at(50) }, where: `finished_at < '${at(50)}'` },
  { what: "a late end", filter: { finishedAfter: at(50) }, where: `finished_at > '${at(50)}'` },
  {
    what: "a late end of some",
    filter: { finishedAfter: at(50), statuses: ["completed", "failed"], userName: "user-0" },
    where: `finished_at > '${at(50)}' AND status IN ('completed', 'failed') AND user_name = 'user-0'`,
  },
  { what: "a text", filter: { search: "ANSWER 1" }, where: "answer_text LIKE 'answer 1%'" },
  { what: "nothing", filter: { groupId: "a\u0000" }, where: "false" },
];

describe.each([{ oldestFirst: false }, { oldestFirst: true }])(
  "a list, oldest first: $oldestFirst",
  (sort) => {
    it.each(filters)(
      "of $what holds each that fits once, in order, for whoever reads on by its total",
      async ({ filter, where }) => {
        const expected = await select(where, sort.oldestFirst ? "ASC" : "DESC");
        for (const page of [{ limit: 7 }, { limit: 10, counted: 20 }, { limit: 100, counted: 3 }])
          expect(await readAll(filter, { ...sort, ...page })).toEqual(expected);
      },
    );
  },
);

describe("the total of a list", () => {
  const failed = { statuses: ["failed"] } as const;

  it("is exact up to the bound, above it more than the bound, and exact again on the last page", async () => {
    expect((await read(failed, { counted: 60 })).total).toBe(60);
    expect((await read(failed, { counted: 59 })).total).toBeGreaterThanOrEqual(60);
    expect((await read(failed, { counted: 5, offset: 50, limit: 20 })).total).toBe(60);
    expect((await read(failed, { counted: 5, offset: 50, limit: 10 })).total).toBe(60);
  });

  it("is never less than what the page shows, however wrong the estimate is", async () => {
    // Without statistics the planner expects next to nothing.
    for (const offset of [0, 10, 40]) {
      const { total, rows } = await read(failed, { counted: 5, offset });
      expect(rows).toHaveLength(10);
      expect(total).toBeGreaterThan(offset + 10);
    }
  });

  it("is exact up to 10,000 where nothing else is said", async () => {
    const { rows } = await client.query("INSERT INTO organizations (name) VALUES ('large') RETURNING id");
    const large = { organizationId: rows[0].id, statuses: ["completed"] } as const;
    const load = (count: number) =>
      client.query(
        `INSERT INTO sessions (id, organization_id, user_name, status, agent_name, request, agent, tools)
         SELECT gen_random_uuid(), $1, 'u', 'completed', 'x', '{}', '{}', '[]' FROM generate_series(1, $2)`,
        [large.organizationId, count],
      );
    await load(10_000);
    expect((await read(large)).total).toBe(10_000);
    await load(50);
    expect((await read(large)).total).toBeGreaterThan(10_000);
    expect((await read(large, { offset: 10_040 })).total).toBe(10_050);
  });

  it("is no more than what comes before a page past the end", async () => {
    expect(await read(failed, { counted: 5, offset: 60 })).toEqual({ rows: [], total: expect.any(Number) });
    expect((await read(failed, { counted: 5, offset: 60 })).total).toBeLessThanOrEqual(60);
    expect(await read(failed, { offset: 1_000_000 })).toEqual({ rows: [], total: 60 });
    expect(await read({}, { offset: 1_000_000 })).toEqual({ rows: [], total: 300 });
  });
});

describe("a search", () => {
  it("looks at the newest sessions that fit the rest, and further back when it is told", async () => {
    const search = "question 10";
    expect((await read({ search }, { searched: 300 })).total).toBe(11);
    expect((await read({ search }, { searched: 195 })).total).toBe(5);
    expect((await read({ search, createdBefore: at(34) }, { searched: 100 })).total).toBe(3);
  });

  it("looks at the same sessions in either order", async () => {
    const ids = async (oldestFirst: boolean) =>
      (await read({ search: "question" }, { searched: 7, oldestFirst })).rows?.map(({ id }) => id);
    expect((await ids(true))?.reverse()).toEqual(await ids(false));
  });
});
