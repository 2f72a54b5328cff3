// A Postgres of one test's own, which can be stopped, killed, and started again: for its users on the same port.
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from "../../apps/standalone/src/embedded-postgres/start-embedded-postgres.ts";
import { startTcpProxy } from "./tcp-proxy.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";

export interface PrivatePostgres {
  url: string;
  /** Ends it, by an orderly fast shutdown or by a SIGKILL of its first process; refuses connections from then on. */
  stop(how: "shutdown" | "kill"): Promise<void>;
  /** Starts it again on the same data. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function startPrivatePostgres(): Promise<PrivatePostgres> {
  const dataDir = await makeTemporaryFolder("tandem-private-");
  const launch = () => startEmbeddedPostgres({ dataDir, durable: false });
  let postgres: EmbeddedPostgres = await launch();
  const proxy = await startTcpProxy(() => postgres.port);
  return {
    url: Object.assign(new URL(postgres.url), { port: proxy.port }).href,
    async stop(how) {
      if (how === "kill") process.kill(await readPostmaster(dataDir), "SIGKILL");
      // After a kill this waits for its keeper, which has nothing left to keep.
      await postgres.close();
      await proxy.cut();
    },
    async start() {
      postgres = await launch();
      await proxy.mend();
    },
    async close() {
      await proxy.close();
      await postgres.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function readPostmaster(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, "postgres/data/postmaster.pid"), "utf8"), 10);
}
