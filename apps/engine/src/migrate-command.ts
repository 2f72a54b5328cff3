// `npm run migrate`: brings the database of DATABASE_URL to the newest schema.
import { bootstrap } from "./commands/bootstrap.ts";
import { readFirstApiKey, SettingsError, SettingsReader } from "./domain/settings.ts";
import { createCatalogue } from "./postgres/catalogue.ts";
import { migrate } from "./postgres/migrate.ts";
import { createPool } from "./postgres/pool.ts";
import { toStartFault } from "./process.ts";

async function main(): Promise<void> {
  const reader = new SettingsReader(process.env);
  reader.required("DATABASE_URL", "the Postgres to migrate, postgresql://user:password@host:port/name");
  const url = reader.url("DATABASE_URL", ["postgres", "postgresql"]) ?? "";
  const apiKey = readFirstApiKey(reader);
  reader.finish();
  const applied = await migrate(url);
  const pool = createPool({ url, max: 1, applicationName: "tandem-migrate", onError: () => undefined });
  try {
    await bootstrap(createCatalogue(pool), apiKey === undefined ? {} : { apiKey });
  } finally {
    await pool.end();
  }
  process.stdout.write(
    applied.length > 0 ? `Applied: ${applied.join(", ")}\n` : "The database is up to date.\n",
  );
}

// As the first process of a container, Node would ignore the signal. Each migration is one transaction.
process.once("SIGTERM", () => process.exit(1));
try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof SettingsError ? error.message : toStartFault(error)}\n`);
  process.exitCode = 1;
}
