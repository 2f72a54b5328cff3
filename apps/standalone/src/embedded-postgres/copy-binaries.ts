import { chmod, cp, lstat, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { arch, tmpdir } from "node:os";
import { join } from "node:path";
import { canTraverse } from "./can-traverse.ts";
import type { PostgresUser } from "./postgres-user.ts";

/**
 * Copies the platform package's `native` folder to where `user` can run it, once per version, and returns
 * the copy. Only root comes here: a clone under root's private home is closed to whoever runs Postgres.
 */
export async function copyBinaries(options: { packageRoot: string; user: PostgresUser }): Promise<string> {
  const native = join(options.packageRoot, "native");
  const { version } = JSON.parse(await readFile(join(options.packageRoot, "package.json"), "utf8")) as {
    version: string;
  };
  const parent = await findReachableParent(options.user);
  const copy = join(parent, `tandem-postgres-${version}-${arch()}`);
  if (await isTrusted(copy)) {
    if (await isComplete(native, copy)) return copy;
    await rm(copy, { recursive: true, force: true });
  }
  const unfinished = await mkdtemp(`${copy}-`);
  try {
    await cp(native, unfinished, { recursive: true, verbatimSymlinks: true });
    await openToOthers(unfinished);
    await rename(unfinished, copy).catch(async (error: unknown) => {
      // Another process finished the same copy first.
      if (!(await isTrusted(copy)) || !(await isComplete(native, copy))) throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return copy;
}

async function findReachableParent(user: PostgresUser): Promise<string> {
  const candidates = [tmpdir(), "/var/tmp"];
  for (const candidate of candidates) {
    if (await canTraverse(candidate, user).catch(() => false)) return candidate;
  }
  throw new Error(
    `No folder that uid ${user.uid} can reach for the Postgres programs: ${candidates.join(", ")}`,
  );
}

/**
 * Anyone can make a folder of this name in a shared temporary folder, and we are about to run programs from
 * it: one that root does not own, or that others can write to, is refused.
 *
 * @returns false when there is no such folder.
 */
async function isTrusted(copy: string): Promise<boolean> {
  const found = await lstat(copy).catch(() => undefined);
  if (!found) return false;
  if (found.isDirectory() && found.uid === 0 && (found.mode & 0o022) === 0) return true;
  throw new Error(
    `${copy} exists, but is not a folder that only root can write to. Remove it and start again.`,
  );
}

/** Cleaners of temporary folders remove single files, so the folder's existence says little. */
async function isComplete(native: string, copy: string): Promise<boolean> {
  for (const path of await listFiles(native)) {
    const [original, copied] = await Promise.all([
      stat(join(native, path)),
      statOrUndefined(join(copy, path)),
    ]);
    if (original.size !== copied?.size) return false;
  }
  return true;
}

async function listFiles(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const path of await readdir(folder, { recursive: true })) {
    if (!(await stat(join(folder, path))).isDirectory()) found.push(path);
  }
  return found;
}

async function statOrUndefined(path: string) {
  return stat(path).catch(() => undefined);
}

async function openToOthers(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    const { mode } = await stat(path);
    await chmod(path, entry.isDirectory() || (mode & 0o100) !== 0 ? 0o755 : 0o644);
  }
}
