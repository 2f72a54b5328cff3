// A person's code runs in this process: where it throws with nobody to catch it, or would leave, that is told, and a
// session is not left behind.
import type { ExitCode } from "./exit-codes.ts";

const exit = process.exit.bind(process);

/** Ends the process. `process.exit` may be kept from it. */
export function leave(exitCode: ExitCode): never {
  return exit(exitCode);
}

let takers: ((error: unknown) => void)[] = [];

/**
 * Calls `take` with what nobody caught, and with an error when nothing is left that could go on. The taker that came last
 * is the one; `stop` takes it away.
 */
export function watchForStrayErrors(take: (error: unknown) => void): { stop(): void } {
  if (takers.length === 0) {
    process.on("uncaughtException", (error: unknown) => takers.at(-1)?.(error));
    process.on("beforeExit", () => takers.at(-1)?.(new StuckError()));
  }
  takers.push(take);
  return {
    stop: () => {
      takers = takers.filter((other) => other !== take);
    },
  };
}

/** Nothing runs any more, and yet somebody waits. */
export class StuckError extends Error {
  constructor() {
    super(
      "Nothing is left to wait for, and yet there is no end: a promise of a file of tools never settles.",
    );
  }
}

/** From now on `process.exit` throws, so that it ends a tool and not the command. */
export function keepProcess(): void {
  process.exit = () => {
    throw new Error("process.exit() was called: a tool throws to say that it failed");
  };
}
