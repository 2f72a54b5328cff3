import { chmod, mkdir, mkdtemp, readdir, readlink, stat, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { canTraverse } from "./can-traverse.ts";
import type { PostgresUser } from "./postgres-user.ts";

/** Where root can keep a database that another user must reach; `/var/tmp` where there is no `/var/lib`. */
const reachableParents = ["/var/lib", "/var/tmp"];

/**
 * Says where the cluster's folder is, or is to be made: `<dataDir>/postgres`.
 *
 * When root's data folder is closed to the user who runs Postgres, that name is a symlink to a folder
 * outside. The link is what remembers the place: removing the data folder gives a new database, and moving
 * the data folder keeps the old one.
 */
export async function placeCluster(options: {
  dataDir: string;
  user: PostgresUser | undefined;
  log: (line: string) => void;
}): Promise<string> {
  const { dataDir, user, log } = options;
  await mkdir(dataDir, { recursive: true });
  const folder = join(dataDir, "postgres");
  const linked = await findLink(dataDir, "postgres");
  if (linked) return linked;
  if (user === undefined || (await openDataDir(dataDir, user))) return folder;
  if (await stat(folder).catch(() => undefined)) {
    throw new Error(
      `The database in ${folder} is closed to uid ${user.uid}, which runs Postgres. ` +
        "Let that user pass through the folders above it.",
    );
  }

  const outside = join(await makeReachableFolder(user), "postgres");
  await symlink(outside, folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  log(`${dataDir} is closed to the user that runs Postgres (uid ${user.uid}): the database is in ${outside}`);
  return (await findLink(dataDir, "postgres")) ?? folder;
}

async function findLink(folder: string, name: string): Promise<string | undefined> {
  const target = await readlink(join(folder, name)).catch(() => undefined);
  return target === undefined ? undefined : resolve(folder, target);
}

/** An empty data folder is ours to open: what comes into it is closed file by file. */
async function openDataDir(dataDir: string, user: PostgresUser): Promise<boolean> {
  if (await canTraverse(dataDir, user)) return true;
  const { mode, uid } = await stat(dataDir);
  if (uid !== 0 || (await readdir(dataDir)).length > 0) return false;
  await chmod(dataDir, (mode & 0o777) | 0o011);
  if (await canTraverse(dataDir, user)) return true;
  await chmod(dataDir, mode & 0o777);
  return false;
}

async function makeReachableFolder(user: PostgresUser): Promise<string> {
  for (const parent of reachableParents) {
    if (!(await canTraverse(parent, user).catch(() => false))) continue;
    const made = await mkdtemp(join(parent, "tandem-")).catch(() => undefined);
    if (!made) continue;
    await chmod(made, 0o711);
    return made;
  }
  throw new Error(
    `The data folder is closed to uid ${user.uid}, which runs Postgres, and so are ${reachableParents.join(" and ")}. ` +
      "Set TANDEM_DATA_DIR to a folder which that user can reach, or set DATABASE_URL.",
  );
}
