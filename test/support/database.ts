import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { inject } from "vitest";

/** SQLSTATE `object_in_use`: another test is copying the template, or a migration's connection is closing. */
const objectInUse = "55006";
const retryMs = 20;
const timeoutMs = 30_000;

export interface TestDatabase {
  url: string;
  /** Cuts whatever is still connected. */
  drop(): Promise<void>;
}

/** Makes a migrated, empty database for one test file or test. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  await createFromTemplate(name);
  return {
    url: Object.assign(new URL(inject("postgresUrl")), { pathname: `/${name}` }).href,
    drop: () => runAsAdmin(`drop database if exists ${name} with (force)`),
  };
}

async function createFromTemplate(name: string): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await runAsAdmin(`create database ${name} template tandem_template`);
    } catch (error) {
      const isInUse = error instanceof pg.DatabaseError && error.code === objectInUse;
      if (!isInUse || Date.now() > deadline) throw error;
      await delay(retryMs);
    }
  }
}

async function runAsAdmin(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject("postgresUrl") });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}
