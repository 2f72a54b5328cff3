// The step that a last result makes due is claimed for a worker in the same commit. What becomes of it when that worker
// takes it up, does not, or is not the only one that has something to say.
import { setTimeout as delay } from "node:timers/promises";
import { takeStep } from "@tandem/engine/commands/take-step";
import type { Engine } from "@tandem/engine/engine";
import { readNews } from "@tandem/engine/handover/step-news";
import { type Assignment, TAKE_BACK_MS } from "@tandem/engine/queue/assignment";
import { createModels } from "@tandem/worker/models/create-model";
import { runStep } from "@tandem/worker/run-step";
import { createWatchedSessions } from "@tandem/worker/streaming/watched-sessions";
import { afterEach, describe, expect, it } from "vitest";
import { lastToolResults, oneToolThenAnswer } from "../support/fake-model-server.ts";
import { apiKey, backends, type StackOptions, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, resultFor, type Wire, weatherTool } from "../support/wire.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Scene {
  stack: TestStack;
  wire: Wire;
}

async function openScene(options: StackOptions): Promise<Scene> {
  const script = oneToolThenAnswer("get_weather", { city: "Paris" });
  const stack = await startStack({ script, ...options });
  closers.push(() => stack.close());
  return { stack, wire: createWire(stack.baseUrl, apiKey) };
}

/** A session that waits for one result, and what gives it. */
async function createWaiting({ wire }: Scene, more: object = {}) {
  const id = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Weather?", ...more });
  await wire.until(id, "awaiting_tool_results");
  const [call] = await wire.pending(id);
  if (!call) throw new Error("no call is pending");
  return { id, post: () => wire.post(`/sessions/${id}/tool_results`, resultFor(call, "18 °C")) };
}

/** Until the API has heard of a worker that it can give steps to, or of this one. */
const untilKnown = ({ stack }: Scene, worker: string | null = null) =>
  waitFor(
    () => {
      const place = stack.engine.queue.reserve();
      place?.release();
      return worker === null ? place !== null : place?.claim.preferred.includes(worker) === true;
    },
    { what: "a worker to be known" },
  );

/** Steps that a worker is given from now on; it does nothing with them. */
function keepGiven(engine: Engine): Assignment[] {
  const given: Assignment[] = [];
  const { reserve } = engine.queue;
  engine.queue.reserve = (options) => {
    const place = reserve(options);
    return place && { ...place, give: (assignment) => given.push(assignment) };
  };
  return given;
}

const claimOf = async ({ stack }: Scene, id: string) => {
  const { rows } = await stack.engine.pool.query(
    "SELECT worker, fence, lease_until > now() AS held FROM sessions WHERE id = $1",
    [id],
  );
  return rows[0];
};

describe.each(backends)("the step that follows a result, on %s,", (backend) => {
  it("is held by the worker that asked before as soon as the post is answered, and is in no queue", async () => {
    const scene = await openScene({ backend });
    const { stack, wire } = scene;
    await stack.addWorker();
    for (let round = 0; round < 4; round++) {
      const { id, post } = await createWaiting(scene);
      const { worker } = await claimOf(scene, id);
      await untilKnown(scene, worker);
      const given = keepGiven(stack.engine);
      expect((await post()).body.resumed).toBe(true);
      expect(await claimOf(scene, id)).toMatchObject({ worker, held: true });
      expect(given).toHaveLength(1);
      expect(await stack.engine.queue.count()).toMatchObject({ waiting: 0, delayed: 0 });
      // What its worker never heard of is free again when it is taken back.
      await stack.engine.pool.query("UPDATE sessions SET lease_until = now() WHERE id = $1", [id]);
      expect((await wire.until(id, "completed")).outcome).toBe("success");
    }
  });

  it("is taken back from a worker that does not take it up, and runs elsewhere", async () => {
    const scene = await openScene({ backend });
    const { stack, wire } = scene;
    const { id, post } = await createWaiting(scene);
    await untilKnown(scene);
    // The note is lost.
    const { send } = stack.engine.wake;
    let lost = 0;
    stack.engine.wake.send = (note) => {
      if (note.startsWith("take.")) lost++;
      else send(note);
    };
    await post();
    const before = await claimOf(scene, id);
    const done = await wire.until(id, "completed");
    expect(done.outcome).toBe("success");
    expect(before).toMatchObject({ held: true });
    expect(lost).toBe(1);
    expect(stack.model.requests).toHaveLength(2);
  });

  it("waits for a claim when a message is to be taken up with it", async () => {
    const scene = await openScene({ backend });
    const { stack, wire } = scene;
    const { id, post } = await createWaiting(scene);
    await untilKnown(scene);
    const given = keepGiven(stack.engine);
    expect((await wire.post(`/sessions/${id}/messages`, { message: "And Rome?" })).status).toBe(202);
    await post();
    await waitFor(() => stack.model.requests.length === 2, { what: "the next request" });
    expect(given).toEqual([]);
    expect(JSON.stringify(stack.model.requests.at(-1)?.body.messages)).toContain("And Rome?");
  });
});

describe("a worker that is given a step", () => {
  /** The step as its worker gets it, and the way to run it here. */
  async function arrange(options: StackOptions = {}) {
    const scene = await openScene(options);
    const { stack } = scene;
    const { id, post } = await createWaiting(scene);
    await untilKnown(scene);
    const given = keepGiven(stack.engine);
    const run = (assignment: Assignment) =>
      runStep(
        {
          engine: stack.engine,
          config: stack.config.worker,
          modelOf: createModels(stack.config.worker.models),
          watched: createWatchedSessions(stack.engine.wake),
          worker: "test",
          stopping: new AbortController().signal,
        },
        { ...assignment, kind: "step" },
      );
    return { ...scene, id, post, given, run };
  }

  const only = ([assignment]: Assignment[]): Assignment => {
    if (!assignment) throw new Error("no step was given");
    return assignment;
  };

  it("asks with what it reads when it knows nothing of the session", async () => {
    const { stack, wire, id, post, given, run } = await arrange();
    await post();
    await run(only(given));
    expect(await wire.until(id, "completed")).toMatchObject({ outcome: "success" });
    expect(stack.model.requests).toHaveLength(2);
    expect(lastToolResults(stack.model.requests.at(-1) as never)).toMatchObject([{ content: "18 °C" }]);
  });

  it("asks nobody when the step was taken back before it came to it", async () => {
    const { stack, id, post, given, run } = await arrange();
    await post();
    const assignment = only(given);
    await stack.engine.pool.query("UPDATE sessions SET fence = fence + 1 WHERE id = $1", [id]);
    await run(assignment);
    expect(stack.model.requests).toHaveLength(1);
  });

  it("drops what it remembers of a session that was cancelled meanwhile, and writes nothing", async () => {
    let requests = 0;
    const ask = oneToolThenAnswer("get_weather", { city: "Paris" });
    const { stack, wire, id, post, given, run } = await arrange({
      script: (request, index) => (requests++ === 0 ? ask(request, index) : { hang: true }),
    });
    await post();
    const assignment = only(given);
    // What the worker of this process would remember if it had run the step before.
    const { session, events } = await readStep(stack.engine, assignment);
    const news = readNews(assignment.news);
    if (!news) throw new Error("nothing was told");
    stack.engine.knownSessions.remember(id, {
      terms: session,
      version: news.fromVersion,
      events: events.slice(0, events.length - news.events.length),
    });
    await wire.send("DELETE", `/sessions/${id}`);
    await run(assignment);
    // It did ask, from memory, and gave up as soon as it prolonged its lease.
    await waitFor(() => stack.model.requests[1]?.aborted, { what: "the model request to be aborted" });
    expect((await wire.get(`/sessions/${id}`)).body.status.status).toBe("interrupted");
  });

  it("is heard of while it still reads a long history", async () => {
    const scene = await openScene({ worker: false });
    const { stack, wire } = scene;
    const { engine } = await stack.addWorker();
    const { id, post } = await createWaiting(scene);
    await untilKnown(scene);
    engine.knownSessions.take(id);
    const query = engine.pool.query.bind(engine.pool) as (...values: unknown[]) => Promise<unknown>;
    let slowReads = 0;
    engine.pool.query = (async (...values: unknown[]) => {
      const result = await query(...values);
      const [{ text = "" }] = values as [{ text?: string }];
      if (text.includes("AS history") && !text.includes("UPDATE")) {
        slowReads++;
        await delay(TAKE_BACK_MS + 1_000);
      }
      return result;
    }) as never;
    await post();
    const { fence } = await claimOf(scene, id);
    await wire.until(id, "completed");
    expect(slowReads).toBe(1);
    expect(stack.model.requests).toHaveLength(2);
    expect(await claimOf(scene, id)).toMatchObject({ fence: fence + 1 });
  });

  it("is heard of by then, and holds the step for as long as the model takes", async () => {
    let requests = 0;
    const ask = oneToolThenAnswer("get_weather", { city: "Paris" });
    const scene = await openScene({
      script: async (request, index) => {
        const reply = await ask(request, index);
        return requests++ === 0 ? reply : { ...reply, delayMs: 3_000 };
      },
    });
    const { stack, wire } = scene;
    await stack.addWorker();
    const { id, post } = await createWaiting(scene);
    await untilKnown(scene);
    await post();
    const { worker, fence } = await claimOf(scene, id);
    await wire.until(id, "completed");
    expect(stack.model.requests).toHaveLength(2);
    expect(await claimOf(scene, id)).toMatchObject({ worker, fence: fence + 1 });
  });
});

async function readStep(engine: Engine, assignment: Assignment) {
  const step = await takeStep(engine, { ...assignment, news: "" });
  if (!step?.events) throw new Error("the step is not held");
  return { session: step.session, events: step.events };
}
