// What all figures share: a Postgres of the bench's own that keeps its promises (real fsync, on a real disk), the
// scripted model, and the programs, bundled as images run them.
import { readFile, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { startEmbeddedPostgres } from "../../apps/standalone/src/embedded-postgres/start-embedded-postgres.ts";
import { bundlePrograms } from "../support/programs.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";
import type { Closers } from "./closers.ts";
import { startProgram } from "./program.ts";
import type { Arrival } from "./programs/scripted-model.ts";

const programs = {
  api: "apps/api/src/server.ts",
  worker: "apps/worker/src/main.ts",
  standalone: "apps/standalone/src/main.ts",
  model: "test/bench/programs/scripted-model.ts",
  waiters: "test/bench/programs/waiters.ts",
  garbage: "test/bench/programs/collect-garbage.ts",
  sink: "test/bench/programs/sink.ts",
  hop: "test/bench/programs/queue-hop-consumer.ts",
  moments: "test/bench/programs/note-moments.ts",
};

/** What figures are measured on. */
export interface Stage {
  /** On disk; logs and whatever else goes there. */
  folder: string;
  /** The bundled programs. */
  paths: Record<keyof typeof programs, string>;
  model: ScriptedModel;
  postgres: {
    version: string;
    pid: number;
    /** True when its files are in memory, where a commit waits for no disk. */
    isInMemory: boolean;
  };
  /** Makes a database; the name is completed to one of its own. Gives its URL. */
  createDatabase(name: string): Promise<string>;
  /** Removes one, whoever is connected to it. */
  dropDatabase(url: string): Promise<void>;
}

/** The process that plays the model provider. */
export interface ScriptedModel {
  /** What a worker takes as its base URL. */
  baseUrl: string;
  pid: number;
  /** The requests that arrived since the last time this was asked. */
  takeArrivals(): Promise<Arrival[]>;
}

/**
 * Settings of the bench's Postgres over those of the embedded one: commits are dated, which costs a few nanoseconds,
 * and a load of a million rows does not checkpoint all the time.
 */
const SETTINGS = { track_commit_timestamp: "on", max_wal_size: "4GB" };

/** Linux's number for a file system in memory. */
const TMPFS = 0x01021994;

/** Opens it. What it opens is closed by `closers`, whether it succeeds or not. */
export async function openStage(closers: Closers): Promise<Stage> {
  const folder = await makeTemporaryFolder("tandem-bench-", { onDisk: true });
  closers.push(() => rm(folder, { recursive: true, force: true }));
  const { paths, close } = await bundlePrograms(programs);
  closers.push(close);
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, "postgres"),
    durable: true,
    settings: SETTINGS,
    log: (line) => process.stderr.write(`${line}\n`),
  });
  closers.push(() => postgres.close());
  const admin = new pg.Client({ connectionString: postgres.url });
  admin.on("error", () => undefined);
  await admin.connect();
  closers.push(() => admin.end());
  const { rows } = await admin.query(
    "SELECT pg_backend_pid() AS pid, current_setting('server_version') AS version",
  );
  const model = await startModel({ folder, path: paths.model, closers });
  let databases = 0;
  return {
    folder,
    paths,
    model,
    postgres: {
      version: rows[0].version,
      pid: await findParent(rows[0].pid),
      isInMemory: (await statfs(folder)).type === TMPFS,
    },
    async createDatabase(name) {
      const database = `${name}_${databases++}`;
      await admin.query(`CREATE DATABASE ${admin.escapeIdentifier(database)}`);
      return Object.assign(new URL(postgres.url), { pathname: `/${database}` }).href;
    },
    async dropDatabase(url) {
      const name = admin.escapeIdentifier(new URL(url).pathname.slice(1));
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

async function startModel(options: {
  folder: string;
  path: string;
  closers: Closers;
}): Promise<ScriptedModel> {
  const program = startProgram({ ...options, name: "model", talks: true });
  options.closers.push(() => program.close());
  const { port } = await program.receive<{ port: number }>();
  const address = `http://127.0.0.1:${port}`;
  return {
    baseUrl: `${address}/v1`,
    pid: program.pid,
    takeArrivals: async () => (await (await fetch(`${address}/arrivals`)).json()) as Arrival[],
  };
}

/** A backend's parent is the server's first process. 0 where there is no /proc. */
async function findParent(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] ?? 0);
}
