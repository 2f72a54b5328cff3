import { claimStep } from "@tandem/engine/commands/claim-step";
import { failStep } from "@tandem/engine/commands/fail-step";
import { finishStep } from "@tandem/engine/commands/finish-step";
import { returnStep } from "@tandem/engine/commands/return-step";
import { policyEvent } from "@tandem/engine/domain/events";
import type { WorkerConfig } from "@tandem/worker/config";
import { watchLease } from "@tandem/worker/lease";
import { createModels } from "@tandem/worker/models/create-model";
import { runStep } from "@tandem/worker/run-step";
import { createWatchedSessions } from "@tandem/worker/streaming/watched-sessions";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, kindsOf, type Wire } from "../support/wire.ts";

const usage = { name: "compatible/fake", input_tokens: 1, output_tokens: 1, reasoning_tokens: 0 };
const says = (text: string) => ({
  policy: policyEvent(
    { content: text, reasoning_content: null, tool_reqs: [], validation_errors: [] },
    { content: [] },
  ),
  usage,
  outcome: { kind: "answer", answer: text, outcome: "success", reason: "answered" } as const,
  replies: [],
});

describe("a step", () => {
  let stack: TestStack;
  let wire: Wire;
  let admin: pg.Client;

  beforeAll(async () => {
    stack = await startStack({ worker: false });
    wire = createWire(stack.baseUrl, apiKey);
    admin = new pg.Client({ connectionString: stack.databaseUrl });
    await admin.connect();
  });
  afterAll(async () => {
    await admin.end();
    await stack.close();
  });

  const create = () => wire.create({ agent: { name: "x" }, messages: "Hi" });
  const claim = (sessionId: string, leaseMs = 60_000) =>
    claimStep(stack.engine, { sessionId, leaseMs, worker: "test" });
  const jobOf = (sessionId: string) => ({ kind: "step" as const, sessionId, fence: 0 });
  const lapse = (sessionId: string) =>
    admin.query("UPDATE sessions SET lease_until = now() - interval '1 second' WHERE id = $1", [sessionId]);

  const contextOf = (config: WorkerConfig) => ({
    engine: stack.engine,
    config,
    modelOf: createModels(config.models),
    watched: createWatchedSessions(stack.engine.wake),
  });

  it("is claimed by one of many workers", async () => {
    const id = await create();
    const claims = await Promise.all(Array.from({ length: 20 }, () => claim(id)));
    expect(claims.filter((step) => step !== null)).toHaveLength(1);
    const { new_events: events } = (await wire.get(`/sessions/${id}/changes`)).body;
    expect(kindsOf(events).filter((kind) => kind === "AgentStartedEvent")).toHaveLength(1);
  });

  it("that was cancelled before its lease was kept is given up at once", async () => {
    const id = await create();
    const lease = watchLease(stack.engine, id);
    const step = await claim(id);
    await wire.send("DELETE", `/sessions/${id}`);
    if (!step) throw new Error("there was nothing to claim");
    lease.keep(step.session, 600_000);
    await waitFor(() => lease.signal.aborted, { what: "the lease to be given up" });
    lease.stop();
  });

  it("that was taken over writes nothing under its old token", async () => {
    const id = await create();
    const slow = await claim(id);
    await lapse(id);
    const quick = await claim(id);
    const old = { sessionId: id, fence: slow?.session.fence ?? -1 };
    const current = { sessionId: id, fence: quick?.session.fence ?? -1 };
    expect(current.fence).toBeGreaterThan(old.fence);

    expect(await finishStep(stack.engine, { ...old, ...says("slow") })).toBe(false);
    expect(await finishStep(stack.engine, { ...old, ...says("slow") }, slow ?? undefined)).toBe(false);
    expect(await failStep(stack.engine, { ...old, error: "x", reason: "internal", retryInMs: null })).toBe(
      false,
    );
    expect(await finishStep(stack.engine, { ...current, ...says("quick") })).toBe(true);
    expect(await finishStep(stack.engine, { ...current, ...says("twice") })).toBe(false);
    const done = await wire.until(id, "completed");
    expect(done.answer).toBe("quick");
    expect(kindsOf(done.new_events).filter((kind) => kind === "policy_event")).toHaveLength(1);
  });

  it("under a lease that lapsed and that nobody took may still finish", async () => {
    const id = await create();
    const step = await claim(id);
    await lapse(id);
    const claimed = { sessionId: id, fence: step?.session.fence ?? -1 };
    expect(await finishStep(stack.engine, { ...claimed, ...says("late but right") })).toBe(true);
  });

  it("of a cancelled session writes nothing", async () => {
    const id = await create();
    const step = await claim(id);
    await wire.send("DELETE", `/sessions/${id}`);
    const claimed = { sessionId: id, fence: step?.session.fence ?? -1 };
    expect(await finishStep(stack.engine, { ...claimed, ...says("too late") })).toBe(false);
    const stopped = await wire.until(id, "interrupted");
    expect(stopped.answer).toBeNull();
    expect(kindsOf(stopped.new_events).at(-1)).toBe("AgentCompletionEvent");
  });

  it("is handed back when its process must end", async () => {
    const id = await create();
    const stopping = new AbortController();
    const hanging = await import("../support/fake-model-server.ts").then(({ startFakeModel }) =>
      startFakeModel(() => ({ hang: true })),
    );
    const config = { ...stack.config.worker, models: { compatible: { baseUrl: hanging.baseUrl } } };
    const running = runStep(
      { ...contextOf(config), worker: "leaving", stopping: stopping.signal },
      jobOf(id),
    );
    await waitFor(() => hanging.requests.length === 1, { what: "the model request" });
    stopping.abort();
    await running;
    await hanging.close();
    const step = await claim(id);
    expect(step).not.toBeNull();
  });

  it("that ends every worker that takes it ends its session after twenty of them", async () => {
    const id = await create();
    for (let i = 0; i < 20; i++) {
      expect(await claim(id)).not.toBeNull();
      await lapse(id);
    }
    expect(await claim(id)).toBeNull();
    const done = await wire.until(id, "failed");
    expect(done).toMatchObject({ reason: "internal", error: expect.stringContaining("20 times") });
  });

  it("that ends every worker starts again for a message that waits", async () => {
    const id = await create();
    await admin.query("UPDATE sessions SET claims = 20 WHERE id = $1", [id]);
    await wire.post(`/sessions/${id}/messages`, { message: "Still there?" });
    expect(await claim(id)).toBeNull();
    expect((await wire.get(`/sessions/${id}/status`)).body.status).toBe("pending");
    expect(JSON.stringify((await claim(id))?.events)).toContain("Still there?");
  });

  it("that is handed back counts as not claimed", async () => {
    const id = await create();
    const step = await claim(id);
    await returnStep(stack.engine, { sessionId: id, fence: step?.session.fence ?? -1 });
    expect((await claim(id))?.session.claims).toBe(1);
  });

  it("whose model cannot even be asked ends readably, and does not come back for ever", async () => {
    const id = await create();
    const config = { ...stack.config.worker, models: {} };
    await runStep(
      { ...contextOf(config), worker: "bare", stopping: new AbortController().signal },
      jobOf(id),
    );
    const done = await wire.until(id, "failed");
    expect(done.error).toContain("TANDEM_COMPATIBLE_BASE_URL");
  });
});

describe.each(backends)("steps on %s", (backend) => {
  it("of a worker that died are taken over when their lease lapses", async () => {
    const stack = await startStack({ backend, worker: false });
    const wire = createWire(stack.baseUrl, apiKey);
    const id = await wire.create({ agent: { name: "x" }, messages: "Hi" });
    await claimStep(stack.engine, { sessionId: id, leaseMs: 300, worker: "dies" });
    await stack.addWorker({ TANDEM_SWEEP_MS: "100" });
    expect((await wire.until(id, "completed")).answer).toBe("Hello.");
    await stack.close();
  });

  it("whose job was taken by a worker that died before its claim run at the next sweep", async () => {
    const stack = await startStack({ backend, worker: false });
    const wire = createWire(stack.baseUrl, apiKey);
    let taken = 0;
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const dead = stack.engine.queue.consume(
      () => {
        taken++;
        return held;
      },
      { id: "dead", concurrency: 1, leaseMs: 30_000 },
    );
    const id = await wire.create({ agent: { name: "x" }, messages: "Hi" });
    await waitFor(() => taken === 1, { what: "the job to be taken" });
    await stack.addWorker({ TANDEM_SWEEP_MS: "100" });
    await wire.until(id, "completed");
    release();
    await dead.close();
    await stack.close();
  });

  it("run although the queue has lost every job", async () => {
    const stack = await startStack({ backend, worker: false });
    const wire = createWire(stack.baseUrl, apiKey);
    stack.engine.queue.add = () => Promise.reject(new Error("the queue is away"));
    const ids = await Promise.all(
      Array.from({ length: 10 }, () => wire.create({ agent: { name: "x" }, messages: "Hi" })),
    );
    await stack.addWorker({ TANDEM_SWEEP_MS: "100" });
    for (const id of ids) await wire.until(id, "completed");
    await stack.close();
  });

  it("of two workers run once each", async () => {
    const stack = await startStack({ backend });
    await stack.addWorker();
    const wire = createWire(stack.baseUrl, apiKey);
    const ids = await Promise.all(
      Array.from({ length: 40 }, () => wire.create({ agent: { name: "x" }, messages: "Hi" })),
    );
    for (const id of ids) {
      const done = await wire.until(id, "completed");
      expect(kindsOf(done.new_events).filter((kind) => kind === "policy_event")).toHaveLength(1);
    }
    expect(stack.model.requests).toHaveLength(40);
    await stack.close();
  });
});

describe("a database that goes away while a model answers", () => {
  it("costs the reply nothing: it is written when the database is back", async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const stack = await startStack({
      script: async () => {
        await held;
        return { text: "Worth its price." };
      },
      env: { TANDEM_LEASE_MS: "60000" },
      databaseProxy: true,
    });
    const wire = createWire(stack.baseUrl, apiKey);
    const id = await wire.create({ agent: { name: "x" }, messages: "Hi" });
    await waitFor(() => stack.model.requests.length === 1, { what: "the model request" });
    await stack.databaseProxy?.cut();
    release();
    const refused = await wire.get(`/sessions/${id}/status`);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    const unready = await wire.send("GET", "//readyz");
    expect(unready.status).toBe(503);
    expect(unready.body.detail).toContain("database");
    await stack.databaseProxy?.mend();
    await waitFor(async () => (await wire.send("GET", "//readyz")).status === 200, {
      what: "/readyz to be 200",
    });
    await waitFor(async () => (await wire.get(`/sessions/${id}/status`)).body.status === "completed", {
      what: "the session to be completed",
    });
    expect(stack.model.requests).toHaveLength(1);
    await stack.close();
  });
});
