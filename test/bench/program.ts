// Processes of the bench: programs that were bundled, run with plain node as an image does it. What they say goes into
// files, since a reader of pipes would take part in what is measured.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../support/processes.ts";
import { waitFor } from "../support/wait-for.ts";

/** A running process. */
export interface Program {
  name: string;
  pid: number;
  /** True while it runs. @throws when it has ended unasked, with the end of its log */
  isRunning(): boolean;
  /** Everything it has said so far. */
  readLog(): string;
  /** Waits for a line in its log. @throws when it ends before, with the end of its log */
  waitForLine(pattern: RegExp): Promise<void>;
  /** The next message that it sends. @throws when it ends before */
  receive<T>(): Promise<T>;
  /** Calls back for every message. */
  onMessage(listener: (message: never) => void): void;
  send(message: object): void;
  /** Kills it when it still runs, and waits until it is gone. */
  close(): Promise<void>;
}

/** How to start a program. */
export interface ProgramOptions {
  /** Also the name of its log. */
  name: string;
  /** Of the bundle. */
  path: string;
  /** Where its log goes. */
  folder: string;
  env?: Record<string, string>;
  args?: string[];
  /** For node itself. */
  nodeFlags?: string[];
  /** True for a program that talks to the bench, and ends with it. */
  talks?: boolean;
}

const START_TIMEOUT_MS = 30_000;
/** Of its log, when it ends unasked: so many characters. */
const LAST_WORDS = 2_000;

/** Starts it. Its environment is the bare minimum and `env`, so that nothing of the machine decides what it does. */
export function startProgram(options: ProgramOptions): Program {
  const { name, path, folder, env = {}, args = [], nodeFlags = [], talks = false } = options;
  const logFile = join(folder, `${name}.log`);
  const log = openSync(logFile, "a");
  const child = spawn(process.execPath, [...nodeFlags, path, ...args], {
    cwd: repositoryRoot,
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...env },
    stdio: ["ignore", log, log, ...(talks ? (["ipc"] as const) : [])],
  });
  closeSync(log);
  if (child.pid === undefined) throw new Error(`${name} could not be started`);
  const readLog = () => readFileSync(logFile, "utf8");
  const { end, exited, isRunning } = watch(child, () => `${name}:\n${readLog().slice(-LAST_WORDS)}`);
  return {
    name,
    pid: child.pid,
    isRunning,
    readLog,
    async waitForLine(pattern) {
      const what = `${name} to say ${pattern}`;
      await waitFor(() => isRunning() && pattern.test(readLog()), { what, timeoutMs: START_TIMEOUT_MS });
    },
    receive: <T>() =>
      Promise.race([
        new Promise<T>((resolve) => child.once("message", (message) => resolve(message as T))),
        exited.then((): never => {
          isRunning();
          throw new Error(`${name} was closed while it was waited for`);
        }),
      ]),
    onMessage: (listener) => {
      child.on("message", (message) => listener(message as never));
    },
    send: (message) => {
      child.send(message);
    },
    close: end,
  };
}

/** Keeps an eye on a process: an end that nobody asked for is told with its last words. */
function watch(child: ChildProcess, lastWords: () => string) {
  let isAsked = false;
  let hasExited = false;
  let fault: Error | null = null;
  // A bench that dies takes its processes along.
  const killAtExit = () => child.kill("SIGKILL");
  process.once("exit", killAtExit);
  const exited = new Promise<void>((resolve) => {
    child.once("exit", (code, signal) => {
      process.off("exit", killAtExit);
      hasExited = true;
      if (!isAsked) fault = new Error(`A process ended by itself with ${code ?? signal}. ${lastWords()}`);
      resolve();
    });
  });
  return {
    exited,
    isRunning() {
      if (fault) throw fault;
      return !hasExited;
    },
    async end() {
      isAsked = true;
      child.kill("SIGKILL");
      await exited;
    },
  };
}
