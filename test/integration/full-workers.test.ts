// A full worker takes from the queue what it cannot run yet. Another one that can gets it.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createGate, type Gate } from "../support/gate.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, type Wire } from "../support/wire.ts";

const CONCURRENCY = 2;
const LATE = 3;

describe.each(backends)("steps on %s that wait at a full worker", (backend) => {
  let held: Gate;
  let stack: TestStack;
  let wire: Wire;
  let full: Awaited<ReturnType<TestStack["addWorker"]>>;
  let late: string[];

  const requests = () => stack.model.requests.length;
  const count = () => stack.engine.queue.count();
  const create = (messages: string) => wire.create({ agent: { name: "x" }, messages });

  beforeEach(async () => {
    held = createGate();
    stack = await startStack({
      backend,
      worker: false,
      // The sweep would put back what waits.
      env: { TANDEM_WORKER_CONCURRENCY: `${CONCURRENCY}`, TANDEM_SWEEP_MS: "60000" },
      script: async (request) => {
        const said = JSON.stringify(request);
        if (!said.includes("Hold")) return { text: "Done." };
        // A step that follows its own worker's takes a slot directly, and none of the queue's.
        if (!said.includes("made_up")) return { toolCalls: [{ name: "made_up", arguments: {} }] };
        await held.opened;
        return { text: "Done." };
      },
    });
    wire = createWire(stack.baseUrl, apiKey);
    full = await stack.addWorker();
    for (let i = 1; i <= CONCURRENCY; i++) {
      await create("Hold");
      await waitFor(() => requests() === 2 * i, { what: "a step that is held" });
    }
    late = await Promise.all(Array.from({ length: LATE }, () => create("Hi")));
    await waitFor(async () => (await count()).active === CONCURRENCY, { what: "the worker to take more" });
    expect(requests()).toBe(2 * CONCURRENCY);
  });
  afterEach(async () => {
    held.open();
    await stack.close();
  });

  it("run on the next worker that has a free slot, and once", async () => {
    await stack.addWorker();
    for (const id of late) await wire.until(id, "completed");
    expect(requests()).toBe(2 * CONCURRENCY + LATE);
  });

  it("go back to the queue when it ends, and are not begun", async () => {
    const closed = full.close();
    await waitFor(async () => (await count()).waiting === LATE, { what: "the steps to be back" });
    held.open();
    await closed;
    expect(requests()).toBe(2 * CONCURRENCY);
    await stack.addWorker();
    for (const id of late) await wire.until(id, "completed");
    expect(requests()).toBe(2 * CONCURRENCY + LATE);
  });
});
