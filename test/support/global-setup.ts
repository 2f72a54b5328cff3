// One Postgres for the whole test run, with a migrated template that each test's database is copied from.
import { rm } from "node:fs/promises";
import { migrate } from "@tandem/engine/postgres/migrate";
import pg from "pg";
import type { TestProject } from "vitest/node";
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from "../../apps/standalone/src/embedded-postgres/start-embedded-postgres.ts";
import { hasRedis } from "./redis.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Of the superuser, for making databases. */
    postgresUrl: string;
    /** Whether `redis-server` is on the PATH. */
    hasRedis: boolean;
  }
}

interface TestPostgres extends EmbeddedPostgres {
  dataDir: string;
}

/** Each project loads this file anew, so what they share is kept outside of it. */
const shared = globalThis as typeof globalThis & {
  tandemTestPostgres?: { users: number; postgres: Promise<TestPostgres> } | undefined;
};

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.tandemTestPostgres ??= { users: 0, postgres: startTestPostgres() };
  const { tandemTestPostgres } = shared;
  tandemTestPostgres.users += 1;
  const postgres = await tandemTestPostgres.postgres;
  project.provide("postgresUrl", postgres.url);
  project.provide("hasRedis", hasRedis);

  return async () => {
    tandemTestPostgres.users -= 1;
    if (tandemTestPostgres.users > 0) return;
    shared.tandemTestPostgres = undefined;
    await postgres.close();
    await rm(postgres.dataDir, { recursive: true, force: true });
  };
}

async function startTestPostgres(): Promise<TestPostgres> {
  const dataDir = await makeTemporaryFolder("tandem-test-");
  const postgres = await startEmbeddedPostgres({
    dataDir,
    durable: false,
    log: console.error,
    settings: { max_wal_size: "256MB" },
  });
  try {
    await migrate(await createTemplate(postgres.url));
    return { ...postgres, dataDir };
  } catch (error) {
    await postgres.close();
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  }
}

async function createTemplate(adminUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  await client.query("create database tandem_template").finally(() => client.end());
  return Object.assign(new URL(adminUrl), { pathname: "/tandem_template" }).href;
}
