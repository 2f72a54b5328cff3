// A full worker takes from the queue what it cannot run yet. Another one that can gets it.
import { describe, expect, it } from "vitest";
import { createGate } from "../support/gate.ts";
import { apiKey, backends, startStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire } from "../support/wire.ts";

const CONCURRENCY = 2;
const LATE = 3;

describe.each(backends)("steps on %s that wait at a full worker", (backend) => {
  it("run on the next worker that has a free slot, and once", async () => {
    const held = createGate();
    const stack = await startStack({
      backend,
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
    const wire = createWire(stack.baseUrl, apiKey);
    const create = (messages: string) => wire.create({ agent: { name: "x" }, messages });
    const requests = () => stack.model.requests.length;
    for (let i = 1; i <= CONCURRENCY; i++) {
      await create("Hold");
      await waitFor(() => requests() === 2 * i, { what: "a step that is held" });
    }
    const late = await Promise.all(Array.from({ length: LATE }, () => create("Hi")));
    const countTaken = async () => (await stack.engine.queue.count()).active;
    await waitFor(async () => (await countTaken()) === CONCURRENCY, { what: "the full worker to take more" });
    expect(requests()).toBe(2 * CONCURRENCY);

    await stack.addWorker();
    for (const id of late) await wire.until(id, "completed");
    expect(requests()).toBe(2 * CONCURRENCY + LATE);
    held.open();
    await stack.close();
  });
});
