import { createHash, randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { migrate } from "@tandem/engine/postgres/migrate";
import pg from "pg";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { waitFor } from "../support/wait-for.ts";

/** The last migration of the version before sessions could be paused, and of that before they were counted. */
const LAST_OLD = "20261129140000_waiting_on";
const LAST_UNCOUNTED = "20261129170000_admin_keys";

let database: TestDatabase;
let client: pg.Client;

beforeEach(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
});
afterEach(async () => {
  await client.end();
  await database.drop();
});

/** Brings the database to an old version, with the ledger that the runner keeps. */
async function applyOld(last: string): Promise<void> {
  await client.query(`CREATE TABLE _prisma_migrations (
    id varchar(36) PRIMARY KEY NOT NULL, checksum varchar(64) NOT NULL, finished_at timestamptz,
    migration_name varchar(255) NOT NULL, logs text, rolled_back_at timestamptz,
    started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0)`);
  const folder = new URL("../../prisma/migrations/", import.meta.url);
  const names = (await readdir(folder)).filter((name) => /^\d/.test(name) && name <= last).sort();
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
  await applyOld(LAST_OLD);
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

it("sessions of the version before are counted, and so are those of its processes that are still at work", async () => {
  await applyOld(LAST_UNCOUNTED);
  for (const name of ["first", "second", "third"]) await insert(name, "completed", {});
  const old = new pg.Client({ connectionString: database.url });
  await old.connect();
  await old.query("BEGIN");
  await old.query("DELETE FROM sessions WHERE agent_name = 'first'");
  await old.query(
    `INSERT INTO sessions (id, organization_id, user_name, status, agent_name, request, agent, tools)
     SELECT gen_random_uuid(), organization_id, user_name, status, agent_name, request, agent, tools
       FROM sessions, generate_series(1, 5)`,
  );
  const migration = migrate(database.url);
  const isWaiting = async () => {
    const { rowCount } = await client.query(
      "SELECT FROM pg_locks WHERE relation = 'sessions'::regclass AND NOT granted",
    );
    return rowCount === 1;
  };
  await waitFor(isWaiting, { what: "the migration to wait for the old process" });
  await old.query("COMMIT");
  await migration;
  await old.query("DELETE FROM sessions WHERE agent_name = 'second'");
  await old.end();
  const { rows } = await client.query(
    `SELECT user_name AS "user", sum(count)::int AS counted, (SELECT count(*)::int FROM sessions) AS there
       FROM session_counts GROUP BY user_name`,
  );
  expect(rows).toEqual([{ user: "u", counted: 6, there: 6 }]);
});

it("a process of the version before that is in the middle of a change neither fails nor stops the upgrade", async () => {
  await applyOld(LAST_UNCOUNTED);
  await insert("first", "running", {});
  const old = new pg.Client({ connectionString: database.url });
  await old.connect();
  const row = "sessions WHERE agent_name = 'first'";
  await old.query(`BEGIN; SELECT FROM ${row} FOR UPDATE`);
  const migration = migrate(database.url).catch((error: Error) => error.cause ?? error);
  const isUnderWay = async () => {
    const { rowCount } = await client.query(
      "SELECT FROM pg_locks WHERE NOT granted AND (relation = 'sessions'::regclass OR locktype = 'advisory')",
    );
    return rowCount !== 0;
  };
  await waitFor(isUnderWay, { what: "the upgrade to wait for the old process" });
  await old.query(`UPDATE sessions SET steps = 1 WHERE agent_name = 'first'`);
  await old.query("COMMIT");
  await old.end();
  expect(await migration).toBeInstanceOf(Array);
});
