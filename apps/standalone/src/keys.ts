// `npm run keys`: makes, lists and revokes API keys, on the database of DATABASE_URL or beside a running `npm start`.
import { parseArgs } from "node:util";
import { createApiKey, type KeyContext } from "@tandem/engine/commands/api-keys";
import { MAX_KEY_DAYS } from "@tandem/engine/domain/api-keys";
import { TandemError } from "@tandem/engine/domain/errors";
import { toStartFault } from "@tandem/engine/process";
import { listApiKeys } from "@tandem/engine/queries/list-api-keys";
import { NoDatabaseError, revokeKey, toKeyLine, withKeys } from "./key-database.ts";

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
  if (command === "create") return withKeys(process.env, (context) => create(context, values));
  if (command === "list") return withKeys(process.env, list);
  if (command === "revoke" && id !== undefined)
    return withKeys(process.env, (context) => revoke(context, id));
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
  for (const key of (await listApiKeys(context)).items) process.stdout.write(`${toKeyLine(key)}\n`);
}

async function revoke(context: KeyContext, id: string): Promise<void> {
  if (!(await revokeKey(context, id))) throw new UsageError(`There is no key ${id}; \`list\` shows them.`);
  process.stdout.write(`Key ${id} is revoked.\n`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const isTold = [UsageError, NoDatabaseError, TandemError].some((kind) => error instanceof kind);
  process.stderr.write(`${isTold ? (error as Error).message : toStartFault(error)}\n`);
  process.exitCode = 1;
}
