import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { bootstrap } from "@tandem/engine/commands/bootstrap";
import { BUILT_IN_AGENTS } from "@tandem/engine/domain/agents";
import { createCatalogue } from "@tandem/engine/postgres/catalogue";
import { migrate } from "@tandem/engine/postgres/migrate";
import { createPool } from "@tandem/engine/postgres/pool";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { repositoryRoot, startProcess } from "../support/processes.ts";
import { readDatabaseSchema } from "./database-schema.ts";
import { parsePrismaSchema } from "./prisma-schema.ts";

const migrations = join(repositoryRoot, "prisma/migrations");

interface LedgerRow {
  migration_name: string;
  checksum: string;
}

describe("the migrated database", () => {
  let database: TestDatabase;
  let client: pg.Client;

  beforeEach(async () => {
    database = await createTestDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  });
  afterEach(async () => {
    await client.end();
    await database.drop();
  });

  const readLedger = async () => {
    const { rows } = await client.query<LedgerRow>(
      "SELECT migration_name, checksum FROM _prisma_migrations ORDER BY started_at, migration_name",
    );
    return rows;
  };

  it("is what the Prisma schema says: tables, columns, keys and indexes, by type and name", async () => {
    const schema = parsePrismaSchema(await readFile(join(repositoryRoot, "prisma/schema.prisma"), "utf8"));
    const found = await readDatabaseSchema(client);
    expect(Object.keys(found).sort()).toEqual(Object.keys(schema).sort());
    for (const [name, table] of Object.entries(found))
      expect({ name, ...table }).toEqual({ name, ...schema[name] });
  });

  it.each([
    { what: "a column of another type", statement: "ALTER TABLE events ALTER COLUMN data TYPE jsonb" },
    { what: "a column that may be null", statement: "ALTER TABLE events ALTER COLUMN data DROP NOT NULL" },
    {
      what: "a column without its default",
      statement: "ALTER TABLE sessions ALTER COLUMN steps DROP DEFAULT",
    },
    { what: "one more column", statement: "ALTER TABLE sessions ADD COLUMN more text" },
    { what: "one more table", statement: "CREATE TABLE more (id int)" },
    { what: "a missing index", statement: "DROP INDEX waiting_messages_session_id_id_idx" },
    {
      what: "an index that runs the other way",
      statement: "CREATE INDEX more ON sessions (created_at DESC)",
    },
    { what: "another primary key", statement: "ALTER TABLE tool_calls DROP CONSTRAINT tool_calls_pkey" },
    { what: "a missing foreign key", statement: "ALTER TABLE events DROP CONSTRAINT events_session_id_fkey" },
  ])("differs from the Prisma schema with $what", async ({ statement }) => {
    const schema = parsePrismaSchema(await readFile(join(repositoryRoot, "prisma/schema.prisma"), "utf8"));
    expect(await readDatabaseSchema(client)).toEqual(schema);
    await client.query(statement);
    expect(await readDatabaseSchema(client)).not.toEqual(schema);
  });

  it("holds each migration of the repository once, in order, with the checksum of its file", async () => {
    const ledger = await readLedger();
    expect(ledger.map((row) => row.migration_name)).toEqual(await listMigrations());
    expect(ledger.every((row) => /^[0-9a-f]{64}$/.test(row.checksum))).toBe(true);
  });

  it("is left as it is by another migration", async () => {
    const before = await readLedger();
    expect(await migrate(database.url)).toEqual([]);
    expect(await migrate(database.url)).toEqual([]);
    expect(await readLedger()).toEqual(before);
  });

  it("is made once when many migrate it at the same moment", async () => {
    await empty(client);
    const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(database.url)));
    expect(applied.flat()).toEqual(await listMigrations());
    expect((await readLedger()).map((row) => row.migration_name)).toEqual(await listMigrations());
  });

  it("is made once when three processes migrate it at the same moment, and all of them succeed", async () => {
    await empty(client);
    const processes = Array.from({ length: 3 }, () =>
      startProcess({ entry: "apps/engine/src/migrate-command.ts", env: { DATABASE_URL: database.url } }),
    );
    const ends = await Promise.all(processes.map(({ exited }) => exited));
    expect(processes.flatMap(({ stderr }) => stderr)).toEqual([]);
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    const lines = processes.map(({ stdout }) => stdout.join("\n")).sort();
    expect(lines).toEqual([
      `Applied: ${(await listMigrations()).join(", ")}`,
      ...["The database is up to date.", "The database is up to date."],
    ]);
    expect((await readLedger()).map((row) => row.migration_name)).toEqual(await listMigrations());
  });

  it("is given its built-in agent and its first key once, by any number of processes that start together", async () => {
    const pools = Array.from({ length: 8 }, () =>
      createPool({ url: database.url, max: 1, applicationName: "tandem-test", onError: () => undefined }),
    );
    const starts = pools.map((pool) => bootstrap(createCatalogue(pool), { apiKey: "first-key" }));
    const ends = await Promise.allSettled(starts);
    await Promise.all(pools.map((pool) => pool.end()));
    const faults = ends.flatMap((end) => (end.status === "rejected" ? [String(end.reason)] : []));
    expect(faults).toEqual([]);
    const { rows } = await client.query(
      `SELECT (SELECT count(*)::int FROM organizations) AS organizations,
              (SELECT count(*)::int FROM agents) AS agents, (SELECT count(*)::int FROM api_keys) AS keys`,
    );
    expect(rows).toEqual([{ organizations: 2, agents: BUILT_IN_AGENTS.length, keys: 1 }]);
  });

  it("refuses to go on when an applied migration's file is another one now", async () => {
    const [first = ""] = await listMigrations();
    await client.query("UPDATE _prisma_migrations SET checksum = $1 WHERE migration_name = $2", [
      "0".repeat(64),
      first,
    ]);
    await expect(migrate(database.url)).rejects.toThrow(`Migration ${first} was changed`);
  });

  it("keeps nothing of a migration that fails, and is migrated by the next try", async () => {
    await empty(client);
    await client.query("CREATE TABLE waiting_messages (id int)");
    await expect(migrate(database.url)).rejects.toThrow("failed; nothing of it was kept");
    expect(Object.keys(await readDatabaseSchema(client))).toEqual(["waiting_messages"]);
    await client.query("DROP TABLE waiting_messages");
    expect(await migrate(database.url)).toEqual(await listMigrations());
  });

  it("is only locked while somebody migrates it", async () => {
    await migrate(database.url);
    const { rows } = await client.query<{ count: string }>(
      "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
    );
    expect(rows[0]?.count).toBe("0");
  });
});

describe("the migrations", () => {
  it("are folders that sort by their time, one SQL file in each", async () => {
    const names = await listMigrations();
    expect(names.filter((name) => !/^\d{14}_[a-z0-9_]+$/.test(name))).toEqual([]);
    expect(new Set(names.map((name) => name.slice(0, 14))).size).toBe(names.length);
    for (const name of names) expect(await readdir(join(migrations, name))).toEqual(["migration.sql"]);
  });

  it("are Postgres' own, as Prisma's command line asks to be told", async () => {
    expect(await readFile(join(migrations, "migration_lock.toml"), "utf8")).toMatch(
      /^provider = "postgresql"$/m,
    );
  });
});

describe("the reader of Prisma schemas", () => {
  it.each([
    { what: "an unknown type", line: "a Decimal" },
    { what: "an unknown attribute", line: "a String @ignore" },
    { what: "an unknown native type", line: "a String @db.Citext" },
    { what: "a list of values", line: "a String[]" },
    { what: "a line that is no field", line: "a" },
    { what: "an index with a name of its own", line: 'a String\n  @@index([a], map: "b")' },
  ])("passes nothing over: it refuses $what", ({ line }) => {
    expect(() => parsePrismaSchema(`model A {\n  ${line}\n}\n`)).toThrow(/Not/);
  });
});

async function listMigrations(): Promise<string[]> {
  const entries = await readdir(migrations, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

/** Takes everything out of the database, our tables and the queue's. */
async function empty(client: pg.Client): Promise<void> {
  await client.query("DROP SCHEMA public CASCADE");
  await client.query("DROP SCHEMA bullmq CASCADE");
  await client.query("CREATE SCHEMA public");
}
