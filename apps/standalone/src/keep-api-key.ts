import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * The key that the stack made for itself, from its data folder, so that it stays the same over restarts; made when
 * there is none yet.
 */
export async function keepApiKey(dataDir: string, make: () => string): Promise<string> {
  const file = join(dataDir, "api-key");
  const kept = await readFile(file, "utf8").catch(() => "");
  if (kept.trim() !== "") return kept.trim();
  const key = make();
  await mkdir(dataDir, { recursive: true });
  await writeFile(file, `${key}\n`, { mode: 0o600 });
  return key;
}
