// The keys in the database, for commands that work beside a running stack or on a database that is named.
import { type KeyContext, revokeApiKey } from "@tandem/engine/commands/api-keys";
import type { Environment } from "@tandem/engine/domain/settings";
import { createCatalogue } from "@tandem/engine/postgres/catalogue";
import { migrate } from "@tandem/engine/postgres/migrate";
import { createPool } from "@tandem/engine/postgres/pool";
import type { listApiKeys } from "@tandem/engine/queries/list-api-keys";
import { findConnection } from "./embedded-postgres/connection-file.ts";

/** A key as lists show it. */
type KeyView = Awaited<ReturnType<typeof listApiKeys>>["items"][number];

/** No database is named, and no stack runs that has one. */
export class NoDatabaseError extends Error {}

/** The database of `DATABASE_URL`, else that of the stack that runs on `TANDEM_DATA_DIR`; null when there is neither. */
export async function findDatabase(env: Environment): Promise<string | null> {
  const given = env.DATABASE_URL?.trim();
  return given || ((await findConnection(toDataDir(env)))?.databaseUrl ?? null);
}

/**
 * Opens the keys for a piece of work. The database is migrated first: the command may be newer than the processes that
 * run.
 *
 * @throws {NoDatabaseError} when there is none
 */
export async function withKeys<T>(env: Environment, work: (context: KeyContext) => Promise<T>): Promise<T> {
  const url = await findDatabase(env);
  if (url === null) {
    throw new NoDatabaseError(
      `No stack runs on ${toDataDir(env)}: start it with npm start, or set DATABASE_URL or TANDEM_DATA_DIR.`,
    );
  }
  await migrate(url);
  const pool = createPool({ url, max: 2, applicationName: "tandem-keys", onError: () => undefined });
  try {
    return await work({ pool, catalogue: createCatalogue(pool) });
  } finally {
    await pool.end();
  }
}

/** Revokes a key; false when there is none of this id. */
export async function revokeKey(context: KeyContext, id: string): Promise<boolean> {
  const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
  return isUuid && (await revokeApiKey(context, id));
}

/** A key in one line, without its secret. */
export function toKeyLine(key: KeyView): string {
  const end = key.revokedAt ? `revoked ${toMinute(key.revokedAt)}` : `expires ${toMinute(key.expiresAt)}`;
  const who = `${key.organization}/${key.userName}`;
  return `${key.id}  ${key.hint}  ${who}  ${key.name}  ${key.isAdmin ? "admin  " : ""}${end}  last used ${toMinute(key.lastUsedAt)}`;
}

function toMinute(time: Date | null): string {
  return time?.toISOString().slice(0, 16).replace("T", " ") ?? "never";
}

function toDataDir(env: Environment): string {
  return env.TANDEM_DATA_DIR?.trim() || ".tandem";
}
