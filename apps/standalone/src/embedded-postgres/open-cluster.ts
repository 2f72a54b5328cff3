import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chown,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isProcessAlive } from "./is-process-alive.ts";
import { postgresEnvironment } from "./postgres-environment.ts";
import type { PostgresUser } from "./postgres-user.ts";

/** What a cluster's folder holds: `data/` is Postgres' own, `password` the superuser's. */
export interface Cluster {
  data: string;
  password: string;
}

/**
 * Opens the cluster in `folder`, making it first when there is none. It is made aside, with its password,
 * and put in place by one rename: a kill in the middle leaves nothing that a later start could mistake for a
 * database.
 */
export async function openCluster(options: {
  folder: string;
  initdb: string;
  user: PostgresUser | undefined;
  durable: boolean;
}): Promise<Cluster> {
  const { folder } = options;
  await removeLeftovers(folder);
  if (!(await exists(folder))) await makeCluster(options);
  const data = join(folder, "data");
  try {
    return { data, password: (await readFile(join(folder, "password"), "utf8")).trim() };
  } catch (cause) {
    const owner = await stat(folder);
    const foreign = process.getuid !== undefined && process.getuid() !== 0 && owner.uid !== process.getuid();
    const reason = foreign
      ? `it belongs to another user (uid ${owner.uid})`
      : "its password file cannot be read";
    throw new Error(`The database in ${folder} cannot be opened: ${reason}`, { cause });
  }
}

async function makeCluster(options: {
  folder: string;
  initdb: string;
  user: PostgresUser | undefined;
  durable: boolean;
}): Promise<void> {
  const { folder, user } = options;
  await mkdir(dirname(folder), { recursive: true });
  const unfinished = await mkdtemp(`${unfinishedPrefix(folder)}${process.pid}-`);
  try {
    const passwordFile = join(unfinished, "password");
    await writeFile(passwordFile, `${randomBytes(24).toString("hex")}\n`, { mode: 0o600, flush: true });
    if (user) {
      await chown(passwordFile, user.uid, user.gid);
      await chown(unfinished, user.uid, user.gid);
    }
    await runInitdb({ ...options, passwordFile, data: join(unfinished, "data") });
    await rename(unfinished, folder).catch(async (error: unknown) => {
      // Another process made the same cluster first: its is the one to use.
      if (!(await exists(join(folder, "data")))) throw error;
    });
    if (options.durable) await syncFolder(dirname(folder));
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

async function runInitdb(options: {
  initdb: string;
  data: string;
  passwordFile: string;
  user: PostgresUser | undefined;
  durable: boolean;
}): Promise<void> {
  const child = spawn(
    options.initdb,
    [
      `--pgdata=${options.data}`,
      "--username=postgres",
      `--pwfile=${options.passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
      "--no-instructions",
      ...(options.durable ? [] : ["--no-sync"]),
    ],
    {
      ...options.user,
      cwd: dirname(options.data),
      env: postgresEnvironment(),
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const { code, output } = await finish(child);
  if (code !== 0) {
    throw new Error(`Postgres could not be initialised in ${options.data}. initdb said:\n${output.trim()}`);
  }
}

async function finish(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, output }));
  });
}

function unfinishedPrefix(folder: string): string {
  return `${folder}.unfinished-`;
}

/** What a killed start left behind. One whose maker is alive is being made right now. */
async function removeLeftovers(folder: string): Promise<void> {
  const prefix = basename(unfinishedPrefix(folder));
  const siblings = await readdir(dirname(folder)).catch(() => []);
  for (const name of siblings.filter((sibling) => sibling.startsWith(prefix))) {
    const maker = Number.parseInt(name.slice(prefix.length), 10);
    if (isProcessAlive(maker)) continue;
    // Its initdb may still be writing for a moment; what cannot be removed now goes at the next start.
    await rm(join(dirname(folder), name), { recursive: true, force: true }).catch(() => undefined);
  }
}

async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
