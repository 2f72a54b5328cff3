// What `tandem doctor` finds of the services that run, and that it changes nothing by looking.
import { checkStores } from "@tandem/cli/doctor/check-services";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

describe("doctor's look at the database", () => {
  let database: TestDatabase;
  let admin: pg.Client;
  const look = (env: Record<string, string> = {}) =>
    checkStores({ DATABASE_URL: database.url, TANDEM_DATA_DIR: "/nowhere", ...env });
  const verdicts = async (env?: Record<string, string>) =>
    (await look(env)).map(({ name, verdict }) => `${name} ${verdict}`);

  beforeAll(async () => {
    database = await createTestDatabase();
    admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
  });
  afterAll(async () => {
    await admin.end();
    await database.drop();
  });

  it("finds all well on one that is migrated", async () => {
    expect(await verdicts()).toEqual(["database ok", "migrations ok", "queue ok", "wake-up channel ok"]);
  });

  it("finds a Redis that is away", async () => {
    const checks = await look({ REDIS_URL: "redis://127.0.0.1:1" });
    expect(checks.find(({ name }) => name === "queue")).toMatchObject({
      verdict: "fail",
      found: expect.stringContaining("on Redis"),
    });
  });

  it("names a migration that is missing, and leaves it to others", async () => {
    const { rows } = await admin.query<{ name: string }>(
      "DELETE FROM _prisma_migrations WHERE id = (SELECT id FROM _prisma_migrations ORDER BY migration_name DESC LIMIT 1) RETURNING migration_name AS name",
    );
    const [, migrations] = await look();
    expect(migrations).toMatchObject({ verdict: "fail", found: `1 missing, the first is ${rows[0]?.name}` });
    expect(await verdicts()).toEqual(["database ok", "migrations fail"]);
  });

  it("takes a database without any for one that was never migrated", async () => {
    await admin.query("ALTER TABLE _prisma_migrations RENAME TO elsewhere");
    expect(await verdicts()).toEqual(["database ok", "migrations fail"]);
    const { rows } = await admin.query("SELECT to_regclass('_prisma_migrations') AS ledger");
    expect(rows).toEqual([{ ledger: null }]);
  });

  it("tells why one cannot be reached, without its password", async () => {
    const checks = await look({ DATABASE_URL: "postgresql://u:hunter2@127.0.0.1:1/x" });
    expect(checks).toMatchObject([
      { name: "database", verdict: "fail", found: expect.stringContaining("ECONNREFUSED") },
    ]);
    expect(JSON.stringify(checks)).not.toContain("hunter2");
  });
});
