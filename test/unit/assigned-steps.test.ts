// Steps that are claimed for a worker by whoever makes them due: who gets them, and what becomes of those that nobody
// takes.
import { type Place, TAKE_BACK_MS } from "@tandem/engine/queue/assignment";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createFakeSteps,
  type FakeProcess,
  type FakeSteps,
  idOf,
  untilHeard,
  untilRan,
} from "../support/fake-steps.ts";
import { createGate } from "../support/gate.ts";
import { waitFor } from "../support/wait-for.ts";

let steps: FakeSteps;
beforeEach(() => {
  steps = createFakeSteps();
});
afterEach(() => steps.close());

/** Who a step goes to whose session had its last step on this worker, as the database decides it. */
function choose(place: Place | null, last: string | null = null): string {
  const { worker = "", preferred = [] } = place?.claim ?? {};
  return last !== null && preferred.includes(last) ? last : worker;
}

/** Reserves a place and gives it a step, as a command does. */
function give(process: FakeProcess, last: string | null = null): string | null {
  const place = process.queue.reserve();
  const worker = choose(place, last);
  place?.give(steps.claimFor(steps.makeStep()), worker);
  return place && worker;
}

describe("a place", () => {
  it("is in this process where that has a free slot, and counts from then on", async () => {
    const [worker, other, gate] = [steps.addProcess(), steps.addProcess(), createGate()];
    other.work({ concurrency: 5 });
    worker.work({ concurrency: 2, run: () => gate.opened });
    await untilHeard(worker, "free");
    const [first, second] = [worker.queue.reserve(), worker.queue.reserve()];
    expect(first?.claim).toEqual(second?.claim);
    const elsewhere = worker.queue.reserve();
    expect(elsewhere?.claim.worker).not.toBe(first?.claim.worker);
    first?.release();
    expect(worker.queue.reserve()?.claim).toEqual(second?.claim);
    second?.give(steps.claimFor(steps.makeStep()), second.claim.worker);
    await untilRan(worker, 1);
    gate.open();
  });

  it("that may not be used leaves half of this process' slots alone, and is nowhere else then", async () => {
    const [worker, other] = [steps.addProcess(), steps.addProcess()];
    worker.work({ concurrency: 4 });
    other.work({ concurrency: 100 });
    await untilHeard(worker, "free");
    const sparing = () => worker.queue.reserve({ isSparing: true });
    const places = [sparing(), sparing()];
    expect(places.map((place) => place?.claim.worker)).toEqual(Array(2).fill(places[0]?.claim.worker));
    expect(sparing()).toBeNull();
    // A step that is due finds its slot all the same.
    await worker.queue.add(steps.makeStep());
    await untilRan(worker, 1);
    for (const place of places) place?.release();
  });

  it("is with the preferred worker where that is free, and else with each in its turn", async () => {
    const [api, ...workers] = [
      steps.addProcess(),
      steps.addProcess(),
      steps.addProcess(),
      steps.addProcess(),
    ];
    for (const worker of workers) worker.work({ concurrency: 100 });
    await untilHeard(api, "free", 3);
    const ids = [...new Set(api.heard.filter((note) => note.startsWith("free")).map(idOf))];
    const [preferred = ""] = ids;
    for (let i = 0; i < 5; i++) expect(give(api, preferred)).toBe(preferred);
    expect(Array.from({ length: 3 }, () => give(api, "nobody")).sort()).toEqual(ids.sort());
    await waitFor(() => workers.flatMap(({ ran }) => ran).length === 8, { what: "all steps to run" });
    expect(steps.shared.queued).toEqual([]);
  });

  it("is not with the preferred worker while another one is much less busy", async () => {
    const api = steps.addProcess();
    for (const [id, free] of [
      ["busy", 90],
      ["idle", 100],
    ])
      steps.say(`free.${id}.${free}.30000`);
    await waitFor(() => api.heard.length >= 2, { what: "both to be heard" });
    const chosen = () => choose(api.queue.reserve(), "busy");
    expect([chosen(), chosen()].sort()).toEqual(["busy", "idle"]);
    steps.say("free.busy.92.30000");
    await waitFor(() => api.heard.length >= 3, { what: "it to be heard" });
    expect([chosen(), chosen()]).toEqual(["busy", "busy"]);
  });

  it("is not with a worker that was full a moment ago, nor with one that has not spoken for a second", async () => {
    const api = steps.addProcess();
    const untilTold = async (note: string) => {
      steps.say(note);
      await waitFor(() => api.heard.at(-1) === note, { what: `"${note}" to be heard` });
    };
    await untilTold("full.w");
    await untilTold("free.w.5.30000");
    expect(api.queue.reserve()).toBeNull();
    const speaksAndIsTrusted = () => {
      steps.say("free.w.5.30000");
      return api.queue.reserve() !== null;
    };
    await waitFor(speaksAndIsTrusted, { what: "it to be trusted again" });
    await waitFor(() => api.queue.reserve() === null, { what: "its silence to be long" });
    // It is offered steps all the same.
    await api.queue.add(steps.makeStep());
    expect(steps.offers).toHaveLength(1);
  });

  it("is not found while the only worker is full, has gone, or says nothing of leases", async () => {
    const [api, worker, gate] = [steps.addProcess(), steps.addProcess(), createGate()];
    expect(api.queue.reserve()).toBeNull();
    // As a worker of the version before says it.
    steps.say("free.old.3");
    await waitFor(() => api.heard.includes("free.old.3"), { what: "the old worker to be heard" });
    expect(api.queue.reserve()).toBeNull();
    steps.say("gone.old");
    await untilHeard(api, "gone");
    const consumer = worker.work({ concurrency: 1, run: () => gate.opened });
    await untilHeard(api, "free", 2);
    expect(give(api)).not.toBeNull();
    await untilHeard(api, "full");
    expect(api.queue.reserve()).toBeNull();
    gate.open();
    await consumer.close();
    await untilHeard(api, "gone", 2);
    expect(api.queue.reserve()).toBeNull();
  });
});

describe("a step that was given to a worker", () => {
  it("runs there past the queue, with what it was told", async () => {
    const [api, worker] = [steps.addProcess(), steps.addProcess()];
    worker.work({ concurrency: 1 });
    await untilHeard(api, "free");
    const news = JSON.stringify({ text: "Größe, 5.5 €: 🦜, \u2028 and a comma." });
    const assignment = { ...steps.claimFor(steps.makeStep()), news };
    const place = api.queue.reserve();
    place?.give(assignment, place.claim.worker);
    await untilRan(worker, 1);
    expect(worker.ran).toEqual([{ ...assignment, kind: "step" }]);
    expect(steps.shared.queued).toEqual([]);
  });

  it("is queued at once when the worker is full by the time it arrives", async () => {
    const [api, worker, gate] = [steps.addProcess(), steps.addProcess(), createGate()];
    worker.work({ concurrency: 1, run: () => gate.opened });
    await untilHeard(api, "free");
    const step = steps.makeStep();
    for (const given of [steps.makeStep(), step]) {
      const place = api.queue.reserve();
      place?.give(steps.claimFor(given), place.claim.worker);
    }
    await waitFor(() => steps.shared.queued.length === 1, { what: "the step to be queued" });
    // Under the token that it has since it was taken back.
    expect(steps.shared.queued).toMatchObject([{ id: `${step.sessionId}.${step.fence + 2}` }]);
    expect(worker.ran).toHaveLength(1);
    gate.open();
  });

  it("is taken back and queued when its worker has died", async () => {
    const [api, worker] = [steps.addProcess(), steps.addProcess()];
    worker.work({ concurrency: 1 });
    await untilHeard(api, "free");
    worker.kill();
    const givenAt = performance.now();
    give(api);
    await waitFor(() => steps.shared.queued.length === 1, { what: "the step to be queued" });
    expect(performance.now() - givenAt).toBeGreaterThanOrEqual(TAKE_BACK_MS);
    expect(worker.ran).toEqual([]);
    // It is not known any more, by offers neither.
    await api.queue.add(steps.makeStep());
    expect([steps.offers.length, steps.shared.queued.length]).toEqual([0, 2]);
  });

  it("is taken back when nobody knows whether it was claimed, wherever its place was", async () => {
    const [api, worker] = [steps.addProcess(), steps.addProcess()];
    worker.work({ concurrency: 1 });
    await untilHeard(api, "free");
    for (const { queue } of [api, worker]) {
      const place = queue.reserve();
      const step = steps.makeStep();
      place?.abandon(steps.claimFor(step));
      // The slot is free again.
      expect(queue.reserve()).not.toBeNull();
      await waitFor(() => steps.shared.queued.some(({ id }) => id.startsWith(step.sessionId)), {
        what: "the step to be queued",
      });
      if (queue === worker.queue) break;
    }
    expect(steps.shared.queued).toHaveLength(2);
  });

  it("that runs is not taken back, however long it takes, nor when whoever gave it ends", async () => {
    const [api, worker, gate] = [steps.addProcess(), steps.addProcess(), createGate()];
    worker.work({ concurrency: 1, run: () => gate.opened });
    await untilHeard(api, "free");
    give(api);
    await untilRan(worker, 1);
    const looks = steps.looksBack;
    await waitFor(() => steps.looksBack > looks, { what: "a look at it" });
    await api.queue.close();
    expect(steps.shared.queued).toEqual([]);
    gate.open();
  });
});
