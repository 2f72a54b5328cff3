// Limits on time: for code that a caller's input can make arbitrarily slow, as a regular expression, and for answers
// of parts that may be away.
import { createContext, Script } from "node:vm";
import { TandemError } from "./errors.ts";

/** The work took longer than it may. */
export class TimeLimitError extends Error {
  constructor(limitMs: number) {
    super(`took longer than ${limitMs} ms`);
    this.name = "TimeLimitError";
  }
}

const context = createContext({ work: null });
const script = new Script("work()");

/** Most attempts at work that the machine gave no time to; each may take longer than the one before. */
const MAX_ATTEMPTS = 3;

/**
 * Runs synchronous work and ends it when it takes too long, in the middle of a loop or a regular expression: Node's
 * `vm` can stop what a plain call cannot. Costs about 0.1 ms. What counts is the time that the process computed: work
 * that ran out of time because the machine was busy, or the process suspended, is begun again, so it must be
 * repeatable.
 *
 * @param afterTimeout tidies up what ended work left behind
 * @throws {TimeLimitError}
 * @throws {TandemError} `unavailable` when the machine never gave it its time: that says nothing about the work
 */
export function withTimeLimit<T>(limitMs: number, work: () => T, afterTimeout?: () => void): T {
  const outer = context.work;
  const startedAt = cpuTimeMs();
  context.work = work;
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        return script.runInContext(context, { timeout: limitMs * attempt }) as T;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
        afterTimeout?.();
        if (cpuTimeMs() - startedAt >= limitMs) throw new TimeLimitError(limitMs);
        if (attempt === MAX_ATTEMPTS) throw new TandemError("unavailable", BUSY);
      }
    }
  } finally {
    context.work = outer;
  }
}

const BUSY = "The server is too busy to check this now; try again shortly.";

/** How long this process has computed, in milliseconds. */
export function cpuTimeMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/**
 * The work's result, or a {@link TimeLimitError} when it takes too long. The work itself goes on; nobody waits for it.
 */
export async function settleWithin<T>(limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimeLimitError(limitMs)), limitMs);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
