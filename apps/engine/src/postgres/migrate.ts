// Brings a database to the newest schema: our migrations into Prisma's own ledger, so that its CLI agrees where
// it can run, and BullMQ's queue tables beside them. One process at a time, under an advisory lock.
import { createHash, randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { runMigrations as migrateQueue } from "bullmq";
import type pg from "pg";
import { connectClient } from "./pool.ts";

/** One migration: the folder's name and its SQL. */
interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

/** Any fixed number works, as long as every process takes the same one. These are the letters "TNDM". */
const ADVISORY_LOCK = 0x544e444d;

/** Prisma's ledger, as its CLI creates it. */
const LEDGER = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id varchar(36) PRIMARY KEY NOT NULL, checksum varchar(64) NOT NULL, finished_at timestamptz,
  migration_name varchar(255) NOT NULL, logs text, rolled_back_at timestamptz,
  started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0)`;

/**
 * Applies what is missing and returns the names of the migrations that were applied.
 *
 * @throws when an applied migration's file has changed since: migrations only move forward
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const client = await connectClient(databaseUrl, "tandem-migrate");
  try {
    await client.query("SELECT pg_advisory_lock($1)", [ADVISORY_LOCK]);
    await client.query(LEDGER);
    const applied = await applyMissing(client, await readMigrations());
    // BullMQ names its parameter after its own minimal client type, which a pg client fulfils.
    await migrateQueue(client as Parameters<typeof migrateQueue>[0]);
    return applied;
  } finally {
    await client.end();
  }
}

async function applyMissing(client: pg.Client, migrations: Migration[]): Promise<string[]> {
  const { rows } = await client.query<{ migration_name: string; checksum: string }>(
    "SELECT migration_name, checksum FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL",
  );
  const known = new Map(rows.map((row) => [row.migration_name, row.checksum]));
  const applied: string[] = [];
  for (const migration of migrations) {
    const checksum = known.get(migration.name);
    if (checksum === undefined) {
      await apply(client, migration);
      applied.push(migration.name);
    } else if (checksum !== migration.checksum) {
      throw new Error(
        `Migration ${migration.name} was changed after it had been applied; add a new one instead.`,
      );
    }
  }
  return applied;
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  await client.query("BEGIN");
  try {
    await client.query(migration.sql);
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), 1)`,
      [randomUUID(), migration.checksum, migration.name],
    );
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw new Error(`Migration ${migration.name} failed; nothing of it was kept.`, { cause: error });
  }
}

async function readMigrations(): Promise<Migration[]> {
  const folder = await findMigrations();
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(new URL(`${name}/migration.sql`, folder), "utf8");
      return { name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
    }),
  );
}

/** The migrations lie in `prisma/` at the root, some folders above this file: fewer when it is bundled. */
async function findMigrations(): Promise<URL> {
  for (const up of ["../", "../../", "../../../", "../../../../"]) {
    const folder = new URL(`${up}prisma/migrations/`, import.meta.url);
    const isThere = await readdir(folder).then(
      (names) => names.includes("migration_lock.toml"),
      () => false,
    );
    if (isThere) return folder;
  }
  throw new Error(`prisma/migrations was not found above ${import.meta.url}`);
}
