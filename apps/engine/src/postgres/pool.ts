// The one pool of a process. Short statements only: nothing that waits may hold a connection of it.
import pg from "pg";
import { parseJson } from "../domain/json.ts";
import type { PoolUse } from "../domain/load.ts";

/** A pool of connections, or one connection inside a transaction. */
export type Queryable = Pick<pg.ClientBase, "query">;

/** Options of {@link createPool}. */
export interface PoolOptions {
  url: string;
  /** Most connections at once. */
  max: number;
  /** Shown by Postgres in `pg_stat_activity`. */
  applicationName: string;
  /** Called when an idle connection breaks, as when Postgres restarts. The pool replaces it. */
  onError: (error: Error) => void;
}

/** How long a request waits for a free connection before it fails, in milliseconds. */
export const CONNECTION_TIMEOUT_MS = 5_000;

/**
 * How long a statement may take, in milliseconds: a database that does not answer must not hold requests for ever. Ours
 * take a few; what a statement did that was given up is as unknown as when its connection breaks.
 */
export const STATEMENT_TIMEOUT_MS = 10_000;

/** Makes a pool; it connects when it is first used. */
export function createPool(options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS,
    keepAlive: true,
    types,
  });
  pool.on("error", options.onError);
  surviveBrokenConnections(pool);
  return pool;
}

/** How the pool is used at this moment. */
export function readPoolUse({ totalCount, idleCount, waitingCount, options }: pg.Pool): PoolUse {
  return { idle: idleCount, active: totalCount - idleCount, waiting: waitingCount, max: options.max };
}

/** Columns of type `json` are read to the last digit. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    Number(oid) === pg.types.builtins.JSON ? parseJson : pg.types.getTypeParser(oid, format),
};

/**
 * The pool listens for errors of idle connections only. One that breaks while somebody holds it would end the process;
 * its holder learns of it by the next statement.
 */
export function surviveBrokenConnections(pool: pg.Pool): void {
  pool.on("connect", (client) => client.on("error", () => undefined));
}

/** Opens one connection outside every pool, for `LISTEN` and for migrations. */
export async function connectClient(url: string, applicationName: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    keepAlive: true,
  });
  // A connection that breaks with nobody listening would end the process; its user learns of it by the next statement.
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

/**
 * SQLSTATE classes and Node codes of an unreachable or overloaded database, of a connection that it ended, and of
 * locks.
 */
const UNAVAILABLE =
  /^(08|25P0[34]|40P01|53|55P03|57P0[1235]|ECONNREFUSED|ECONNRESET|ENOTFOUND|EPIPE|ETIMEDOUT|EAI_AGAIN)/;

/** True when an error means that the database is out of reach for now, not that the statement is wrong. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return UNAVAILABLE.test(code) || UNAVAILABLE_WORDS.test(error.message);
}

/** The same of `pg` itself, which has no codes for them. */
const UNAVAILABLE_WORDS =
  /timeout exceeded when trying to connect|Connection terminated|Query read timeout|encountered a connection error and is not queryable/;

/** True when a statement was given up: its connection still waits for the answer, and nothing else can use it. */
export function isStatementTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === "Query read timeout";
}

/** Resolves when the database answers. */
export async function checkDatabase(db: Queryable): Promise<void> {
  await db.query("SELECT 1");
}
