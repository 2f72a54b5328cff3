// `tandem keys`: making, listing and revoking API keys: by the API where a server is named, else on the database.
import { createApiKey } from "@tandem/engine/commands/api-keys";
import { TandemError as EngineError } from "@tandem/engine/domain/errors";
import { listApiKeys } from "@tandem/engine/queries/list-api-keys";
import { NoDatabaseError, revokeKey, withKeys } from "@tandem/standalone/key-database";
import { connect, type ServerOptions } from "../connect.ts";
import { findDataDir } from "../data-dir.ts";
import { toReason } from "../doctor/check.ts";
import { CliError, type ExitCode, exitCodes } from "../exit-codes.ts";
import { toHarmlessLine } from "../terminal/harmless.ts";
import { note, print, printJson } from "../terminal/output.ts";
import { toMinute, toTable } from "../terminal/table.ts";

/** The flags of `tandem keys create`. */
export interface CreateOptions extends ServerOptions {
  org: string;
  name?: string;
  user?: string;
  expires?: number;
  admin?: boolean;
}

/** A key, whichever way it came. */
interface Key {
  id: string;
  hint: string;
  organization: string;
  user: string;
  name: string;
  admin: boolean;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
}

type KeyView = Awaited<ReturnType<typeof listApiKeys>>["items"][number];

/** The key is alone on standard output, so that a script can take it. */
export async function createKey(options: CreateOptions): Promise<ExitCode> {
  const { org: organization, name, user, expires, admin } = options;
  const { id, key } = isServerNamed(options)
    ? await createByApi(options)
    : await withDatabase(async (context) => {
        const made = await createApiKey(context, {
          organization,
          name,
          user,
          expiresDays: expires,
          isAdmin: admin,
        });
        return { id: made.view.id, key: made.key };
      });
  note(
    `${admin ? "Admin key" : "Key"} ${id} of organization ${toHarmlessLine(organization)}. It is shown this once:`,
  );
  print(key);
  return exitCodes.ok;
}

async function createByApi(options: CreateOptions): Promise<{ id: string; key: string }> {
  const { org: organization, name, user, expires, admin } = options;
  const client = await connect(options);
  return client.createKey({
    body: {
      organization,
      ...(name === undefined ? {} : { name }),
      ...(user === undefined ? {} : { user }),
      ...(expires === undefined ? {} : { expires_days: expires }),
      ...(admin === undefined ? {} : { admin }),
    },
  });
}

export async function listKeys(options: ServerOptions & { org?: string; json?: boolean }): Promise<ExitCode> {
  const keys = isServerNamed(options) ? await listByApi(options) : await listByDatabase(options.org);
  if (options.json) printJson(keys);
  else for (const line of toTable(HEADS, keys.map(toRow))) print(line);
  return exitCodes.ok;
}

const HEADS = ["ID", "KEY", "ORGANIZATION/USER", "NAME", "ADMIN", "ENDS (UTC)", "LAST USED (UTC)"];
/** The API's largest page. */
const PAGE = 100;

async function listByApi(options: ServerOptions & { org?: string }): Promise<Key[]> {
  const client = await connect(options);
  const keys: Key[] = [];
  for (let page = 1; ; page += 1) {
    const filter = options.org === undefined ? {} : { organization: options.org };
    const { items, total } = await client.listKeys({ query: { page, size: PAGE, ...filter } });
    keys.push(...items);
    if (items.length === 0 || keys.length >= total) return keys;
  }
}

async function listByDatabase(organization: string | undefined): Promise<Key[]> {
  const filter = organization === undefined ? {} : { organization };
  return (await withDatabase((context) => listApiKeys(context, filter))).items.map(toKey);
}

function toKey(view: KeyView): Key {
  return {
    id: view.id,
    hint: view.hint,
    organization: view.organization,
    user: view.userName,
    name: view.name,
    admin: view.isAdmin,
    expires_at: view.expiresAt?.toISOString() ?? null,
    revoked_at: view.revokedAt?.toISOString() ?? null,
    last_used_at: view.lastUsedAt?.toISOString() ?? null,
  };
}

function toRow(key: Key): string[] {
  const end = key.revoked_at ? `revoked ${toMinute(key.revoked_at)}` : toMinute(key.expires_at);
  const who = `${key.organization}/${key.user}`;
  return [key.id, key.hint || "-", who, key.name, key.admin ? "yes" : "-", end, toMinute(key.last_used_at)];
}

export async function revokeKeys(ids: string[], options: ServerOptions): Promise<ExitCode> {
  for (const id of ids) {
    if (isServerNamed(options)) await (await connect(options)).revokeKey({ path: { id } });
    else if (!(await withDatabase((context) => revokeKey(context, id)))) {
      throw new CliError(
        `There is no key ${toHarmlessLine(id)}; \`tandem keys list\` shows them.`,
        exitCodes.refused,
      );
    }
    note(`Key ${toHarmlessLine(id)} is revoked.`);
  }
  return exitCodes.ok;
}

/** A named server is asked over HTTP, with an admin key; else the database of the settings, or of the stack here. */
function isServerNamed({ baseUrl }: ServerOptions): boolean {
  return baseUrl !== undefined || Boolean(process.env.TANDEM_BASE_URL?.trim());
}

async function withDatabase<T>(work: Parameters<typeof withKeys<T>>[1]): Promise<T> {
  const dataDir = findDataDir();
  try {
    return await withKeys({ ...process.env, TANDEM_DATA_DIR: dataDir }, work);
  } catch (cause) {
    const { unreachable } = exitCodes;
    if (cause instanceof NoDatabaseError) {
      const advice = "start one with `npx tandem up`, set DATABASE_URL, or name a server with --base-url";
      throw new CliError(`No stack runs on ${dataDir}: ${advice}.`, unreachable, { cause });
    }
    if (cause instanceof EngineError) throw new CliError(cause.message, exitCodes.refused, { cause });
    // Codes are those of the network, and of Postgres.
    if (!(cause instanceof Error && "code" in cause)) throw cause;
    const text = `The database cannot be used: ${toReason(cause)}. \`tandem doctor\` looks closer.`;
    throw new CliError(text, unreachable, { cause });
  }
}
