import { chmod, mkdtemp, readdir, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isProcessAlive } from "../../apps/standalone/src/embedded-postgres/is-process-alive.ts";

const memoryFolder = "/dev/shm";
/** Far more than the databases of a test run need; containers often have 64 MiB there. */
const enoughBytes = 2 * 1024 ** 3;

/**
 * Makes a folder for a Postgres, in memory when there is room: copying a template database means hundreds of
 * files, which takes 0.2 s on a slow disk and 0.02 s in memory. Programs may not be allowed to run from it.
 *
 * @param options.onDisk true for one that is not in memory, where what is synced takes its time
 */
export async function makeTemporaryFolder(
  prefix: string,
  { onDisk = false }: { onDisk?: boolean } = {},
): Promise<string> {
  const free = await statfs(memoryFolder).catch(() => null);
  const hasRoom = free !== null && free.bavail * free.bsize > enoughBytes;
  const parent = hasRoom && !onDisk ? memoryFolder : tmpdir();
  await removeLeftovers(parent, prefix);
  const made = await mkdtemp(join(parent, `${prefix}${process.pid}-`));
  // Root's Postgres runs as another user, who has to get to its files.
  await chmod(made, 0o711);
  return made;
}

/** What killed test runs left behind, which would fill the memory. */
async function removeLeftovers(parent: string, prefix: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(prefix) || isProcessAlive(Number.parseInt(name.slice(prefix.length), 10))) continue;
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => {});
  }
}
