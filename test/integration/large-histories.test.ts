import { afterAll, beforeAll, expect, it } from "vitest";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { createWire, type Wire } from "../support/wire.ts";

let stack: TestStack;
let wire: Wire;

beforeAll(async () => {
  stack = await startStack({ worker: false });
  wire = createWire(stack.baseUrl, apiKey);
});
afterAll(() => stack.close());

/** A session with so many events of nine million bytes, as large results make them. */
async function createLarge(count: number): Promise<string> {
  const id = await wire.create({ agent: { name: "x" }, messages: "Hi" });
  await stack.engine.pool.query(
    `INSERT INTO events (session_id, index, type, data)
     SELECT $1, n, 'AgentEvent', json_build_object('kind', 'tool_result', 'tool_req', NULL, 'result', repeat('x', 9000000))
       FROM generate_series(1, $2::int) AS n`,
    [id, count],
  );
  await stack.engine.pool.query("UPDATE sessions SET next_index = $2 WHERE id = $1", [id, count + 1]);
  return id;
}

it("come in pages that a reply can hold, and the cursor leads through all of them", async () => {
  const id = await createLarge(14);
  const first = (await wire.get(`/sessions/${id}/changes`)).body;
  expect(first.new_events.length).toBeLessThan(15);
  expect(first.has_more).toBe(true);
  const rest = (await wire.get(`/sessions/${id}/changes?from_index=${first.next_index}`)).body;
  expect(first.new_events.length + rest.new_events.length).toBe(15);
  expect(rest.next_index).toBe(15);
  expect(rest.has_more).toBe(false);

  const refused = await wire.get(`/sessions/${id}/events?size=50`);
  expect(refused.status).toBe(422);
  expect(refused.body.detail[0]).toMatchObject({ loc: ["query", "size"], type: "page_too_large" });
  expect((await wire.get(`/sessions/${id}/events?size=2`)).status).toBe(200);

  const { share_url: link } = (await wire.post(`/sessions/${id}/share`, undefined)).body;
  const page = await fetch(link, { headers: { accept: "text/html" } });
  expect(page.status).toBe(200);
  expect((await page.text()).length).toBeLessThan(1_000_000);
});

it("of lists are refused by size when they are more than a reply can hold", async () => {
  const ids = await Promise.all(
    Array.from({ length: 13 }, () => wire.create({ agent: { name: "x" }, messages: "Hi" })),
  );
  await stack.engine.pool.query(
    `UPDATE sessions SET first_message = json_build_object('type', 'user_message', 'message', repeat('x', 9000000),
            'images', '[]'::json, 'caller_id', 'user') WHERE id = ANY($1)`,
    [ids],
  );
  const refused = await wire.get("/sessions?size=100");
  expect([refused.status, refused.body.detail[0].type]).toEqual([422, "page_too_large"]);
  expect((await wire.get("/sessions?size=2")).body.items).toHaveLength(2);

  await stack.engine.pool.query(
    `INSERT INTO agents (organization_id, name, description, definition)
     SELECT organization_id, 'large-' || n, 'd', json_build_object('name', 'x', 'description', repeat('x', 9000000))
       FROM sessions, generate_series(1, 13) AS n WHERE sessions.id = $1`,
    [ids[0]],
  );
  const many = await wire.get("/agents?size=1000");
  expect([many.status, many.body.detail[0].type]).toEqual([422, "page_too_large"]);
});

it("that no model takes end the session readably, and no worker", async () => {
  const id = await createLarge(15);
  await stack.addWorker({ TANDEM_SWEEP_MS: "100" });
  const status = async () => (await wire.get(`/sessions/${id}/status`)).body;
  await expect.poll(status, { timeout: 30_000 }).toMatchObject({
    status: "failed",
    error: expect.stringContaining("128,000,000"),
  });
});
