import type { Logger } from "pino";
import type { DueStep } from "../postgres/leases.ts";
import type { Wake } from "../wake/wake.ts";
import type { Assignment } from "./assignment.ts";
import { showPresence } from "./show-presence.ts";
import { createSlots } from "./slots.ts";
import type { ConsumeOptions, StepConsumer, StepJob, StepQueue } from "./step-queue.ts";

/** A worker of this process, to which steps can be given past the queue. */
export interface LocalConsumer extends StepConsumer {
  /** Names it in notes, and in claims. */
  id: string;
  leaseMs: number;
  /** Runs the step if there is a free slot. */
  tryRun(step: LocalStep): boolean;
  /**
   * Takes a slot for a step that is not known yet; null when there is none.
   *
   * @param isSparing only while half of the slots are left
   */
  reserve(isSparing?: boolean): Slot | null;
  /** Hands on so many of the jobs that wait for a slot. */
  handOn(count: number): void;
}

/** A step that comes past the queue. */
export type LocalStep = DueStep | Assignment;

/** A slot that was taken; it is used or released. */
export interface Slot {
  run(step: LocalStep): void;
  release(): void;
}

/** Consumes the queue, and runs what is offered, both within the same slots. */
export function consumeDirectly(options: {
  queue: StepQueue;
  wake: Pick<Wake, "send" | "receive" | "ready">;
  log: Logger;
  run: (job: StepJob) => Promise<void>;
  worker: ConsumeOptions;
  /** Offers a job that finds no slot to another worker; false when none is known to have one. */
  offer: (step: DueStep) => boolean;
  /** The same, and what nobody can take goes back to the queue. */
  handOn: (step: DueStep) => Promise<void>;
}): LocalConsumer {
  const { queue, log, run, offer, handOn } = options;
  const { id, leaseMs, concurrency } = options.worker;
  const running = new Set<Promise<void>>();
  const slots = createSlots(concurrency, () => presence.change());
  const presence = showPresence(options.wake, { id, leaseMs, countFree: () => slots.free });
  let isClosed = false;

  const consumer = queue.consume(async (job) => {
    // A look at a clock holds no slot: it is over in a moment, and others' steps may wait for it.
    if (job.kind === "timer") return run(job);
    if (isClosed) return handOn(job);
    if (!slots.tryTake()) {
      // What would only wait here goes to whoever has a free slot, now or once somebody says so.
      if (offer(job)) return;
      if (!(await slots.take())) return handOn(job);
    }
    await run(job).finally(() => slots.release());
  }, options.worker);
  const reserve = (isSparing = false): Slot | null => {
    const isScarce = isSparing && slots.free - 1 < concurrency / 2;
    if (isClosed || isScarce || !slots.tryTake()) return null;
    return {
      run(step) {
        const done = run({ ...step, kind: "step" })
          .catch((error: unknown) => log.error({ err: error, session: step.sessionId }, "a step failed"))
          .finally(() => {
            running.delete(done);
            slots.release();
          });
        running.add(done);
      },
      release: slots.release,
    };
  };
  return {
    id,
    leaseMs,
    reserve,
    tryRun(step) {
      const slot = reserve();
      slot?.run(step);
      return slot !== null;
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
