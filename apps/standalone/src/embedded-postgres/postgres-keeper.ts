// The process between us and Postgres. It outlives its parent for as long as stopping Postgres takes, so that
// nothing is left running when the parent is killed, even by SIGKILL. It must not depend on the rest of the
// code: it is started as a file of its own, also from a bundle.
import { type ChildProcess, spawn } from "node:child_process";
import { openSync, rmSync } from "node:fs";

/** What the keeper is told, as JSON in its one argument. */
export interface KeeperTask {
  program: string;
  args: string[];
  cwd: string;
  env: Record<string, string | undefined>;
  user: { uid: number; gid: number } | null;
  /** Postgres' output is appended here, without passing through the keeper. */
  logFile: string;
}

/** What the keeper is told later. Until it has been given a connection file, that file is another's. */
export type KeeperMessage = { stop: true } | { connectionFile: string };

const fastShutdownMs = 10_000;

const task = JSON.parse(process.argv[2] ?? "null") as KeeperTask;

function keep(): void {
  const log = openSync(task.logFile, "a", 0o600);
  const postgres = spawn(task.program, task.args, {
    ...task.user,
    cwd: task.cwd,
    env: task.env,
    stdio: ["ignore", log, log],
  });
  let stopping = false;
  let connectionFile: string | undefined;
  const removeConnectionFile = () => {
    if (connectionFile !== undefined) rmSync(connectionFile, { force: true });
    connectionFile = undefined;
  };
  const stop = () => {
    if (stopping) return;
    stopping = true;
    // Before Postgres is gone: afterwards, the file could be a successor's.
    removeConnectionFile();
    stopPostgres(postgres);
  };

  postgres.once("error", (error) => {
    process.stderr.write(`${task.program} could not be started: ${error.message}\n`, () => process.exit(1));
  });
  postgres.once("exit", () => {
    removeConnectionFile();
    process.exit(0);
  });
  process.on("message", (message: KeeperMessage) => {
    if ("stop" in message) stop();
    else connectionFile = message.connectionFile;
  });
  process.on("disconnect", stop);
  process.on("SIGTERM", stop);
  process.on("SIGINT", () => {});
  process.on("SIGHUP", () => {});
  // The parent reads our stderr; when it is gone there is nobody to tell.
  process.stderr.on("error", () => {});
}

/** Fast shutdown first: sessions are cut, a checkpoint is written. Then the immediate one: recovery at start. */
function stopPostgres(postgres: ChildProcess): void {
  postgres.kill("SIGINT");
  setTimeout(() => postgres.kill("SIGQUIT"), fastShutdownMs);
}

// A parent that died while this file was loading raises no `disconnect` any more.
if (process.connected) keep();
