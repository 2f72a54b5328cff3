import { createKnownKeys } from "@tandem/api/known-keys";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, type Wire } from "../support/wire.ts";

let stack: TestStack;
let admin: Wire;
let member: Wire;
const unknownId = "0190f5e2-0000-7000-8000-000000000000";

beforeAll(async () => {
  stack = await startStack({ worker: false });
  admin = createWire(
    stack.baseUrl,
    await stack.addKey({ organization: "operators", user: "root", isAdmin: true }),
  );
  member = createWire(stack.baseUrl, apiKey);
});
afterAll(() => stack.close());

/** Makes a key over HTTP. */
async function make(request: Record<string, unknown>) {
  const reply = await admin.post("/keys", request);
  expect(reply.status).toBe(201);
  return { ...reply.body, wire: createWire(stack.baseUrl, reply.body.key) };
}

const readKey = async (organization: string, id: string) => {
  const { body } = await admin.get(`/keys?organization=${encodeURIComponent(organization)}&size=100`);
  return body.items.find((item: { id: string }) => item.id === id);
};

describe("an admin key", () => {
  it("makes a key of a new organization, which works at once and is shown this once", async () => {
    const { wire, key, ...view } = await make({
      organization: "acme",
      name: "ci",
      user: "ann",
      expires_days: 30,
    });
    expect(key).toMatch(/^tdm_\S{43}$/);
    expect(view).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      organization: "acme",
      name: "ci",
      user: "ann",
      hint: `${key.slice(0, 8)}…`,
      admin: false,
      created_at: expect.any(String),
      expires_at: expect.any(String),
      revoked_at: null,
      last_used_at: null,
    });
    expect(Date.parse(view.expires_at) - Date.parse(view.created_at)).toBeCloseTo(30 * 86_400_000, -5);
    await wire.create({ agent: "tandem/assistant" });
    expect((await wire.get("/sessions?owner=me")).body.total).toBe(1);
    expect(await readKey("acme", view.id)).toEqual({ ...view, last_used_at: expect.any(String) });
  });

  it("makes a key that lasts, of user default and not admin, unless told otherwise", async () => {
    expect(await make({ organization: "plain" })).toMatchObject({
      name: "key",
      user: "default",
      admin: false,
      expires_at: null,
    });
  });

  it("makes admin keys, which make others", async () => {
    const { wire } = await make({ organization: "operators", admin: true });
    const made = await wire.post("/keys", { organization: "acme" });
    expect(made).toMatchObject({ status: 201, body: { admin: false, organization: "acme" } });
  });

  it("lists the keys of all organizations by organization and age, or of one, page by page, and no secret", async () => {
    const first = await make({ organization: "list a", name: "1" });
    const second = await make({ organization: "list a", name: "2" });
    const third = await make({ organization: "list b", name: "3" });
    const { body } = await admin.get("/keys?size=100");
    expect(body.total).toBe(body.items.length);
    const ids = body.items.map(({ id }: { id: string }) => id);
    expect(ids.slice(ids.indexOf(first.id)).slice(0, 3)).toEqual([first.id, second.id, third.id]);
    const text = JSON.stringify(body);
    for (const { key } of [first, second, third]) expect(text).not.toContain(key);
    expect(text).not.toMatch(/hash/i);
    const page = await admin.get("/keys?organization=list%20a&page=2&size=1");
    expect(page.body).toMatchObject({ items: [{ id: second.id }], total: 2, page: 2 });
    const nobody = await admin.get("/keys?organization=list");
    expect(nobody).toMatchObject({ status: 200, body: { items: [], total: 0, page: 1 } });
    expect((await admin.get("/keys?organization=%00")).body.items).toEqual([]);
  });

  it("revokes a key, at once in the process that did it, and again without effect", async () => {
    const { id, wire } = await make({ organization: "acme" });
    expect((await wire.get("/agents")).status).toBe(200);
    expect(await admin.send("DELETE", `/keys/${id.toUpperCase()}`)).toMatchObject({ status: 204, body: "" });
    expect((await wire.get("/agents")).status).toBe(401);
    const { revoked_at } = await readKey("acme", id);
    expect(revoked_at).not.toBeNull();
    expect((await admin.send("DELETE", `/keys/${id}`)).status).toBe(204);
    expect((await readKey("acme", id)).revoked_at).toBe(revoked_at);
  });

  it("cannot revoke itself, by whichever spelling of its id, but another one can", async () => {
    const { id, wire } = await make({ organization: "operators", admin: true });
    for (const spelling of [id, id.toUpperCase()]) {
      const reply = await wire.send("DELETE", `/keys/${spelling}`);
      expect(reply).toMatchObject({ status: 409, body: { code: "key_in_use" } });
      expect(reply.body.detail).toContain("cannot revoke itself");
    }
    expect((await wire.get("/keys")).status).toBe(200);
    expect((await admin.send("DELETE", `/keys/${id}`)).status).toBe(204);
    expect((await wire.get("/keys")).status).toBe(401);
  });

  it("finds no key of an unknown id", async () => {
    const reply = await admin.send("DELETE", `/keys/${unknownId}`);
    expect(reply).toMatchObject({ status: 404, body: { code: "key_not_found" } });
  });

  it("is an ordinary key of its organization for sessions and agents", async () => {
    const id = await member.create({ agent: "tandem/assistant" });
    expect((await admin.get(`/sessions/${id}`)).status).toBe(404);
    expect((await admin.get("/sessions?owner=organization")).body.total).toBe(0);
  });

  it("that another process revoked makes no key, even while that process trusts it from memory", async () => {
    const other = createWire((await stack.addApi()).baseUrl, "");
    const { id, key } = await make({ organization: "operators", admin: true });
    const late = createWire(other.baseUrl, key);
    expect((await late.get("/agents")).status).toBe(200);
    expect((await admin.send("DELETE", `/keys/${id}`)).status).toBe(204);
    expect((await late.post("/keys", { organization: "operators", admin: true })).status).toBe(401);
  });

  it.each([
    [{}, ["body", "organization"]],
    [{ organization: "" }, ["body", "organization"]],
    [{ organization: "x".repeat(101) }, ["body", "organization"]],
    [{ organization: "a\u0000b" }, ["body", "organization"]],
    [{ organization: "a\ud800" }, ["body", "organization"]],
    [{ organization: 5 }, ["body", "organization"]],
    [{ organization: "tandem" }, ["body", "organization"]],
    [{ organization: "a", name: "" }, ["body", "name"]],
    [{ organization: "a", name: "x".repeat(101) }, ["body", "name"]],
    [{ organization: "a", name: "two\nlines" }, ["body", "name"]],
    [{ organization: "a", name: null }, ["body", "name"]],
    [{ organization: "a", user: "\u001b[31mred" }, ["body", "user"]],
    [{ organization: "a", expires_days: 0 }, ["body", "expires_days"]],
    [{ organization: "a", expires_days: 36_501 }, ["body", "expires_days"]],
    [{ organization: "a", expires_days: 1.5 }, ["body", "expires_days"]],
    [{ organization: "a", expires_days: "30" }, ["body", "expires_days"]],
    [{ organization: "a", admin: "yes" }, ["body", "admin"]],
    [{ organization: "a", expires: 30 }, ["body", "expires"]],
  ])("is told what is wrong with %j", async (body, loc) => {
    const before = (await admin.get("/keys")).body.total;
    const reply = await admin.post("/keys", body);
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0].loc).toEqual(loc);
    expect((await admin.get("/keys")).body.total).toBe(before);
  });

  it.each([
    { organization: "é".repeat(100), name: "😀".repeat(100), user: "x".repeat(100), expires_days: 36_500 },
    { organization: "o", name: "n", user: "u", expires_days: 1 },
  ])("may use the bounds themselves", async (request) => {
    const made = await make(request);
    expect(made).toMatchObject({ name: request.name, user: request.user });
    expect((await made.wire.get("/agents")).status).toBe(200);
  });
});

describe("a key that is not admin", () => {
  it("neither sees nor makes keys: 403, and nothing takes effect", async () => {
    const before = (await admin.get("/keys")).body.total;
    const made = await member.post("/keys", { organization: "mine", admin: true });
    expect(made).toMatchObject({ status: 403, body: { code: "admin_required" } });
    expect(await member.get("/keys")).toMatchObject({ status: 403, body: { code: "admin_required" } });
    expect((await admin.get("/keys")).body.total).toBe(before);
  });

  it("finds none to revoke, whatever the id, its own included", async () => {
    const { items } = (await admin.get("/keys?organization=default")).body;
    for (const id of [items[0].id, unknownId, "no-uuid"]) {
      const reply = await member.send("DELETE", `/keys/${id}`);
      expect([id, reply.status, reply.body.code]).toEqual([id, 404, "key_not_found"]);
    }
    expect((await member.get("/agents")).status).toBe(200);
  });

  it("is what TANDEM_API_KEY names", async () => {
    const { items } = (await admin.get("/keys?organization=default")).body;
    expect(items).toMatchObject([{ name: "first", admin: false }]);
  });
});

it("a key that is revoked while the database is asked about it is not remembered as good", async () => {
  const { id, key } = await make({ organization: "acme" });
  const known = createKnownKeys(stack.engine);
  const holder = await stack.engine.pool.connect();
  try {
    await holder.query("BEGIN");
    await holder.query("UPDATE api_keys SET revoked_at = now() WHERE id = $1", [id]);
    // This look sees the key good still, and waits to write down that it was used.
    const early = known.identify(key, { isFresh: false });
    await waitFor(async () => (await countWaiting()) === 1, { what: "the look at the key to wait" });
    known.forget(id);
    // Who asks after that does not share the look that began before.
    const late = known.identify(key, { isFresh: false });
    await holder.query("COMMIT");
    expect(await early).toMatchObject({ keyId: id });
    expect(await late).toBeNull();
  } finally {
    holder.release();
  }
  expect(await known.identify(key, { isFresh: false })).toBeNull();
});

it("a key that many use at once is looked up once, and again after a failure", async () => {
  const { id, key } = await make({ organization: "acme" });
  const known = createKnownKeys(stack.engine);
  const query = vi.spyOn(stack.engine.pool, "query").mockRejectedValueOnce(new Error("away") as never);
  await expect(known.identify(key, { isFresh: false })).rejects.toThrow("away");
  query.mockClear();
  const found = await Promise.all(Array.from({ length: 200 }, () => known.identify(key, { isFresh: false })));
  expect(query).toHaveBeenCalledTimes(1);
  expect(new Set(found.map((principal) => principal?.keyId))).toEqual(new Set([id]));
  query.mockRestore();
});

async function countWaiting(): Promise<number> {
  const { rows } = await stack.engine.pool.query<{ total: number }>(
    `SELECT count(*)::int AS total FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows[0]?.total ?? 0;
}
