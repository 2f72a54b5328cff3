// The command line as people start it: its bin, as a process of its own.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { repositoryRoot } from "./processes.ts";
import { waitFor } from "./wait-for.ts";

const bin = join(repositoryRoot, "apps/cli/bin/tandem.mjs");

export interface CommandOptions {
  env?: Record<string, string>;
  /** All of standard input. Default: none. */
  input?: string;
  cwd?: string;
}

export interface CommandEnd {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunningCommand {
  pid: number;
  stdout(): string;
  stderr(): string;
  /** Waits until either stream has a text that fits. */
  waitFor(pattern: RegExp, what: string): Promise<RegExpExecArray>;
  type(text: string): void;
  /** Stops reading its standard output, as `head` does. */
  closeStdout(): void;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<CommandEnd>;
}

/** Runs a command to its end. */
export function tandem(args: readonly string[], options: CommandOptions = {}): Promise<CommandEnd> {
  return startTandem(args, options).ended;
}

/** Starts a command. */
export function startTandem(args: readonly string[], options: CommandOptions = {}): RunningCommand {
  return start(process.execPath, [bin, ...args], options);
}

/** Starts a command by npx, whose own process gets the signals. */
export function startTandemByNpx(args: readonly string[], options: CommandOptions = {}): RunningCommand {
  return start("npx", ["tandem", ...args], options);
}

/** Starts a command at a pseudo-terminal, whose one stream is its standard output and error. */
export function startTandemAtTerminal(args: readonly string[], options: CommandOptions = {}): RunningCommand {
  const line = [process.execPath, bin, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  return start("script", ["--quiet", "--return", "--command", line, "/dev/null"], {
    ...options,
    input: undefined,
  });
}

function start(
  program: string,
  args: readonly string[],
  {
    env = {},
    cwd = repositoryRoot,
    ...options
  }: Omit<CommandOptions, "input"> & { input?: string | undefined },
): RunningCommand {
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(program, args, { cwd, env: { PATH, HOME, ...env }, stdio: "pipe" });
  if (child.pid === undefined) throw new Error(`${program} could not be started`);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  // One that has ended reads nothing more.
  child.stdin.on("error", () => undefined);
  if (program !== "script") child.stdin.end(options.input ?? "");
  const ended = new Promise<CommandEnd>((resolve) => {
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
  return {
    pid: child.pid,
    stdout: () => stdout,
    stderr: () => stderr,
    waitFor: async (pattern, what) => {
      const find = () => pattern.exec(stdout) ?? pattern.exec(stderr);
      return waitFor(find, { what, timeoutMs: 30_000 }).catch((cause: Error) => {
        throw new Error(`${cause.message}\nstdout:\n${stdout}\nstderr:\n${stderr}`, { cause });
      });
    },
    type: (text) => child.stdin.write(text),
    closeStdout: () => child.stdout.destroy(),
    kill: (signal) => child.kill(signal),
    ended,
  };
}
