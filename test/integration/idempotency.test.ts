import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, type Wire } from "../support/wire.ts";

let stack: TestStack;
let wire: Wire;

beforeAll(async () => {
  stack = await startStack({ script: () => ({ text: "Hello." }), env: { TANDEM_SWEEP_MS: "100" } });
  wire = createWire(stack.baseUrl, apiKey);
});
afterAll(() => stack.close());

const body = (message = "Hi") => ({ agent: { name: "x" }, messages: message });
const create = (key: string, sent: unknown, by = wire) =>
  by.send("POST", "/sessions", { body: sent, headers: { "idempotency-key": key } });

describe("a create request with an Idempotency-Key", () => {
  it("makes one session, however often and at once it is sent", async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => create("twenty", body())));
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([201]));
    expect(new Set(replies.map((reply) => reply.body.id)).size).toBe(1);
    await wire.until(replies[0]?.body.id, "completed");
    expect((await create("twenty", { messages: "Hi", agent: { name: "x" } })).body.status.status).toBe(
      "completed",
    );
    expect((await wire.get("/sessions")).body.total).toBe(1);
  });

  it("is refused with another body, and makes nothing", async () => {
    await create("other-body", body("One"));
    const before = (await wire.get("/sessions")).body.total;
    const reply = await create("other-body", body("Two"));
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0].loc).toEqual(["header", "idempotency-key"]);
    expect((await wire.get("/sessions")).body.total).toBe(before);
  });

  it("leaves the key free when the creation fails", async () => {
    expect((await create("freed", { agent: "nobody" })).status).toBe(404);
    await stack.engine.pool.query(
      "ALTER TABLE sessions ADD CONSTRAINT no_poison CHECK (agent_name <> 'poison') NOT VALID",
    );
    const poisoned = { agent: { name: "poison" }, messages: "Hi" };
    expect((await create("freed", poisoned)).status).toBe(500);
    await stack.engine.pool.query("ALTER TABLE sessions DROP CONSTRAINT no_poison");
    expect((await create("freed", body())).status).toBe(201);
  });

  it("gives its session although the agent is gone since", async () => {
    await wire.post("/agents", { name: "short-lived", description: "d" });
    const sent = { agent: "short-lived", messages: "Hi" };
    const first = await create("agent-gone", sent);
    await wire.send("DELETE", "/agents/short-lived");
    const again = await create("agent-gone", sent);
    expect([again.status, again.body.id]).toEqual([201, first.body.id]);
  });

  it("is another organization's own", async () => {
    const other = createWire(stack.baseUrl, await stack.addOrganization("acme"));
    const mine = await create("shared", body());
    const theirs = await create("shared", body("Else"), other);
    expect(theirs.status).toBe(201);
    expect(theirs.body.id).not.toBe(mine.body.id);
  });

  it("is forgotten after a day", async () => {
    const first = await create("old", body("One"));
    const admin = new pg.Client({ connectionString: stack.databaseUrl });
    await admin.connect();
    await admin.query(
      "UPDATE idempotency_keys SET created_at = now() - interval '25 hours' WHERE key = 'old'",
    );
    const second = await create("old", body("Two"));
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
    await admin.query("UPDATE idempotency_keys SET created_at = now() - interval '25 hours'");
    const count = async () => (await admin.query("SELECT FROM idempotency_keys")).rowCount === 0;
    await waitFor(count, { what: "old keys to be forgotten" });
    await admin.end();
  });

  it.each(["", "x".repeat(256)])("needs a key of 1 to 255 characters", async (key) => {
    const reply = await create(key, body());
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0].loc).toEqual(["header", "idempotency-key"]);
  });
});
