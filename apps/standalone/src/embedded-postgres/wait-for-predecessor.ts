import { execFile } from "node:child_process";
import { readFile, readlink, realpath, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { readConnection } from "./connection-file.ts";
import { isProcessAlive } from "./is-process-alive.ts";

const pollMs = 50;

/**
 * Waits until no Postgres runs on `data` any more: the one of a process that was just killed takes a moment.
 * Removes a lock file whose process id now belongs to something else, which Postgres itself cannot tell.
 *
 * @throws when it still runs at `deadline` (epoch milliseconds).
 */
export async function waitForPredecessor(options: {
  dataDir: string;
  data: string;
  deadline: number;
  log: (line: string) => void;
}): Promise<void> {
  const { dataDir, data, deadline, log } = options;
  let announced = false;
  for (;;) {
    const postmaster = await findPostmaster(data);
    if (postmaster === null) return;
    const connection = await readConnection(dataDir);
    if (Date.now() >= deadline) {
      const holder = connection?.pid ?? postmaster;
      const advice = "Stop it first, or set TANDEM_DATA_DIR to another folder.";
      const error = new Error(`The data folder ${dataDir} is already in use by process ${holder}. ${advice}`);
      throw Object.assign(error, { code: "DATA_FOLDER_IN_USE" });
    }
    if (!announced) {
      log(`Waiting for the Postgres of another process (${postmaster}) to leave ${dataDir}`);
      if (connection !== null && !isProcessAlive(connection.pid)) stopOrphan(postmaster);
    }
    announced = true;
    await delay(pollMs);
  }
}

/** Its process is dead and so is its keeper, or the connection file would be gone: nobody else stops it. */
function stopOrphan(postmaster: number): void {
  try {
    process.kill(postmaster, "SIGINT");
  } catch {
    // Gone by itself, or another user's: the wait tells which.
  }
}

async function findPostmaster(data: string): Promise<number | null> {
  const lockFile = join(data, "postmaster.pid");
  const pid = Number.parseInt(await readFile(lockFile, "utf8").catch(() => ""), 10);
  if (!isProcessAlive(pid)) return null;
  if (await isPostmasterOf(data, pid)) return pid;
  await rm(lockFile, { force: true });
  return null;
}

/** After a crash of the machine, or in a new container, the id in the lock file may be anyone's. */
async function isPostmasterOf(data: string, pid: number): Promise<boolean> {
  if (process.platform === "linux") {
    // A postmaster works in its data folder. Root without ptrace rights (in a container) cannot see that,
    // so then the name of the program has to do.
    const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => null);
    if (cwd !== null) return cwd === (await realpath(data));
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    return basename(command.split("\0")[0] ?? "") === "postgres";
  }
  if (process.platform === "win32") return true;
  const ps = await promisify(execFile)("ps", ["-p", String(pid), "-o", "command="]).catch(() => null);
  return ps?.stdout.includes("postgres") ?? false;
}
