import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { connect } from "node:net";
import { delimiter, join } from "node:path";
import { findFreePort } from "../../apps/standalone/src/embedded-postgres/find-free-port.ts";
import { waitFor } from "./wait-for.ts";

/** Whether `redis-server` is on the PATH; tests that need it are skipped where it is not. */
export const hasRedis = (process.env.PATH ?? "").split(delimiter).some((folder) => {
  try {
    accessSync(join(folder, "redis-server"), constants.X_OK);
    return true;
  } catch {
    return false;
  }
});

export interface TestRedis {
  url: string;
  port: number;
  /** Of the running server; another one after `start`. */
  readonly pid: number;
  /** Sends one command, as it is typed at a prompt. */
  command(words: string): Promise<string>;
  /** Removes everything: the loss of all jobs. */
  flush(): Promise<void>;
  /** Kills the server: an outage, in which everything is lost. */
  kill(): Promise<void>;
  /** Starts it again on the same port. */
  start(): Promise<void>;
  /** Kills it and starts it again, empty, on the same port. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

interface RunningServer {
  child: ChildProcess;
  pid: number;
  exited: Promise<void>;
}

/** Starts a real Redis that keeps nothing on disk. */
export async function startRedis(): Promise<TestRedis> {
  const port = await findFreePort();
  let server = await startServer(port);
  const kill = () => killServer(server);
  const start = async () => {
    server = await startServer(port);
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return server.pid;
    },
    command: (words) => send(port, words),
    flush: async () => {
      await send(port, "FLUSHALL");
    },
    kill,
    start,
    restart: async () => {
      await kill();
      await start();
    },
    close: kill,
  };
}

async function startServer(port: number): Promise<RunningServer> {
  const flags = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const child = spawn("redis-server", flags, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  let hasExited = false;
  const exited = new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => {
      hasExited = true;
      resolve();
    });
  });
  if (child.pid !== undefined) endWithUs(child.pid, exited);
  await Promise.race([exited, waitUntilReady(port, () => hasExited)]);
  if (hasExited || child.pid === undefined) throw new Error(`redis-server did not start:\n${output}`);
  return { child, pid: child.pid, exited };
}

/**
 * However this process dies, by SIGKILL too, its server goes along: the pipe to a watchdog ends with the process. The
 * watchdog has a group of its own, so that what a terminal sends to ours does not end it first.
 */
function endWithUs(pid: number, exited: Promise<void>): void {
  const script = 'cat > /dev/null; kill -KILL "$1" 2> /dev/null';
  const options: SpawnOptions = { stdio: ["pipe", "ignore", "ignore"], detached: true };
  const watchdog: ChildProcess = spawn("sh", ["-c", script, "sh", String(pid)], options);
  watchdog.once("error", (error) => console.error("nobody watches over redis-server:", error));
  watchdog.unref();
  const dismiss = () => watchdog.kill("SIGKILL");
  exited.then(dismiss, dismiss);
}

async function waitUntilReady(port: number, hasExited: () => boolean): Promise<void> {
  const isReady = async () => hasExited() || (await send(port, "PING").catch(() => "")).startsWith("+PONG");
  await waitFor(isReady, { what: "redis-server to answer" });
}

async function killServer({ child, exited }: RunningServer): Promise<void> {
  child.kill("SIGKILL");
  await exited;
}

/** Sends one command in Redis' inline form and returns the first reply. */
async function send(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port }, () => socket.write(`${command}\r\n`));
    socket.setEncoding("utf8");
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("Redis closed the connection")));
    socket.once("data", (reply: string) => {
      resolve(reply);
      socket.destroy();
    });
  });
}
