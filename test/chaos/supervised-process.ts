// A process that is started again whenever it ends, as a supervisor does it.
import { setTimeout as delay } from "node:timers/promises";
import { startProcess, type TestProcess } from "../support/processes.ts";

export interface SupervisedProcess {
  name: string;
  /** The process id of the moment; null while it is down. */
  readonly pid: number | null;
  /** How often we have killed it. */
  readonly kills: number;
  /** What it said when it failed by itself: it should never. */
  readonly crashes: string[];
  /** Resolves when it has been up for the first time. */
  isUp: Promise<void>;
  kill(): void;
  /** Stops it for a while, then lets it go on where it was. */
  freeze(forMs: number): Promise<void>;
  /** Resolves when it has ended by itself with 0: it had nothing left to do. */
  done: Promise<void>;
  close(): Promise<void>;
}

export function superviseProcess(options: {
  name: string;
  entry: string;
  env: Record<string, string>;
  args?: string[];
  restartAfterMs: () => number;
  /** A line on standard output that says that it is up; one that was never up may end, as without a database. */
  upWhen?: RegExp;
  /** Told of each line on standard output. */
  onLine?: (line: string) => void;
}): SupervisedProcess {
  const { name, restartAfterMs, upWhen = /^/, onLine } = options;
  const crashes: string[] = [];
  let child: TestProcess | null = null;
  let isClosed = false;
  let kills = 0;
  let sayUp: () => void = () => undefined;
  const isUp = new Promise<void>((resolve) => {
    sayUp = resolve;
  });
  const hear = (line: string) => {
    if (upWhen.test(line)) sayUp();
    onLine?.(line);
  };

  const run = async () => {
    while (!isClosed) {
      const current = startProcess({ ...options, onLine: hear });
      child = current;
      const { code, signal } = await current.exited;
      child = null;
      if (isClosed || code === 0) return;
      const wasUp = current.stdout.some((line) => upWhen.test(line));
      const forgotten = current.stdout.filter((line) => line.includes("was rejected and not handled"));
      if (signal === null && (wasUp || current.stderr.length > 0))
        crashes.push(
          `${name} ended with ${code}: ${[...current.stdout.slice(-5), ...current.stderr].join("\n")}`,
        );
      crashes.push(...forgotten.map((line) => `${name}: ${line}`));
      await delay(restartAfterMs());
    }
  };
  const done = run();
  return {
    name,
    get pid() {
      return child?.pid ?? null;
    },
    get kills() {
      return kills;
    },
    crashes,
    isUp,
    kill() {
      if (child) kills++;
      child?.kill("SIGKILL");
    },
    async freeze(forMs) {
      const frozen = child;
      frozen?.kill("SIGSTOP");
      await delay(forMs);
      frozen?.kill("SIGCONT");
    },
    done,
    async close() {
      isClosed = true;
      await child?.close();
      await done;
    },
  };
}
