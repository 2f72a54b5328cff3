// The near end of the process whose clients wait.

import type { Closers } from "./closers.ts";
import { untilIdle } from "./proc.ts";
import { startProgram } from "./program.ts";
import type { FromWaiters, Hold, Released, ToWaiters } from "./programs/waiters.ts";
import type { Stack } from "./stack.ts";
import type { Stage } from "./stage.ts";

/** Clients that wait. */
export interface Waiters {
  /** Lets a client wait for each of these, in place of those before; resolves when the server is done with all of them. */
  hold(stack: Stack, polls: Hold["polls"]): Promise<void>;
  /** Lets them go away, and waits until the server has noticed. */
  release(stack: Stack): Promise<Released>;
  /** Resolves when each has got a body. */
  allWoken(): Promise<Woken>;
}

/** How all got their bodies. */
export interface Woken extends Released {
  /** The moments, by `monotonicMs`, in their order. */
  wokenAt: number[];
}

/** Starts the process. */
export async function startWaiters(stage: Stage, closers: Closers): Promise<Waiters> {
  const program = startProgram({
    ...{ name: "waiters", path: stage.paths.waiters, folder: stage.folder, talks: true },
  });
  closers.push(() => program.close());
  const send = (message: ToWaiters) => program.send(message);
  const next = async <K extends string>(key: K) => {
    const message = await program.receive<FromWaiters>();
    if (!(key in message)) throw new Error(`The waiters said ${Object.keys(message)} in place of ${key}`);
    return message as Extract<FromWaiters, Record<K, unknown>>;
  };
  return {
    async hold(stack, polls) {
      send({ hold: { baseUrl: stack.baseUrl, apiKey: stack.apiKey, polls } });
      await next("held");
      await untilIdle([program.pid, stack.apiProgram.pid]);
    },
    async release(stack) {
      send({ release: true });
      const { released } = await next("released");
      await untilIdle([stack.apiProgram.pid]);
      return released;
    },
    allWoken: () => next("wokenAt"),
  };
}
