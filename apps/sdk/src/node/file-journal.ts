// A journal in a folder: one file for each call.
import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Journal, JournalEntry } from "../journal.ts";

/** Files that no process came back for are removed at the first use after so long: 30 days, as sessions are kept. */
const longestKeptMs = 30 * 86_400_000;

/**
 * A journal in a folder, which is made when it is missing. A file is written beside its place, brought to the disk, and
 * moved there, so that it is never half there, whichever process dies. Several processes may share the folder.
 *
 * @example
 * const client = new TandemClient({ journal: fileJournal(".tandem/journal") });
 */
export function fileJournal(folder: string): Journal {
  const toFile = (key: string) => join(folder, `${createHash("sha256").update(key).digest("hex")}.json`);
  let prepared: Promise<void> | null = null;
  const prepare = () => {
    prepared ??= prepareFolder(folder).catch((error) => {
      prepared = null;
      throw error;
    });
    return prepared;
  };
  return {
    async read(key) {
      const text = await readFile(toFile(key), "utf8").catch(orNull);
      return text === null ? null : parse(text, key);
    },
    async write(key, entry) {
      await prepare();
      const file = toFile(key);
      const draft = `${file}.${randomUUID()}.tmp`;
      try {
        await writeToDisk(draft, JSON.stringify({ key, ...entry }));
        await rename(draft, file);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
      await syncFolder(folder);
    },
    async remove(key) {
      await rm(toFile(key), { force: true });
    },
  };
}

/** What cannot be understood is of a call that was started, whatever came of it. */
function parse(text: string, key: string): JournalEntry {
  try {
    const entry = JSON.parse(text) as { key?: unknown } & JournalEntry;
    const isWhole = entry.key === key && entry.state === "done" && isPosted(entry.result);
    return isWhole ? { state: "done", result: entry.result } : { state: "started" };
  } catch {
    return { state: "started" };
  }
}

function isPosted(result: unknown): boolean {
  const { kind, tool_req } = Object(result) as { kind?: unknown; tool_req?: unknown };
  return (
    (kind === "tool_result" || kind === "error_event") && typeof tool_req === "object" && tool_req !== null
  );
}

async function writeToDisk(file: string, text: string): Promise<void> {
  const handle = await open(file, "wx", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The move is on the disk when the folder is. Windows knows no such thing, and needs none. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => null);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

async function prepareFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folder)) {
    if (!/^[0-9a-f]{64}\.json/.test(name)) continue;
    const file = join(folder, name);
    const { mtimeMs = Date.now() } = (await stat(file).catch(() => null)) ?? {};
    if (Date.now() - mtimeMs > longestKeptMs) await rm(file, { force: true });
  }
}

function orNull(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}
