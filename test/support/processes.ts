import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { waitFor } from "./wait-for.ts";

export const repositoryRoot = fileURLToPath(new URL("../..", import.meta.url));

export interface TestProcess {
  pid: number;
  /** What it has written so far, line by line. */
  stdout: string[];
  stderr: string[];
  /** The match of the first line, of either stream, that fits; waits for one (default 30,000 ms). */
  waitForLine(pattern: RegExp, timeoutMs?: number): Promise<RegExpMatchArray>;
  kill(signal?: NodeJS.Signals): void;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Kills it when it still runs, and waits until it is gone. */
  close(): Promise<void>;
}

/** What Node needs to run our source. */
const sourceFlags = ["--import", "tsx", "--conditions=tandem-source"];

/**
 * Starts a program of ours, from its source or, when it is JavaScript, with plain node. Its environment is the
 * bare minimum and `env`, so that nothing of the machine decides how it behaves.
 *
 * @param options.entry relative to the repository's root
 */
export function startProcess(options: {
  entry: string;
  env?: Record<string, string>;
  args?: string[];
  /** What it reads from standard input. Default: nothing. */
  input?: string;
  /** Told of each line on standard output. */
  onLine?: (line: string) => void;
}): TestProcess {
  const { entry, env = {}, args = [], input, onLine } = options;
  const flags = entry.endsWith(".ts") ? sourceFlags : [];
  const child = spawn(process.execPath, [...flags, entry, ...args], {
    cwd: repositoryRoot,
    env: { ...bareEnvironment(), ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  }) as ChildProcessByStdio<Writable | null, Readable, Readable>;
  // A program that ends without reading it is no fault.
  child.stdin?.on("error", () => {}).end(input);
  if (child.pid === undefined) throw new Error(`${entry} could not be started`);
  const stdout = collectLines(child.stdout, onLine);
  const stderr = collectLines(child.stderr);
  const exited = waitForExit(child);
  let hasExited = false;
  void exited.then(() => {
    hasExited = true;
  });

  const findLine = (pattern: RegExp) =>
    [...stdout, ...stderr].map((line) => line.match(pattern)).find((match) => match !== null);
  const describe = () => `stdout:\n${stdout.join("\n")}\nstderr:\n${stderr.join("\n")}`;
  return {
    pid: child.pid,
    stdout,
    stderr,
    exited,
    waitForLine: async (pattern, timeoutMs = 30_000) => {
      const what = `a line like ${pattern} from ${entry}`;
      await waitFor(() => hasExited || findLine(pattern), { what, timeoutMs }).catch((cause: Error) => {
        throw new Error(`${cause.message}\n${describe()}`, { cause });
      });
      const match = findLine(pattern);
      if (!match) throw new Error(`${entry} ended without ${what}\n${describe()}`);
      return match;
    },
    kill: (signal = "SIGTERM") => {
      child.kill(signal);
    },
    close: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

function bareEnvironment(): Record<string, string> {
  const names = ["PATH", "HOME", "TMPDIR"];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function collectLines(stream: Readable, onLine?: (line: string) => void): string[] {
  const lines: string[] = [];
  createInterface({ input: stream }).on("line", (line) => {
    lines.push(line);
    onLine?.(line);
  });
  return lines;
}

/** `close`, not `exit`: only then have all lines arrived. */
async function waitForExit(
  child: ChildProcess,
): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve) => child.once("close", (code, signal) => resolve({ code, signal })));
}
