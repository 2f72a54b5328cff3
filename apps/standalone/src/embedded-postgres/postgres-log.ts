import { readFile, rename } from "node:fs/promises";
import { join } from "node:path";

const shownLines = 20;

export function postgresLogFile(dataDir: string): string {
  return join(dataDir, "postgres.log");
}

/** Each run has its own log; the one before is kept, because it says why that run ended. */
export async function setLastLogAside(dataDir: string): Promise<void> {
  const path = postgresLogFile(dataDir);
  await rename(path, `${path}.old`).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}

export async function readLastLogLines(dataDir: string): Promise<string> {
  const text = await readFile(postgresLogFile(dataDir), "utf8").catch(() => "");
  return text.trim().split("\n").slice(-shownLines).join("\n");
}
