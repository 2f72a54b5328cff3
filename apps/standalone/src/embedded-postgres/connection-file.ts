import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isProcessAlive } from "./is-process-alive.ts";

/** How other commands reach the database of a running stack. */
export interface Connection {
  databaseUrl: string;
  /** The process that started the database. */
  pid: number;
}

export function connectionFile(dataDir: string): string {
  return join(dataDir, "connection.json");
}

/** Written for its owner's eyes only, because it holds the password. The keeper removes it. */
export async function writeConnection(dataDir: string, databaseUrl: string): Promise<void> {
  const path = connectionFile(dataDir);
  const unfinished = `${path}.${process.pid}`;
  const content = { database_url: databaseUrl, pid: process.pid };
  await writeFile(unfinished, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(unfinished, path);
}

/** Finds the database that a live process has started on `dataDir`; null when there is none. */
export async function findConnection(dataDir: string): Promise<Connection | null> {
  const connection = await readConnection(dataDir);
  return connection !== null && isProcessAlive(connection.pid) ? connection : null;
}

/** What was last written and not yet removed, whether or not its process still lives. */
export async function readConnection(dataDir: string): Promise<Connection | null> {
  const text = await readFile(connectionFile(dataDir), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (text === null) return null;
  const { database_url, pid } = JSON.parse(text) as { database_url: string; pid: number };
  return { databaseUrl: database_url, pid };
}
