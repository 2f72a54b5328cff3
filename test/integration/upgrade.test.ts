import { createHash, randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { migrate } from "@tandem/engine/postgres/migrate";
import pg from "pg";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

/** The last migration of the version before sessions could be paused. */
const LAST_OLD = "20261129140000_waiting_on";

let database: TestDatabase;
let client: pg.Client;

beforeEach(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
  await applyOld();
});
afterEach(async () => {
  await client.end();
  await database.drop();
});

/** Brings the database to the old version, with the ledger that the runner keeps. */
async function applyOld(): Promise<void> {
  await client.query(`CREATE TABLE _prisma_migrations (
    id varchar(36) PRIMARY KEY NOT NULL, checksum varchar(64) NOT NULL, finished_at timestamptz,
    migration_name varchar(255) NOT NULL, logs text, rolled_back_at timestamptz,
    started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0)`);
  const folder = new URL("../../prisma/migrations/", import.meta.url);
  const names = (await readdir(folder)).filter((name) => /^\d/.test(name) && name <= LAST_OLD).sort();
  for (const name of names) {
    const sql = await readFile(new URL(`${name}/migration.sql`, folder), "utf8");
    await client.query(sql);
    await client.query(
      "INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ($1, $2, $3, now())",
      [randomUUID(), createHash("sha256").update(sql).digest("hex"), name],
    );
  }
  await client.query("INSERT INTO organizations (name) VALUES ('default')");
}

const insert = (name: string, status: string, request: object) =>
  client.query(
    `INSERT INTO sessions (id, organization_id, user_name, status, agent_name, request, agent, tools)
     SELECT gen_random_uuid(), id, 'u', $2, $1, $3, '{}', '[]' FROM organizations`,
    [name, status, JSON.stringify({ note: "\u0000 \ud800 \\", queue: true, ...request })],
  );

it("sessions of the version before get the bounds that they asked for, whatever else they hold", async () => {
  await insert("bounded", "awaiting_tool_results", { max_time_s: 60, idle_timeout_s: 5, queue: false });
  await insert("unbounded", "running", { max_time_s: null, idle_timeout_s: null });
  await insert("vast", "pending", { max_time_s: 1e306, idle_timeout_s: 1e307 });
  for (const status of ["completed", "failed", "interrupted"]) await insert(status, status, {});
  await client.query(
    `INSERT INTO api_keys (organization_id, name, user_name, key_hash, hint)
     SELECT id, 'first', 'u', 'a'::bytea, 'pass-123…' FROM organizations
     UNION ALL SELECT id, 'made', 'u', 'b'::bytea, 'tdm_abcd…' FROM organizations`,
  );
  await migrate(database.url);

  const { rows } = await client.query(
    `SELECT agent_name AS name, max_time_ms AS time, idle_timeout_ms AS idle, queues, repeat_limit AS repeats,
            time_limit_at IS NOT NULL AS "isTimed" FROM sessions WHERE status IN ('awaiting_tool_results', 'running', 'pending')
      ORDER BY agent_name`,
  );
  expect(rows).toEqual([
    { name: "bounded", time: 60_000, idle: 5_000, queues: false, repeats: 50, isTimed: true },
    { name: "unbounded", time: null, idle: null, queues: true, repeats: 50, isTimed: false },
    { name: "vast", time: 3e11, idle: 3e11, queues: true, repeats: 50, isTimed: false },
  ]);
  const keys = await client.query("SELECT name, hint FROM api_keys ORDER BY name");
  expect(keys.rows).toEqual([
    { name: "first", hint: "" },
    { name: "made", hint: "tdm_abcd…" },
  ]);
});
