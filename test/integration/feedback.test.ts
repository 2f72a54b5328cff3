import { hashApiKey } from "@tandem/engine/domain/api-keys";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { oneToolThenAnswer } from "../support/fake-model-server.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { createWire, type Wire, weatherTool } from "../support/wire.ts";

let stack: TestStack;
let wire: Wire;
/** Another user of the same organization. */
let colleague: Wire;

beforeAll(async () => {
  stack = await startStack({ script: oneToolThenAnswer("get_weather", { city: "Paris" }) });
  wire = createWire(stack.baseUrl, apiKey);
  const { organizationId } = await stack.engine.catalogue.apiKey.findFirstOrThrow();
  await stack.engine.catalogue.apiKey.create({
    data: { organizationId, name: "second", userName: "colleague", keyHash: hashApiKey("key-of-colleague") },
  });
  colleague = createWire(stack.baseUrl, "key-of-colleague");
});
afterAll(() => stack.close());

const create = async () => {
  const id = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Weather?" });
  await wire.until(id, "awaiting_tool_results");
  return id;
};
const onSession = (id: string, body: unknown, by = wire) => by.post(`/sessions/${id}/feedback`, body);
const onEvent = (id: string, index: number | string, body: unknown, by = wire) =>
  by.send("PUT", `/sessions/${id}/events/${index}/feedback`, { body });
const list = async (id: string) => (await wire.get(`/sessions/${id}/feedback`)).body.items;

describe("feedback", () => {
  it("is one for each user and place; a later one replaces the earlier", async () => {
    const id = await create();
    expect(await list(id)).toEqual([]);
    expect(await onEvent(id, 1, { success: true, message: "Good." })).toMatchObject({
      status: 204,
      body: "",
    });
    expect(await onSession(id, { success: false, message: "Slow." })).toMatchObject({
      status: 204,
      body: "",
    });
    await onSession(id, { success: false, message: null }, colleague);
    await onEvent(id, 0, { success: true });
    const [{ updated_at: before }] = await list(id);
    await onSession(id, { success: true });
    await onEvent(id, 1, { success: false, message: "Bad after all." });

    const items = await list(id);
    const shown = items.map(({ updated_at: _, ...rest }: { updated_at: string }) => rest);
    const user = items[2].user as string;
    const onWhole = [
      { event_index: null, success: false, message: null, user: "colleague" },
      { event_index: null, success: true, message: null, user },
    ];
    expect(shown.slice(0, 2)).toEqual(expect.arrayContaining(onWhole));
    expect(shown.slice(2)).toEqual([
      { event_index: 0, success: true, message: null, user },
      { event_index: 1, success: false, message: "Bad after all.", user },
    ]);
    const times = items.map((item: { updated_at: string }) => item.updated_at).sort();
    expect(times.at(-1) > before).toBe(true);
  });

  it("changes nothing of the session, in any state", async () => {
    const id = await create();
    const look = async () => {
      const { rows } = await stack.engine.pool.query("SELECT * FROM sessions WHERE id = $1", [id]);
      return rows[0];
    };
    const give = async () => {
      const before = await look();
      expect((await onSession(id, { success: true })).status).toBe(204);
      expect((await onEvent(id, 0, { success: true })).status).toBe(204);
      expect(await look()).toEqual(before);
    };
    await give();
    await wire.send("DELETE", `/sessions/${id}`);
    await give();
  });

  it("wakes nobody", async () => {
    const quiet = await startStack({ worker: false });
    try {
      const there = createWire(quiet.baseUrl, apiKey);
      const id = await there.create({ agent: { name: "x" }, messages: "Hi" });
      const woken: string[] = [];
      quiet.engine.wake.subscribe((sessionId) => woken.push(sessionId));
      expect((await onSession(id, { success: true }, there)).status).toBe(204);
      expect((await onEvent(id, 0, { success: true }, there)).status).toBe(204);
      expect(woken).toEqual([]);
      quiet.engine.wake.publish(id);
      expect(woken).toEqual([id]);
    } finally {
      await quiet.close();
    }
  });

  it("on an event at or past the end is 404, however large its index", async () => {
    const id = await create();
    const { next_index: end } = (await wire.get(`/sessions/${id}/changes`)).body;
    expect((await onEvent(id, end - 1, { success: true })).status).toBe(204);
    for (const index of [end, 2_147_483_646, 2_147_483_647, 2_147_483_648, "9".repeat(30)]) {
      const reply = await onEvent(id, index, { success: true });
      expect([index, reply.status, reply.body.code]).toEqual([index, 404, "event_not_found"]);
    }
    expect(await list(id)).toHaveLength(1);
  });

  it.each(["-1", "1.5", "x"])("on an event %j is 422", async (index) => {
    const reply = await onEvent(await create(), index, { success: true });
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0].loc).toEqual(["path", "event_index"]);
  });

  it.each([
    { body: {}, loc: ["body", "success"] },
    { body: { success: "yes" }, loc: ["body", "success"] },
    { body: { success: null }, loc: ["body", "success"] },
    { body: { success: true, message: 5 }, loc: ["body", "message"] },
    { body: { success: true, message: "x".repeat(10_001) }, loc: ["body", "message"] },
  ])("of the wrong form is 422 and stores nothing: $loc", async ({ body, loc }) => {
    const id = await create();
    for (const reply of [await onSession(id, body), await onEvent(id, 0, body)]) {
      expect([reply.status, reply.body.detail[0].loc]).toEqual([422, loc]);
    }
    expect(await list(id)).toEqual([]);
  });

  it("may hold any text of 10,000 characters that a column can hold", async () => {
    const id = await create();
    const message = "😀".repeat(10_000);
    expect((await onSession(id, { success: true, message, more: "ignored" })).status).toBe(204);
    expect((await list(id))[0].message).toBe(message);
    for (const unfit of ["a\u0000b", "a\ud800b"]) {
      const refused = await onSession(id, { success: true, message: unfit });
      expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ["body", "message"]]);
    }
  });

  it("given by many at once is stored once for each", async () => {
    const id = await create();
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => onSession(id, { success: true }, n % 2 ? wire : colleague)),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([204]));
    expect(await list(id)).toHaveLength(2);
  });
});
