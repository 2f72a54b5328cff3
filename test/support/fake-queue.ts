// The step queue in memory, as BullMQ keeps it: an id is taken until its job is over, and a worker takes no more jobs
// than it may run at once.
import type { StepConsumer, StepJob, StepQueue } from "@tandem/engine/queue/step-queue";

/** A queue, and what a test wants to know of it. */
export interface FakeQueue extends StepQueue {
  /** What was put in, in order; what was there already too. */
  queued: { id: string; delayMs: number }[];
  /** Lets workers take jobs out; until then they stay. Delayed ones stay for ever. */
  deliver(): void;
}

interface Job {
  id: string;
  data: StepJob;
}

interface Consumption {
  run: (job: StepJob) => Promise<void>;
  free: number;
  active: Set<Promise<void>>;
}

export function createFakeQueue(): FakeQueue {
  const queued: FakeQueue["queued"] = [];
  const ids = new Set<string>();
  const waiting: Job[] = [];
  const consumptions = new Set<Consumption>();
  let isDelivering = false;

  const start = (consumption: Consumption, job: Job) => {
    consumption.free--;
    const done: Promise<void> = consumption
      .run(job.data)
      .catch(() => undefined)
      .finally(() => {
        ids.delete(job.id);
        consumption.free++;
        consumption.active.delete(done);
        deliver();
      });
    consumption.active.add(done);
  };
  const deliver = () => {
    if (!isDelivering) return;
    for (const consumption of consumptions) {
      while (consumption.free > 0 && waiting.length > 0) start(consumption, waiting.shift() as Job);
    }
  };
  const put = (job: Job, delayMs: number) => {
    queued.push({ id: job.id, delayMs });
    if (delayMs > 0 || ids.has(job.id)) return;
    ids.add(job.id);
    waiting.push(job);
    deliver();
  };
  return {
    queued,
    deliver() {
      isDelivering = true;
      deliver();
    },
    async add(step, { delayMs = 0 } = {}) {
      const putBack = step.putBack === undefined ? "" : `.${step.putBack}`;
      put({ id: `${step.sessionId}.${step.fence}${putBack}`, data: { ...step, kind: "step" } }, delayMs);
    },
    async addTimer(step, { delayMs }) {
      put({ id: `${step.sessionId}.${step.fence}.timer`, data: { ...step, kind: "timer" } }, delayMs);
    },
    ready: async () => undefined,
    count: async () => ({ waiting: waiting.length, active: ids.size - waiting.length, delayed: 0 }),
    consume(run, { concurrency }): StepConsumer {
      const consumption: Consumption = { run, free: concurrency, active: new Set() };
      consumptions.add(consumption);
      deliver();
      return {
        async close() {
          consumptions.delete(consumption);
          while (consumption.active.size > 0) await Promise.all(consumption.active);
        },
      };
    },
    close: async () => undefined,
  };
}
