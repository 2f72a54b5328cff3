// Where the stack that runs here keeps its things: its key and its address, for those who work beside it.
import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/**
 * The data folder: `TANDEM_DATA_DIR`, else the nearest `.tandem` in this folder or above it, else `.tandem` in this
 * folder, which need not exist.
 */
export function findDataDir(env: NodeJS.ProcessEnv = process.env, folder = process.cwd()): string {
  const given = env.TANDEM_DATA_DIR?.trim();
  if (given) return resolve(folder, given);
  for (let at = folder; ; at = dirname(at)) {
    const candidate = join(at, ".tandem");
    if (isFolder(candidate)) return candidate;
    if (dirname(at) === at) return join(folder, ".tandem");
  }
}

/** A short text that the stack has left in its data folder; null when there is none. */
export async function readNote(dataDir: string, name: "api-key" | "base-url"): Promise<string | null> {
  const text = await readFile(join(dataDir, name), "utf8").catch(() => "");
  return text.trim() || null;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
