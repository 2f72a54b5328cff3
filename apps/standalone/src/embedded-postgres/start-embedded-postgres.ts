// The database of those who bring none: real Postgres from npm, kept in one folder. It knows nothing of what
// is stored in it.
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { connectWhenReady } from "./connect-when-ready.ts";
import { connectionFile, writeConnection } from "./connection-file.ts";
import { findFreePort } from "./find-free-port.ts";
import { forkKeeper, type Keeper } from "./fork-keeper.ts";
import { type Cluster, openCluster } from "./open-cluster.ts";
import { placeCluster } from "./place-cluster.ts";
import { findPostgresBinaries } from "./postgres-binaries.ts";
import { postgresEnvironment } from "./postgres-environment.ts";
import { postgresLogFile, readLastLogLines, setLastLogAside } from "./postgres-log.ts";
import { choosePostgresUser, type PostgresUser } from "./postgres-user.ts";
import { waitForPredecessor } from "./wait-for-predecessor.ts";

export interface EmbeddedPostgresOptions {
  /** Where everything is kept; made when missing. One Postgres at a time can use it. */
  dataDir: string;
  /** Takes the few lines a person should see. Postgres' own log is `<dataDir>/postgres.log`. */
  log?: (line: string) => void;
  /** False trades safety against a crash of the machine for speed, for tests. Default true. */
  durable?: boolean;
  /** Postgres settings by name, over the defaults, such as `{ max_connections: "50" }`. */
  settings?: Record<string, string>;
  /** How long a Postgres that is on its way out may still hold the folder. Default 10,000. */
  predecessorTimeoutMs?: number;
}

export interface EmbeddedPostgres {
  /** Of the database `tandem`, with the superuser's password. */
  url: string;
  port: number;
  /** Stops Postgres and waits until it is gone. Safe to repeat. */
  close(): Promise<void>;
}

const databaseName = "tandem";
/** Tries for a port that nobody takes between our finding it and Postgres' binding it. */
const minAttempts = 5;
const retryMs = 100;
/**
 * Postgres' words (it logs in English, see {@link postgresEnvironment}) for a taken port, for another that
 * starts at the same time (whose lock file is empty between its making and its first write), and for backends
 * that have not yet noticed the death of their postmaster.
 */
const transientFaults =
  /could not bind|lock file ".*" (already exists|is empty)|pre-existing shared memory block/;

/**
 * Starts Postgres on `dataDir`, on a free port of 127.0.0.1, making the database when there is none. It
 * stops with {@link EmbeddedPostgres.close}, or by itself when this process dies in whatever way.
 *
 * @throws when the folder is in use by another process, or Postgres does not start; the message then has the
 * last lines of its log.
 * @example
 * const postgres = await startEmbeddedPostgres({ dataDir: ".tandem", log: console.error });
 * await migrate(postgres.url);
 * await postgres.close();
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { log = () => {}, durable = true, settings = {}, predecessorTimeoutMs = 10_000 } = options;
  const dataDir = resolve(options.dataDir);
  const deadline = Date.now() + predecessorTimeoutMs;

  const user = await choosePostgresUser(dataDir);
  const { initdb, postgres } = await findPostgresBinaries(user);
  const folder = await placeCluster({ dataDir, user, log });
  const cluster = await openCluster({ folder, initdb, user, durable });

  for (let attempt = 1; ; attempt++) {
    await waitForPredecessor({ dataDir, data: cluster.data, deadline, log });
    if (attempt === 1) await setLastLogAside(dataDir);
    const attempted = await tryToStart({ dataDir, cluster, user, postgres, durable, settings, log });
    if ("url" in attempted) return attempted;
    const mayTryAgain = attempted.isTransient && (attempt < minAttempts || Date.now() < deadline);
    if (!mayTryAgain) throw new Error(`Postgres did not start on ${dataDir}:\n${attempted.reason}`);
    await delay(retryMs);
  }
}

interface FailedStart {
  reason: string;
  /** Whether another try may go better. */
  isTransient: boolean;
}

async function tryToStart(options: {
  dataDir: string;
  cluster: Cluster;
  user: PostgresUser | undefined;
  postgres: string;
  durable: boolean;
  settings: Record<string, string>;
  log: (line: string) => void;
}): Promise<EmbeddedPostgres | FailedStart> {
  const { dataDir, cluster, log } = options;
  const port = await findFreePort();
  const keeper = forkKeeper({
    program: options.postgres,
    args: ["-D", cluster.data, ...settingFlags({ ...options, port })],
    cwd: cluster.data,
    env: postgresEnvironment(),
    user: options.user ?? null,
    logFile: postgresLogFile(dataDir),
  });
  try {
    const client = await connectWhenReady(toUrl(cluster, port, "postgres"), keeper);
    if (client === null) return await toFailedStart(dataDir, await keeper.exited);
    await makeDatabase(client).finally(() => client.end());
    const url = toUrl(cluster, port, databaseName);
    keeper.handOver(connectionFile(dataDir));
    await writeConnection(dataDir, url);
    return { url, port, close: watchOver({ dataDir, keeper, log }) };
  } catch (error) {
    await keeper.stop();
    throw error;
  }
}

/** Returns what closes Postgres, and says so when it ends without being asked. */
function watchOver(options: {
  dataDir: string;
  keeper: Keeper;
  log: (line: string) => void;
}): () => Promise<void> {
  const { dataDir, keeper, log } = options;
  let closing = false;
  keeper.release();
  void keeper.exited.then(() => {
    if (!closing) log(`Postgres has stopped by itself; its log is ${postgresLogFile(dataDir)}`);
  });
  return () => {
    closing = true;
    return keeper.stop();
  };
}

async function toFailedStart(dataDir: string, keeperOutput: string): Promise<FailedStart> {
  const reason = [keeperOutput, await readLastLogLines(dataDir)].filter((part) => part !== "").join("\n");
  return { reason, isTransient: transientFaults.test(reason) };
}

async function makeDatabase(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query("select from pg_database where datname = $1", [databaseName]);
  if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(databaseName)}`);
}

function settingFlags(options: {
  port: number;
  durable: boolean;
  settings: Record<string, string>;
}): string[] {
  const settings: Record<string, string> = {
    max_connections: "200",
    timezone: "UTC",
    log_timezone: "UTC",
    ...(options.durable ? {} : { fsync: "off", full_page_writes: "off" }),
    ...options.settings,
    listen_addresses: "127.0.0.1",
    port: String(options.port),
    // The default is a folder that may not exist or be writable, and nobody needs the socket.
    unix_socket_directories: "",
  };
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

function toUrl(cluster: Cluster, port: number, database: string): string {
  return `postgresql://postgres:${cluster.password}@127.0.0.1:${port}/${database}`;
}
