import type { Logger } from "pino";
import type { DueStep } from "../postgres/leases.ts";
import type { Wake } from "../wake/wake.ts";
import { showPresence } from "./show-presence.ts";
import { createSlots } from "./slots.ts";
import type { StepConsumer, StepJob, StepQueue } from "./step-queue.ts";

/** A worker of this process, to which steps can be given past the queue. */
export interface LocalConsumer extends StepConsumer {
  /** Names it in offers. */
  id: string;
  /** Runs the step if there is a free slot. */
  tryRun(step: DueStep): boolean;
  /** Hands on so many of the jobs that wait for a slot. */
  handOn(count: number): void;
}

/** Consumes the queue, and runs what is offered, both within the same slots. */
export function consumeDirectly(options: {
  queue: StepQueue;
  wake: Pick<Wake, "send" | "receive" | "ready">;
  log: Logger;
  run: (job: StepJob) => Promise<void>;
  concurrency: number;
  /** Offers a job that finds no slot to another worker; false when none is known to have one. */
  offer: (step: DueStep) => boolean;
  /** The same, and what nobody can take goes back to the queue. */
  handOn: (step: DueStep) => Promise<void>;
}): LocalConsumer {
  const { queue, log, run, concurrency, offer, handOn } = options;
  const running = new Set<Promise<void>>();
  const slots = createSlots(concurrency, () => presence.change());
  const presence = showPresence(options.wake, () => slots.free);
  let isClosed = false;

  const consumer = queue.consume(
    async (job) => {
      // A look at a clock holds no slot: it is over in a moment, and others' steps may wait for it.
      if (job.kind === "timer") return run(job);
      if (isClosed) return handOn(job);
      if (!slots.tryTake()) {
        // What would only wait here goes to whoever has a free slot, now or once somebody says so.
        if (offer(job)) return;
        if (!(await slots.take())) return handOn(job);
      }
      await run(job).finally(() => slots.release());
    },
    { concurrency },
  );
  return {
    id: presence.id,
    tryRun(step) {
      if (isClosed || !slots.tryTake()) return false;
      const done = run({ ...step, kind: "step" })
        .catch((error: unknown) => log.error({ err: error, session: step.sessionId }, "a step failed"))
        .finally(() => {
          running.delete(done);
          slots.release();
        });
      running.add(done);
      return true;
    },
    handOn: (count) => slots.sendAway(count),
    async close() {
      isClosed = true;
      presence.end();
      slots.sendAway(Number.POSITIVE_INFINITY);
      await Promise.all([consumer.close(), ...running]);
    },
  };
}
