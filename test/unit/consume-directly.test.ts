// What a worker does with steps that come both ways, offered and out of the queue, and how it ends.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFakeSteps, type FakeProcess, type FakeSteps, untilRan } from "../support/fake-steps.ts";
import { createGate, type Gate } from "../support/gate.ts";
import { waitFor } from "../support/wait-for.ts";

let steps: FakeSteps;
beforeEach(() => {
  steps = createFakeSteps();
});
afterEach(() => steps.close());

/** A worker whose steps run until they are let go, each by itself. */
function startWorker({ concurrency }: { concurrency: number }) {
  const process = steps.addProcess();
  const running = new Map<string, Gate>();
  let most = 0;
  const consumer = process.work({
    concurrency,
    run: async ({ sessionId }) => {
      const gate = createGate();
      running.set(sessionId, gate);
      most = Math.max(most, running.size);
      await gate.opened;
      running.delete(sessionId);
    },
  });
  return {
    ...process,
    consumer,
    get most() {
      return most;
    },
    get running() {
      return running.size;
    },
    /** Ends one of the running steps, the first unless said otherwise. */
    end(sessionId = [...running.keys()][0] ?? "") {
      running.get(sessionId)?.open();
    },
    /** Ends what runs, and whatever comes after it, until so many steps have run. */
    endAll: (count: number) =>
      waitFor(
        () => {
          for (const gate of running.values()) gate.open();
          return process.ran.length === count && running.size === 0;
        },
        { what: `${count} steps to have run` },
      ),
  };
}

const sessionsOf = ({ ran }: FakeProcess) => ran.map(({ sessionId }) => sessionId);
const untilHeard = (process: FakeProcess, state: string) =>
  waitFor(() => process.heard.some((note) => note.startsWith(state)), { what: `"${state}" to be heard` });

/** Makes a step due that no worker can be known for, so that it is queued. */
async function queueStep(): Promise<string> {
  const step = steps.makeStep();
  await steps.shared.add(step);
  return step.sessionId;
}

describe("a worker's slots", () => {
  it("are never more than its concurrency, over both ways together", async () => {
    const [api, worker] = [steps.addProcess(), startWorker({ concurrency: 3 })];
    await untilHeard(api, "free");
    steps.shared.deliver();
    for (let i = 0; i < 10; i++) {
      await api.queue.add(steps.makeStep());
      await queueStep();
      await worker.queue.add(steps.makeStep());
    }
    await worker.endAll(30);
    expect(worker.most).toBe(3);
  });

  it("go to a job that waits for one before they go to a later offer", async () => {
    const worker = startWorker({ concurrency: 1 });
    steps.shared.deliver();
    const [first, third] = [steps.makeStep(), steps.makeStep()];
    await worker.queue.add(first);
    const second = await queueStep();
    await worker.queue.add(third);
    worker.end();
    await untilRan(worker, 2);
    worker.end();
    await untilRan(worker, 3);
    expect(sessionsOf(worker)).toEqual([first.sessionId, second, third.sessionId]);
    worker.end();
  });

  it("are left to offers too while the queue never runs empty", async () => {
    const [api, worker] = [steps.addProcess(), startWorker({ concurrency: 2 })];
    await untilHeard(api, "free");
    steps.shared.deliver();
    for (let i = 0; i < 20; i++) await queueStep();
    const offered = steps.makeStep();
    await api.queue.add(offered);
    await waitFor(
      () => {
        if (!sessionsOf(worker).includes(offered.sessionId)) worker.end();
        return sessionsOf(worker).includes(offered.sessionId);
      },
      { what: "the offered step to run" },
    );
    await worker.endAll(21);
  });

  it("are not needed for a look at a clock", async () => {
    const worker = startWorker({ concurrency: 1 });
    await worker.queue.add(steps.makeStep());
    steps.shared.deliver();
    await worker.queue.addTimer(steps.makeStep(), { at: new Date(), delayMs: 0 });
    await untilRan(worker, 2);
    await worker.endAll(2);
  });

  it("are free again after a step that throws, which is logged", async () => {
    const worker = steps.addProcess();
    worker.work({ concurrency: 1, run: () => Promise.reject(new Error("no such thing")) });
    for (let count = 1; count <= 3; count++) {
      await worker.queue.add(steps.makeStep());
      await waitFor(() => worker.logged.length === count, { what: "the fault to be logged" });
    }
    expect(worker.ran).toHaveLength(3);
    expect(worker.logged.map(({ msg }) => msg)).toEqual(Array(3).fill("a step failed"));
    expect(steps.shared.queued).toEqual([]);
  });
});

describe("a job that a full worker took out of the queue", () => {
  it("goes on to another worker that has become free", async () => {
    const worker = startWorker({ concurrency: 1 });
    const long = steps.makeStep();
    await worker.queue.add(long);
    steps.shared.deliver();
    const waiting = [await queueStep(), await queueStep()];
    const other = startWorker({ concurrency: 2 });
    await untilRan(other, 2);
    expect(sessionsOf(other).sort()).toEqual(waiting.sort());
    expect(sessionsOf(worker)).toEqual([long.sessionId]);
    await other.endAll(2);
    await worker.endAll(1);
  });

  it("is not lost when more workers give theirs to one than that can take", async () => {
    const workers = [1, 2, 3].map(() => startWorker({ concurrency: 1 }));
    for (const worker of workers) await worker.queue.add(steps.makeStep());
    steps.shared.deliver();
    for (let i = 0; i < 6; i++) await queueStep();
    const other = startWorker({ concurrency: 1 });
    const ran = () => [...workers, other].reduce((sum, worker) => sum + worker.ran.length, 0);
    const endOne = () => {
      other.end();
      return ran() === 9;
    };
    await waitFor(endOne, { what: "the free worker to run what waits" });
    expect(other.ran).toHaveLength(6);
    for (const worker of workers) await worker.endAll(1);
    await other.endAll(6);
  });
});

describe("a worker that closes", () => {
  it("waits for what runs, offered or out of the queue, and takes no more", async () => {
    const [api, worker] = [steps.addProcess(), startWorker({ concurrency: 2 })];
    await untilHeard(api, "free");
    steps.shared.deliver();
    await api.queue.add(steps.makeStep());
    await queueStep();
    await untilRan(worker, 2);
    let isClosed = false;
    const closed = worker.consumer.close().then(() => {
      isClosed = true;
    });
    await untilHeard(api, "gone");
    worker.end();
    for (const { queue } of [api, worker]) await queue.add(steps.makeStep());
    steps.shared.deliver();
    await waitFor(() => worker.running === 1, { what: "one of both to end" });
    expect([isClosed, steps.offers.length, steps.shared.queued.length]).toEqual([false, 1, 3]);
    await worker.endAll(2);
    await closed;
    expect(worker.ran).toHaveLength(2);
  });

  it("hands the jobs that wait for a slot to a worker that is free", async () => {
    const worker = startWorker({ concurrency: 1 });
    await worker.queue.add(steps.makeStep());
    steps.shared.deliver();
    const waiting = await queueStep();
    const closed = worker.consumer.close();
    const other = startWorker({ concurrency: 1 });
    await untilRan(other, 1);
    expect(sessionsOf(other)).toEqual([waiting]);
    await worker.endAll(1);
    await closed;
    await other.endAll(1);
  });
});

describe("a process that closes", () => {
  it("queues what it has offered and nobody has claimed, and only that", async () => {
    const [api, claims, never] = [steps.addProcess(), startWorker({ concurrency: 9 }), createGate()];
    const sleeps = steps.addProcess();
    sleeps.work({ concurrency: 9, beforeClaim: () => never.opened });
    await waitFor(() => api.heard.filter((note) => note.startsWith("free")).length >= 2, {
      what: "both workers to be heard",
    });
    const due = [steps.makeStep(), steps.makeStep()];
    for (const step of due) await api.queue.add(step);
    await untilRan(claims, 1);
    await api.queue.close();
    const unclaimed = due.filter(({ sessionId }) => !sessionsOf(claims).includes(sessionId));
    expect(steps.shared.queued.map(({ id }) => id)).toEqual(unclaimed.map((step) => `${step.sessionId}.0`));
    never.open();
    await claims.endAll(1);
  });

  it("offers nothing any more", async () => {
    const [api, worker] = [steps.addProcess(), startWorker({ concurrency: 1 })];
    await untilHeard(api, "free");
    await api.queue.close();
    await api.queue.add(steps.makeStep());
    expect([steps.offers, steps.shared.queued.length]).toEqual([[], 1]);
    expect(worker.ran).toEqual([]);
  });
});

describe("a process that asks who is there", () => {
  it("is answered by each worker, free or full", async () => {
    const [free, full] = [startWorker({ concurrency: 1 }), startWorker({ concurrency: 1 })];
    await full.queue.add(steps.makeStep());
    const api = steps.addProcess();
    await untilHeard(api, "free");
    await untilHeard(api, "full");
    expect(free.ran).toEqual([]);
    await full.endAll(1);
  });
});
