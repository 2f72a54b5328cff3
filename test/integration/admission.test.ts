import { afterEach, describe, expect, it } from "vitest";
import type { ModelScript } from "../support/fake-model-server.ts";
import { createGate } from "../support/gate.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, kindsOf, type Wire } from "../support/wire.ts";

const stacks: TestStack[] = [];
afterEach(() => Promise.all(stacks.splice(0).map((stack) => stack.close())));

const start = async (options: {
  backend?: "postgres" | "redis";
  limit: number;
  script?: ModelScript;
  worker?: boolean;
}) => {
  const stack = await startStack({
    ...(options.backend ? { backend: options.backend } : {}),
    worker: options.worker ?? true,
    script: options.script ?? (() => ({ hang: true })),
    env: { TANDEM_MAX_ACTIVE_SESSIONS: String(options.limit) },
  });
  stacks.push(stack);
  return { stack, wire: createWire(stack.baseUrl, apiKey) };
};
const request = (more: object = {}) => ({ agent: { name: "x" }, messages: "Hi", ...more });
const quota = async (wire: Wire) => (await wire.get("/sessions/quota")).body;
const statusOf = async (wire: Wire, id: string) => (await wire.get(`/sessions/${id}/status`)).body.status;
const statuses = (wire: Wire, ids: string[]) => Promise.all(ids.map((id) => statusOf(wire, id)));

/** When a session that had to wait got its slot; undefined when it had one at once. */
const admissionOf = async (wire: Wire, id: string): Promise<string | undefined> => {
  const { new_events: events } = (await wire.get(`/sessions/${id}/changes`)).body;
  return events.find((event: { type: string }) => event.type === "RequestStartDispatchedEvent")?.timestamp;
};

describe.each(backends)("slots on %s", (backend) => {
  it("are given to queued sessions, the oldest first, and never to more than the limit", async () => {
    let now = 0;
    let most = 0;
    const created = createGate();
    const { wire } = await start({
      backend,
      limit: 2,
      script: async () => {
        most = Math.max(most, ++now);
        await created.opened;
        now--;
        return { text: "Done." };
      },
    });
    const ids: string[] = [];
    for (let i = 0; i < 12; i++) ids.push(await wire.create(request({ messages: `task ${i}` })));
    created.open();
    for (const id of ids) await wire.until(id, "completed");
    expect(most).toBeLessThanOrEqual(2);
    const admittedAt = await Promise.all(ids.map((id) => admissionOf(wire, id)));
    const waited = admittedAt.filter((time) => time !== undefined);
    expect(waited).toHaveLength(10);
    expect(waited).toEqual([...waited].sort());
    expect(await quota(wire)).toEqual({ scope: "org", limit: 2, active: 0, available: 2, queued: 0 });
  });

  it("that are taken at the same moment never exceed the limit", async () => {
    const { wire } = await start({ backend, limit: 3 });
    const ids = await Promise.all(Array.from({ length: 20 }, () => wire.create(request())));
    const seen = await statuses(wire, ids);
    expect(seen.filter((status) => status === "queued")).toHaveLength(17);
    expect(await quota(wire)).toMatchObject({ active: 3, available: 0, queued: 17 });
    const [running] = ids.filter((_, i) => seen[i] !== "queued");
    await wire.send("DELETE", `/sessions/${running}`);
    await waitFor(async () => (await quota(wire)).queued === 16, { what: "the next one to get the slot" });
    expect((await quota(wire)).active).toBe(3);
  });
});

it("a session that does not queue is refused with 429 and Retry-After, and nothing is stored", async () => {
  const { wire } = await start({ limit: 1, worker: false });
  await wire.create(request());
  const refused = await wire.send("POST", "/sessions", {
    body: request({ queue: false }),
    headers: { "idempotency-key": "free again" },
  });
  expect(refused.status).toBe(429);
  expect(refused.body).toMatchObject({
    code: "session_limit",
    detail: expect.stringContaining("1 active sessions of 1"),
  });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect((await wire.get("/sessions")).body.total).toBe(1);
  const [{ id }] = (await wire.get("/sessions")).body.items;
  await wire.send("DELETE", `/sessions/${id}`);
  const taken = await wire.send("POST", "/sessions", {
    body: request({ queue: false }),
    headers: { "idempotency-key": "free again" },
  });
  expect(taken.status).toBe(201);
});

it("a queued session says what it waits for, takes messages, and can be cancelled", async () => {
  const { wire } = await start({ limit: 1, worker: false });
  const first = await wire.create(request());
  const second = await wire.create(request());
  const third = await wire.create(request());
  const status = (await wire.get(`/sessions/${second}/status`)).body;
  expect(status).toMatchObject({ status: "queued", waiting_on: { what: "slot", since: expect.any(String) } });
  expect((await wire.post(`/sessions/${second}/messages`, { message: "And this" })).status).toBe(202);
  await wire.send("DELETE", `/sessions/${second}`);
  await wire.send("DELETE", `/sessions/${first}`);
  expect(await statuses(wire, [first, second, third])).toEqual(["interrupted", "interrupted", "pending"]);
  const { new_events: events } = (await wire.get(`/sessions/${third}/changes`)).body;
  expect(kindsOf(events)).toEqual(["RequestStartEvent", "RequestStartDispatchedEvent"]);
});

it("a paused queued session keeps its place, and takes no slot", async () => {
  const { wire } = await start({ limit: 1, worker: false });
  const [first, second, third] = [
    await wire.create(request()),
    await wire.create(request()),
    await wire.create(request()),
  ];
  await wire.send("POST", `/sessions/${second}/pause`);
  expect(await quota(wire)).toMatchObject({ active: 1, queued: 1 });
  await wire.send("POST", `/sessions/${second}/resume`);
  expect(await statusOf(wire, second)).toBe("queued");
  await wire.send("DELETE", `/sessions/${first}`);
  expect(await statuses(wire, [second, third])).toEqual(["pending", "queued"]);
});

it("a message that restarts a session follows that session's own wish to queue", async () => {
  const { stack, wire } = await start({ limit: 1, worker: false });
  const patient = await wire.create(request());
  await wire.send("DELETE", `/sessions/${patient}`);
  const impatient = await wire.create(request({ queue: false }));
  await wire.send("DELETE", `/sessions/${impatient}`);
  await wire.create(request());

  const refused = await wire.post(`/sessions/${impatient}/messages`, { message: "Now!" });
  expect(refused.status).toBe(429);
  expect(await statusOf(wire, impatient)).toBe("interrupted");
  expect((await wire.post(`/sessions/${patient}/messages`, { message: "When you can" })).status).toBe(202);
  expect(await statusOf(wire, patient)).toBe("queued");
  const { rows } = await stack.engine.pool.query(
    "SELECT count(*)::int AS count FROM waiting_messages WHERE session_id = $1",
    [impatient],
  );
  expect(rows[0].count).toBe(1);
});

it("one organization's sessions take no slot of another's", async () => {
  const { stack, wire } = await start({ limit: 1, worker: false });
  await wire.create(request());
  const other = createWire(stack.baseUrl, await stack.addOrganization("acme"));
  const id = await other.create(request());
  expect(await statusOf(other, id)).toBe("pending");
});

it("a slot that nobody gave on is found by the sweep", async () => {
  const held = createGate();
  const { stack, wire } = await start({
    limit: 1,
    worker: false,
    script: async () => {
      await held.opened;
      return { text: "Done." };
    },
  });
  held.open();
  const first = await wire.create(request());
  const second = await wire.create(request());
  await stack.engine.pool.query(
    "UPDATE sessions SET status = 'interrupted', finished_at = now(), due_at = NULL WHERE id = $1",
    [first],
  );
  expect(await statusOf(wire, second)).toBe("queued");
  await stack.addWorker();
  expect((await wire.until(second, "completed")).answer).toBe("Done.");
});
