// Who gets a due step: a worker with a free slot, here or elsewhere, else the queue.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFakeSteps, type FakeSteps, untilHeard, untilRan } from "../support/fake-steps.ts";
import { createGate } from "../support/gate.ts";
import { waitFor } from "../support/wait-for.ts";

let steps: FakeSteps;
beforeEach(() => {
  steps = createFakeSteps();
});
afterEach(() => steps.close());

const untilQueued = (count: number) =>
  waitFor(() => steps.shared.queued.length === count, { what: `${count} jobs` });

/** A worker that runs each step until the gate is open, and the process that offers steps to it. */
async function startPair({ concurrency }: { concurrency: number }) {
  const [api, worker, gate] = [steps.addProcess(), steps.addProcess(), createGate()];
  const consumer = worker.work({ concurrency, run: () => gate.opened });
  await untilHeard(api, "free");
  return { api, worker: { ...worker, consumer }, gate };
}

describe("a step that is due now", () => {
  it("runs at once in the process that made it due when that has a free slot", async () => {
    const [worker, other] = [steps.addProcess(), steps.addProcess()];
    other.work({ concurrency: 1 });
    worker.work({ concurrency: 1 });
    await untilHeard(worker, "free");
    await worker.queue.add(steps.makeStep());
    await untilRan(worker, 1);
    expect([steps.shared.queued, steps.offers]).toEqual([[], []]);
  });

  it("is queued when no worker is known", async () => {
    const api = steps.addProcess();
    await api.queue.add(steps.makeStep());
    expect(steps.shared.queued).toHaveLength(1);
  });

  it("is queued when the only worker, of this process, is full", async () => {
    const [worker, gate] = [steps.addProcess(), createGate()];
    worker.work({ concurrency: 2, run: () => gate.opened });
    for (let i = 0; i < 3; i++) await worker.queue.add(steps.makeStep());
    expect(worker.ran).toHaveLength(2);
    expect(steps.shared.queued).toHaveLength(1);
    gate.open();
  });

  it("goes to a worker of another process, and not into the queue", async () => {
    const { api, worker, gate } = await startPair({ concurrency: 1 });
    await api.queue.add(steps.makeStep());
    await untilRan(worker, 1);
    await api.queue.close();
    expect(steps.shared.queued).toEqual([]);
    gate.open();
  });

  it("is not offered to a worker that has said it is full, until it has said that it is free again", async () => {
    const { api, worker, gate } = await startPair({ concurrency: 1 });
    await api.queue.add(steps.makeStep());
    await untilHeard(api, "full");
    await api.queue.add(steps.makeStep());
    expect([steps.offers.length, steps.shared.queued.length]).toEqual([1, 1]);
    api.heard.length = 0;
    gate.open();
    await untilHeard(api, "free");
    await api.queue.add(steps.makeStep());
    await untilRan(worker, 2);
    expect([steps.offers.length, steps.shared.queued.length]).toEqual([2, 1]);
  });

  it("is not offered to a worker that has said it is gone", async () => {
    const [api, worker] = [steps.addProcess(), steps.addProcess()];
    const consumer = worker.work({ concurrency: 1 });
    await untilHeard(api, "free");
    await consumer.close();
    await untilHeard(api, "gone");
    await api.queue.add(steps.makeStep());
    expect([steps.offers.length, steps.shared.queued.length]).toEqual([0, 1]);
  });

  it("is not offered to a worker that has been silent for long", async () => {
    const { api, worker } = await startPair({ concurrency: 1 });
    worker.kill();
    const silentSince = Date.now();
    await waitFor(() => Date.now() - silentSince > 3_100, { what: "the silence to be long" });
    await api.queue.add(steps.makeStep());
    expect([steps.offers.length, steps.shared.queued.length]).toEqual([0, 1]);
  });

  it("is queued by a worker that gets it and is full, by the time its offer arrives", async () => {
    const { api, worker, gate } = await startPair({ concurrency: 1 });
    for (let i = 0; i < 3; i++) await api.queue.add(steps.makeStep());
    await untilQueued(2);
    expect(steps.offers).toHaveLength(3);
    steps.shared.deliver();
    gate.open();
    await untilRan(worker, 3);
  });

  it("is queued at once by a worker that gets it when it has begun to close", async () => {
    const { api, worker, gate } = await startPair({ concurrency: 2 });
    await api.queue.add(steps.makeStep());
    await untilRan(worker, 1);
    const closed = worker.consumer.close();
    await api.queue.add(steps.makeStep());
    expect(steps.offers).toHaveLength(2);
    await untilQueued(1);
    expect(steps.looks, "looks of the process that offered it").toBe(0);
    gate.open();
    await closed;
    expect(worker.ran).toHaveLength(1);
  });

  it("goes to each of the workers in its turn", async () => {
    const api = steps.addProcess();
    const workers = [steps.addProcess(), steps.addProcess(), steps.addProcess()];
    for (const worker of workers) worker.work({ concurrency: 100 });
    await untilHeard(api, "free", 3);
    for (let i = 0; i < 30; i++) await api.queue.add(steps.makeStep());
    for (const worker of workers) await untilRan(worker, 10);
    expect(steps.shared.queued).toEqual([]);
  });
});

describe("an offer", () => {
  it("that nobody takes is queued, and its worker is not asked again until it is heard of", async () => {
    const { api, worker } = await startPair({ concurrency: 1 });
    worker.kill();
    await api.queue.add(steps.makeStep());
    await untilQueued(1);
    await api.queue.add(steps.makeStep());
    expect([steps.offers.length, steps.shared.queued.length]).toEqual([1, 2]);
    const next = steps.addProcess();
    api.heard.length = 0;
    next.work({ concurrency: 1 });
    await untilHeard(api, "free");
    await api.queue.add(steps.makeStep());
    await untilRan(next, 1);
    expect(steps.shared.queued).toHaveLength(2);
  });

  it("that a living worker takes slowly is left to it", async () => {
    const [api, worker, gate] = [steps.addProcess(), steps.addProcess(), createGate()];
    // One that is not full has nothing to say because of it.
    worker.work({ concurrency: 2, beforeClaim: () => gate.opened });
    await untilHeard(api, "free");
    await api.queue.add(steps.makeStep());
    const offeredAt = Date.now();
    await waitFor(() => Date.now() - offeredAt > 1_600, { what: "several looks at it" });
    expect(steps.shared.queued).toEqual([]);
    gate.open();
    await untilRan(worker, 1);
    await api.queue.close();
    expect(steps.shared.queued).toEqual([]);
  });

  it("that a living worker never takes is queued in the end", async () => {
    const [api, worker, gate] = [steps.addProcess(), steps.addProcess(), createGate()];
    worker.work({ concurrency: 1, beforeClaim: () => gate.opened });
    await untilHeard(api, "free");
    await api.queue.add(steps.makeStep());
    await untilQueued(1);
    gate.open();
  });
});

describe("the queue's own way", () => {
  it("is taken by delayed steps, by those that were put back, and by timers", async () => {
    const [api, worker] = [steps.addProcess(), steps.addProcess()];
    worker.work({ concurrency: 9 });
    await untilHeard(api, "free");
    for (const { queue } of [api, worker]) {
      await queue.add(steps.makeStep(), { delayMs: 60_000 });
      await queue.add({ ...steps.makeStep(), putBack: 0 });
      await queue.addTimer(steps.makeStep(), { at: new Date(), delayMs: 60_000 });
    }
    expect([steps.shared.queued.length, steps.offers, worker.ran]).toEqual([6, [], []]);
  });
});
