import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The ids that Postgres runs under. */
export interface PostgresUser {
  uid: number;
  gid: number;
}

/**
 * Chooses whom Postgres runs as. An ordinary user runs it as themselves (`undefined`). Postgres refuses to
 * run as root, so root hands over to the owner of the existing data, else to `postgres`, else to `nobody`.
 */
export async function choosePostgresUser(dataDir: string): Promise<PostgresUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const clusterOwner = await findOwner(join(dataDir, "postgres"));
  if (clusterOwner) return clusterOwner;
  const dataDirOwner = await findOwner(dataDir);
  const candidates = [...(dataDirOwner ? [String(dataDirOwner.uid)] : []), "postgres", "nobody"];
  for (const candidate of candidates) {
    const user = await findUser(candidate);
    if (user) return user;
  }
  throw new Error(
    "Postgres does not run as root, and there is no user `postgres` or `nobody` to run it as. " +
      "Start as another user, or set DATABASE_URL.",
  );
}

async function findOwner(path: string): Promise<PostgresUser | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found && found.uid !== 0 ? { uid: found.uid, gid: found.gid } : undefined;
}

/** initdb insists on a passwd entry, so an id without one counts as no user. */
async function findUser(nameOrUid: string): Promise<PostgresUser | undefined> {
  try {
    const [uid, gid] = await Promise.all([run("id", ["-u", nameOrUid]), run("id", ["-g", nameOrUid])]);
    return { uid: Number.parseInt(uid.stdout, 10), gid: Number.parseInt(gid.stdout, 10) };
  } catch {
    return undefined;
  }
}
