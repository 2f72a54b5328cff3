// Ctrl-C while a session runs: first the session is cancelled, then the command leaves.
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { leave } from "../stray-ends.ts";

/** A second signal leaves at once when it comes this long after the first: one Ctrl-C may arrive twice. */
const SECOND_SIGNAL_AFTER_MS = 500;

/** Why a run is being ended early. */
export interface Interruption {
  exitCode: ExitCode;
  reason: string;
}

/** Tells an interruption from an error. */
export function isInterruption(reason: unknown): reason is Interruption {
  return typeof reason === "object" && reason !== null && !(reason instanceof Error) && "exitCode" in reason;
}

/** Calls `onFirst` at the first signal; a second one ends the process. `stop` gives signals back to Node. */
export function watchSignals(onFirst: (interruption: Interruption) => void): { stop(): void } {
  let firstAt: number | null = null;
  const listener = (signal: NodeJS.Signals) => {
    const exitCode = signal === "SIGINT" ? exitCodes.interrupted : exitCodes.terminated;
    if (firstAt === null) {
      firstAt = performance.now();
      onFirst({ exitCode, reason: signal });
    } else if (performance.now() - firstAt >= SECOND_SIGNAL_AFTER_MS) leave(exitCode);
  };
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.on(signal, listener);
  return {
    stop: () => {
      for (const signal of signals) process.off(signal, listener);
    },
  };
}
