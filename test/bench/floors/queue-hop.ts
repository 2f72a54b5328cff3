// The floor of every path that goes through the queue: a bare job, from the call that adds it to the moment at which
// another process is handed it, on the same backend, which is idle but for this.

import { migrate } from "@tandem/engine/postgres/migrate";
import { monotonicMs } from "../clock.ts";
import type { Closers } from "../closers.ts";
import { startProgram } from "../program.ts";
import type { Hopped } from "../programs/queue-hop-consumer.ts";
import type { Stage } from "../stage.ts";
import { openHopQueue } from "./hop-queue.ts";

/** Measures bare queue hops. */
export interface HopFloor {
  /** Sends `count` jobs, one after the other, and gives each time in milliseconds to `add`. */
  measure(add: (ms: number) => void, count: number): Promise<void>;
}

/**
 * Opens both ends.
 *
 * @param options.redisUrl the stack's Redis; without it the queue is in a database of its own on the stage's Postgres,
 *   so that its notifications disturb nobody
 */
export async function openHopFloor(
  stage: Stage,
  options: { redisUrl: string | null; closers: Closers },
): Promise<HopFloor> {
  const { closers } = options;
  const url = options.redisUrl ?? (await createQueueDatabase(stage));
  const consumer = startProgram({
    ...{ name: "hop", path: stage.paths.hop, folder: stage.folder, args: [url], talks: true },
  });
  closers.push(() => consumer.close());
  await consumer.receive();
  const queue = await openHopQueue(url);
  closers.push(() => queue.close());
  let hops = 0;
  return {
    async measure(add, count) {
      for (let i = 0; i < count; i++) {
        const id = `hop.${hops++}`;
        const hopped = consumer.receive<Hopped>();
        const addedAt = monotonicMs();
        await queue.add(id);
        const { at } = await hopped;
        add(at - addedAt);
      }
    },
  };
}

async function createQueueDatabase(stage: Stage): Promise<string> {
  const url = await stage.createDatabase("bench_hops");
  await migrate(url);
  return url;
}
