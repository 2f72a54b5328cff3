import { admitSessions } from "@tandem/engine/commands/admit-sessions";
import { cancelSession } from "@tandem/engine/commands/cancel-session";
import type { PoolClient } from "pg";
import { afterEach, expect, it } from "vitest";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire } from "../support/wire.ts";

let stack: TestStack | undefined;
afterEach(async () => {
  await stack?.close();
  stack = undefined;
});

/** Takes a session's row as a process would that was suspended in the middle of its transaction. */
async function hold(on: TestStack, id: string): Promise<PoolClient> {
  const client = await on.engine.pool.connect();
  await client.query("BEGIN");
  await client.query("SELECT FROM sessions WHERE id = $1 FOR UPDATE", [id]);
  return client;
}

const waiters = async (on: TestStack) => {
  const { rows } = await on.engine.pool.query(
    "SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
  );
  return rows[0].count as number;
};

it("a row that is held for long costs its own requests a 503, and others nothing", async () => {
  stack = await startStack({ worker: false });
  const wire = createWire(stack.baseUrl, apiKey);
  const other = createWire(stack.baseUrl, await stack.addOrganization("acme"));
  const id = await wire.create({ agent: { name: "x" }, messages: "Hi" });
  const holder = await hold(stack, id);
  const pauses = Array.from({ length: 12 }, () => wire.send("POST", `/sessions/${id}/pause`));
  expect((await other.get("/sessions")).status).toBe(200);
  const replies = await Promise.all(pauses);
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([503]));
  expect(replies[0]?.headers.get("retry-after")).toBe("1");
  await holder.query("ROLLBACK");
  holder.release();
  expect((await wire.send("POST", `/sessions/${id}/pause`)).status).toBe(202);
});

it("a row that is held does not keep a sweep from the others", async () => {
  stack = await startStack({ worker: false });
  const wire = createWire(stack.baseUrl, apiKey);
  const stuck = await wire.create({ agent: { name: "x" }, messages: "Hi", idle_timeout_s: 600 });
  await stack.engine.pool.query(
    "UPDATE sessions SET status = 'idle', due_at = NULL, idle_until = now() WHERE id = $1",
    [stuck],
  );
  const holder = await hold(stack, stuck);
  stack.engine.queue.add = () => Promise.reject(new Error("the queue is away"));
  const lost = await wire.create({ agent: { name: "x" }, messages: "Hi" });
  await stack.addWorker({ TANDEM_SWEEP_MS: "100" });
  expect((await wire.until(lost, "completed")).answer).toBe("Hello.");
  await holder.query("ROLLBACK");
  holder.release();
  await wire.until(stuck, "completed");
});

it("a message that restarts a session and an admission do not wait for each other", async () => {
  stack = await startStack({ worker: false, env: { TANDEM_MAX_ACTIVE_SESSIONS: "1" } });
  const { engine } = stack;
  const wire = createWire(stack.baseUrl, apiKey);
  const create = () => wire.create({ agent: { name: "x" }, messages: "Hi" });
  const [first, second, third] = [await create(), await create(), await create()];
  const { rows } = await engine.pool.query("SELECT organization_id AS id FROM sessions WHERE id = $1", [
    first,
  ]);
  const organizationId = rows[0].id as string;
  // Two slots are free, and the admission hangs at the oldest session that waits.
  await engine.pool.query(
    "UPDATE sessions SET status = 'interrupted', due_at = NULL, finished_at = now() WHERE id = $1",
    [first],
  );
  engine.maxActiveSessions = 2;
  const holder = await hold(stack, second);
  const admission = admitSessions(engine, organizationId);
  await waitFor(async () => (await waiters(stack as TestStack)) === 1, { what: "the admission to wait" });
  const cancelling = cancelSession(engine, { organizationId, sessionId: third });
  const message = cancelling.then(() => wire.post(`/sessions/${third}/messages`, { message: "Again" }));
  await waitFor(async () => (await waiters(stack as TestStack)) >= 2, { what: "the message to wait" });
  await holder.query("ROLLBACK");
  holder.release();
  await admission;
  expect((await message).status).toBe(202);
});
