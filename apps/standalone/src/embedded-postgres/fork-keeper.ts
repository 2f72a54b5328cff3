import { type ChildProcess, fork } from "node:child_process";
import { createRequire } from "node:module";
import { extname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { KeeperMessage, KeeperTask } from "./postgres-keeper.ts";

/** Postgres with the process that looks after it. */
export interface Keeper {
  /** Settles when both are gone, with what the keeper said on its way out. */
  exited: Promise<string>;
  hasExited(): boolean;
  /** Stops Postgres and waits until it is gone. Safe to repeat. */
  stop(): Promise<void>;
  /** Has the file removed as soon as Postgres is on its way out. */
  handOver(connectionFile: string): void;
  /** Lets this process end without stopping Postgres first: the keeper then does it. */
  release(): void;
}

/** Starts Postgres under a keeper. */
export function forkKeeper(task: KeeperTask): Keeper {
  // Set by `node --watch`, and would make the keeper report its files to us.
  const { WATCH_REPORT_DEPENDENCIES: _, ...env } = process.env;
  const child = fork(keeperPath(), [JSON.stringify(task)], {
    // A session of its own: a terminal's Ctrl-C reaches us, who still need the database to end well.
    detached: true,
    execArgv: keeperExecArgv(),
    env,
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const send = (message: KeeperMessage) => {
    // Between the check and the sending the keeper may die, which `exited` then tells.
    if (child.connected) child.send(message, () => {});
  };
  let exited = false;
  const exit = waitForExit(child).finally(() => {
    exited = true;
  });
  return {
    exited: exit,
    hasExited: () => exited,
    stop: async () => {
      setHold(child, "ref");
      send({ stop: true });
      await exit;
    },
    handOver: (connectionFile) => send({ connectionFile }),
    release: () => setHold(child, "unref"),
  };
}

async function waitForExit(child: ChildProcess): Promise<string> {
  let output = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(`The keeper of Postgres could not be started: ${error.message}`));
    child.once("close", () => resolve(output.trim()));
  });
}

/** Whether the child keeps this process alive: its process, its IPC channel and its stderr each would. */
function setHold(child: ChildProcess, hold: "ref" | "unref"): void {
  child[hold]();
  child.channel?.[hold]();
  // The stream is a socket, which its type does not say.
  (child.stderr as Partial<Record<typeof hold, () => void>> | null)?.[hold]?.();
}

/** Beside this file, in the source as in a bundle. */
function keeperPath(): string {
  const extension = extname(fileURLToPath(import.meta.url));
  return fileURLToPath(new URL(`./postgres-keeper${extension}`, import.meta.url));
}

/** Not our own flags, which may be a test runner's or a debugger's: only a loader when it is TypeScript. */
function keeperExecArgv(): string[] {
  if (extname(keeperPath()) !== ".ts") return [];
  return ["--import", pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href];
}
