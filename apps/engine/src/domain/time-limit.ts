// Limits on time: for code that a caller's input can make arbitrarily slow, as a regular expression, and for answers
// of parts that may be away.
import { createContext, Script } from "node:vm";

/** The work took longer than it may. */
export class TimeLimitError extends Error {
  constructor(limitMs: number) {
    super(`took longer than ${limitMs} ms`);
    this.name = "TimeLimitError";
  }
}

const context = createContext({ work: null });
const script = new Script("work()");

/** How often work is tried when its time passed while the machine was busy with something else. */
const MAX_TRIES = 4;

/**
 * Runs synchronous work and ends it when it takes too long, in the middle of a loop or a regular expression: Node's
 * `vm` can stop what a plain call cannot. Costs about 0.1 ms. Work that got less than half of that time from the
 * processor is tried again: a busy machine must not make a verdict.
 *
 * @param afterTimeout tidies up what ended work left behind
 * @throws {TimeLimitError}
 */
export function withTimeLimit<T>(limitMs: number, work: () => T, afterTimeout?: () => void): T {
  for (let tries = 1; ; tries++) {
    const before = process.cpuUsage();
    try {
      return runWithin(limitMs, work);
    } catch (error) {
      if (!(error instanceof TimeLimitError)) throw error;
      afterTimeout?.();
      const { user, system } = process.cpuUsage(before);
      if (tries === MAX_TRIES || (user + system) / 1_000 > limitMs / 2) throw error;
    }
  }
}

function runWithin<T>(limitMs: number, work: () => T): T {
  const outer = context.work;
  context.work = work;
  try {
    return script.runInContext(context, { timeout: limitMs }) as T;
  } catch (error) {
    const isTimeout = (error as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
    throw isTimeout ? new TimeLimitError(limitMs) : error;
  } finally {
    context.work = outer;
  }
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
