// `npm run keys`: makes, lists and revokes API keys, on the database of DATABASE_URL or beside a running `npm start`.
import { parseArgs } from "node:util";
import { createApiKey, type KeyContext, revokeApiKey } from "@tandem/engine/commands/api-keys";
import { MAX_KEY_DAYS } from "@tandem/engine/domain/api-keys";
import { TandemError } from "@tandem/engine/domain/errors";
import { createCatalogue } from "@tandem/engine/postgres/catalogue";
import { migrate } from "@tandem/engine/postgres/migrate";
import { createPool } from "@tandem/engine/postgres/pool";
import { toStartFault } from "@tandem/engine/process";
import { listApiKeys } from "@tandem/engine/queries/list-api-keys";
import { findConnection } from "./embedded-postgres/connection-file.ts";

const USAGE = `Usage:
  npm run keys -- create --org NAME [--name NAME] [--user NAME] [--expires DAYS] [--admin]
  npm run keys -- list
  npm run keys -- revoke ID

The database is that of DATABASE_URL, else that of the stack that runs on TANDEM_DATA_DIR (default .tandem).`;

/** A fault of the command's user, told without a stack. */
class UsageError extends Error {}

async function main(argv: string[]): Promise<void> {
  const { values, positionals } = readArguments(argv);
  const [command, id, ...extra] = positionals;
  const isTooMuch = extra.length > 0 || (id !== undefined && command !== "revoke");
  if (isTooMuch) throw new UsageError(`${JSON.stringify(extra[0] ?? id)} has no place here.\n\n${USAGE}`);
  if (command === "create") return withKeys((context) => create(context, values));
  if (command === "list") return withKeys(list);
  if (command === "revoke" && id !== undefined) return withKeys((context) => revoke(context, id));
  throw new UsageError(USAGE);
}

type Values = { org?: string; name?: string; user?: string; expires?: string; admin?: boolean };

function readArguments(argv: string[]): { values: Values; positionals: string[] } {
  const text = { type: "string" } as const;
  try {
    const options = { org: text, name: text, user: text, expires: text, admin: { type: "boolean" } as const };
    return parseArgs({ args: argv, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${USAGE}`);
  }
}

async function withKeys(work: (context: KeyContext) => Promise<void>): Promise<void> {
  const url = await findDatabase();
  // The command may be newer than the processes that run.
  await migrate(url);
  const pool = createPool({ url, max: 2, applicationName: "tandem-keys", onError: () => undefined });
  try {
    await work({ pool, catalogue: createCatalogue(pool) });
  } finally {
    await pool.end();
  }
}

async function findDatabase(): Promise<string> {
  const given = process.env.DATABASE_URL?.trim();
  if (given) return given;
  const dataDir = process.env.TANDEM_DATA_DIR?.trim() || ".tandem";
  const connection = await findConnection(dataDir);
  if (connection) return connection.databaseUrl;
  throw new UsageError(
    `No stack runs on ${dataDir}: start it with npm start, or set DATABASE_URL or TANDEM_DATA_DIR.`,
  );
}

/** The key is alone on the last line, so that a script can take it: `npm run -s keys -- create … | tail -1`. */
async function create(context: KeyContext, { org, name, user, expires, admin }: Values): Promise<void> {
  if (!org) throw new UsageError(`--org is missing.\n\n${USAGE}`);
  const days = expires === undefined ? undefined : Number(expires);
  if (days !== undefined && !(Number.isInteger(days) && days >= 1 && days <= MAX_KEY_DAYS)) {
    throw new UsageError(
      `--expires is ${JSON.stringify(expires)}: a whole number of days, 1 to ${MAX_KEY_DAYS}, is right.`,
    );
  }
  const { view, key } = await createApiKey(context, {
    organization: org,
    name,
    user,
    expiresDays: days,
    isAdmin: admin,
  });
  process.stdout.write(
    `${admin ? "Admin key" : "Key"} ${view.id} of organization ${org}. It is shown this once:\n${key}\n`,
  );
}

async function list(context: KeyContext): Promise<void> {
  const day = (time: Date | null) => time?.toISOString().slice(0, 16).replace("T", " ") ?? "never";
  for (const key of (await listApiKeys(context)).items) {
    const end = key.revokedAt ? `revoked ${day(key.revokedAt)}` : `expires ${day(key.expiresAt)}`;
    const who = `${key.organization}/${key.userName}`;
    process.stdout.write(
      `${key.id}  ${key.hint}  ${who}  ${key.name}  ${key.isAdmin ? "admin  " : ""}${end}  last used ${day(key.lastUsedAt)}\n`,
    );
  }
}

async function revoke(context: KeyContext, id: string): Promise<void> {
  const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
  if (!isUuid || !(await revokeApiKey(context, id)))
    throw new UsageError(`There is no key ${id}; \`list\` shows them.`);
  process.stdout.write(`Key ${id} is revoked.\n`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const isTold = error instanceof UsageError || error instanceof TandemError;
  process.stderr.write(`${isTold ? error.message : toStartFault(error)}\n`);
  process.exitCode = 1;
}
