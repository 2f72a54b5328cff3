// The feed of pending calls: what it offers, to whom, and when it wakes.
import { readFile } from "node:fs/promises";
import { buildApp } from "@tandem/api/app";
import { createFeedWaiters } from "@tandem/api/waiting/feed-waiters";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ModelScript } from "../support/fake-model-server.ts";
import { findSlowParts } from "../support/find-slow-parts.ts";
import { recordStatements } from "../support/recorded-statements.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, type PendingCall, resultFor, type Wire } from "../support/wire.ts";

/** No sweep comes to the rescue: what wakes a feed here is a note, or the clock of a claim. */
const noSweep = { TANDEM_SWEEP_MS: "3600000" };

/** Calls the tools that the first message names, then answers. */
const script: ModelScript = ({ body }) => {
  const messages = body.messages;
  if (messages.some(({ role }) => role === "tool")) return { text: "Done." };
  const first = String(messages.find(({ role }) => role === "user")?.content);
  return { toolCalls: first.split(" ").map((name, i) => ({ name, arguments: { place: i } })) };
};

/** Agents differ in their tools, so that tests do not see each other's calls. */
const toAgent = (name: string, ...tools: string[]) => ({
  name,
  tools: tools.map((tool) => ({ name: tool, description: "Takes anything." })),
});

interface Offered {
  session_id: string;
  agent: string;
  call: PendingCall & { deadline: string | null; capability: string };
  created_at: string;
}

const read = async (wire: Wire, query: string): Promise<Offered[]> => {
  const { status, body } = await wire.get(`/tool_calls?${query}`);
  if (status !== 200) throw new Error(`The feed answered ${status}: ${JSON.stringify(body)}`);
  return body.items;
};
/** Asks and waits; with how long it took, in milliseconds. */
const wait = async (wire: Wire, query: string) => {
  const items = await read(wire, `${query}&wait_for_seconds=20`);
  return { items, at: performance.now() };
};
const claim = (wire: Wire, { session_id, call }: Offered, claimant: string, leaseS: number) =>
  wire.post(`/sessions/${session_id}/tool_calls/${call.id}/claim`, { claimant, lease_s: leaseS });
/** Resolves when the server knows of the waiting feed. */
const waitUntilWaiting = (wire: Wire, count: number) =>
  waitFor(async () => (await wire.send("GET", "//metrics")).text.includes(`tandem_waiters ${count}`), {
    what: `${count} waiting feeds`,
  });

describe.each(backends)("on %s", (backend) => {
  let stack: TestStack;
  let wire: Wire;
  /** A client of another API process than the one where things happen. */
  let afar: Wire;

  beforeAll(async () => {
    stack = await startStack({ backend, script, env: noSweep });
    wire = createWire(stack.baseUrl, apiKey);
    afar = createWire((await stack.addApi()).baseUrl, apiKey);
  });
  afterAll(() => stack.close());

  const start = async (agent: object, messages: string, more: object = {}) =>
    wire.create({ agent, messages, ...more });
  const startWaiting = async (agent: object, messages: string, more: object = {}) => {
    const id = await start(agent, messages, more);
    await wire.until(id, "awaiting_tool_results", "awaiting_approval");
    return id;
  };

  it("offers calls as the events list them, oldest first and up to the limit, and marks nothing", async () => {
    const agent = {
      ...toAgent("orders", "list_a", "list_b"),
      tool_timeout_s: 600,
    };
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push(await startWaiting(agent, "list_a list_b"));
    const items = await read(wire, "tools=list_a&tools=list_b");
    expect(items.map(({ session_id, call }) => [session_id, call.tool_name])).toEqual(
      ids.flatMap((id) => [
        [id, "list_a"],
        [id, "list_b"],
      ]),
    );
    const [first] = items;
    const [pending] = await wire.pending(ids[0] as string);
    expect(first).toEqual({
      session_id: ids[0],
      agent: "orders",
      call: pending,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(first?.call).toMatchObject({ capability: "read", deadline: expect.any(String) });
    expect(await read(wire, "tools=list_a&tools=list_b&limit=3")).toEqual(items.slice(0, 3));
    expect(await read(wire, "tools=list_b")).toHaveLength(3);
    expect(await read(wire, 'tools=["list_a","list_b"]')).toEqual(items);
    expect(await read(wire, "tools=list_c")).toEqual([]);
  });

  it("wakes within a moment when a call is asked for, on every API process", async () => {
    const feeds = [wait(wire, "tools=asked"), wait(afar, "tools=asked")];
    await waitUntilWaiting(wire, 1);
    await waitUntilWaiting(afar, 1);
    const id = await startWaiting(toAgent("x", "asked"), "asked");
    const seenAt = performance.now();
    for (const feed of feeds) {
      const { items, at } = await feed;
      expect(items).toMatchObject([{ session_id: id, call: { tool_name: "asked" } }]);
      expect(at - seenAt).toBeLessThan(1_000);
    }
  });

  it("wakes when an approval allows a call, which it did not offer before", async () => {
    const id = await startWaiting({ ...toAgent("x", "careful"), approval: "always" }, "careful");
    expect(await read(wire, "tools=careful")).toEqual([]);
    const feed = wait(afar, "tools=careful");
    await waitUntilWaiting(afar, 1);
    const [{ id: callId }] = (await wire.get(`/sessions/${id}/tool_calls`)).body.items;
    await wire.post(`/sessions/${id}/approvals`, { call_id: callId, decision: "allow", args: { place: 7 } });
    expect((await feed).items).toMatchObject([{ session_id: id, call: { id: callId, args: { place: 7 } } }]);
  });

  it("wakes when a call is allowed because nobody decided in time", async () => {
    const tool = {
      ...{ name: "undecided", description: "Takes anything.", approval: "always" },
      ...{ approval_timeout_s: 0.3, on_approval_timeout: "allow" },
    };
    const feed = wait(afar, "tools=undecided");
    await waitUntilWaiting(afar, 1);
    const id = await start({ name: "x", tools: [tool] }, "undecided");
    expect((await feed).items).toMatchObject([{ session_id: id }]);
  });

  it("hides a call while it is claimed, and wakes when the claim is given back", async () => {
    await startWaiting(toAgent("x", "given_back"), "given_back");
    const [call] = (await read(wire, "tools=given_back")) as [Offered];
    expect((await claim(wire, call, "one", 3_600)).status).toBe(200);
    expect(await read(wire, "tools=given_back")).toEqual([]);
    const feed = wait(afar, "tools=given_back");
    await waitUntilWaiting(afar, 1);
    await claim(wire, call, "one", 0);
    expect((await feed).items).toEqual([call]);
  });

  it("wakes when a claim lapses that it has seen, or that was shortened since", async () => {
    await startWaiting(toAgent("x", "lapsing"), "lapsing");
    const [call] = (await read(wire, "tools=lapsing")) as [Offered];
    await claim(wire, call, "one", 0.5);
    expect((await wait(afar, "tools=lapsing")).items).toEqual([call]);
    await claim(wire, call, "two", 3_600);
    const feed = wait(afar, "tools=lapsing");
    await waitUntilWaiting(afar, 1);
    await claim(wire, call, "two", 0.5);
    expect((await feed).items).toEqual([call]);
  });

  it("offers the calls of a paused session, and none of an ended one", async () => {
    const id = await startWaiting(toAgent("x", "paused"), "paused");
    await wire.post(`/sessions/${id}/pause`, undefined);
    const [offered] = (await read(wire, "tools=paused")) as [Offered];
    expect(offered.session_id).toBe(id);
    const reply = await wire.post(`/sessions/${id}/tool_results`, resultFor(offered.call, "Early."));
    expect(reply.body.receipts).toMatchObject([{ status: "accepted" }]);
    expect(await read(wire, "tools=paused")).toEqual([]);
    const other = await startWaiting(toAgent("x", "ended"), "ended");
    expect(await read(wire, "tools=ended")).toHaveLength(1);
    await wire.send("DELETE", `/sessions/${other}`);
    expect(await read(wire, "tools=ended")).toEqual([]);
  });

  it("is narrowed by the agent's name, and sleeps through calls of other agents and tools", async () => {
    const statements: string[] = [];
    const pool = countingPool(stack.engine.pool, statements);
    const app = await buildApp({ engine: { ...stack.engine, pool }, models: {}, waiters: noWaiters });
    const url = "/api/v2/tool_calls?tools=by_agent&agents=mine&agents=also&wait_for_seconds=20";
    const feed = app.inject({ url, headers: { authorization: `Bearer ${apiKey}` } });
    await waitFor(() => statements.length === 1, { what: "the feed's first look" });
    const theirs = await startWaiting(toAgent("theirs", "by_agent"), "by_agent");
    await startWaiting(toAgent("mine", "other_tool"), "other_tool");
    expect(statements).toHaveLength(1);
    const mine = await startWaiting(toAgent("mine", "by_agent"), "by_agent");
    expect((await feed).json().items).toMatchObject([{ session_id: mine, agent: "mine" }]);
    expect(statements).toHaveLength(2);
    await app.close();
    expect((await read(wire, "tools=by_agent")).map(({ session_id }) => session_id)).toEqual([theirs, mine]);
  });

  it("asks the database nothing while it waits, and shares what is asked when many are woken", async () => {
    const statements: string[] = [];
    const pool = countingPool(stack.engine.pool, statements);
    const app = await buildApp({ engine: { ...stack.engine, pool }, models: {}, waiters: noWaiters });
    const headers = { authorization: `Bearer ${apiKey}` };
    const ask = (waitS: number) =>
      app.inject({ url: `/api/v2/tool_calls?tools=crowd&wait_for_seconds=${waitS}`, headers });
    expect((await ask(2)).json()).toEqual({ items: [] });
    expect(statements).toHaveLength(1);
    const feeds = Array.from({ length: 50 }, () => ask(20));
    await waitFor(() => statements.length >= 2, { what: "their first look" });
    await settle(statements);
    const before = statements.length;
    const id = await startWaiting(toAgent("x", "crowd"), "crowd");
    for (const feed of feeds) expect((await feed).json().items).toMatchObject([{ session_id: id }]);
    expect(statements.length - before).toBeLessThanOrEqual(3);
    await app.close();
  });
});

describe("the feed", () => {
  let stack: TestStack;
  let wire: Wire;

  beforeAll(async () => {
    stack = await startStack({ script, env: noSweep });
    wire = createWire(stack.baseUrl, apiKey);
  });
  afterAll(() => stack.close());

  const startWaiting = async (from: Wire, tool: string, agent: object = {}) => {
    const id = await from.create({ agent: { ...toAgent("x", tool), ...agent }, messages: tool });
    await from.until(id, "awaiting_tool_results");
    return id;
  };

  it("answers waiting clients with no calls when the server closes, and takes none after that", async () => {
    const feeds = createFeedWaiters(stack.engine);
    const app = await buildApp({ engine: stack.engine, models: {}, waiters: noWaiters, feeds });
    const headers = { authorization: `Bearer ${apiKey}` };
    const waiting = app.inject({ url: "/api/v2/tool_calls?tools=nothing&wait_for_seconds=20", headers });
    await waitFor(() => feeds.size === 1, { what: "the feed to wait" });
    await app.close();
    expect((await waiting).json()).toEqual({ items: [] });
    expect(feeds.size).toBe(0);
    expect(await feeds.wait(feedOf(""), 20_000).ended).toBe("shutdown");
  });

  it("lets go of a client that has gone", async () => {
    const leave = new AbortController();
    const path = "/tool_calls?tools=nothing&wait_for_seconds=20";
    const gone = wire.send("GET", path, { signal: leave.signal }).catch((error: Error) => error.name);
    await waitUntilWaiting(wire, 1);
    leave.abort();
    expect(await gone).toBe("AbortError");
    await waitUntilWaiting(wire, 0);
  });

  it("finds at the next sweep what no note told of", async () => {
    const note = { ...stack.engine.wake, receive: () => () => undefined };
    const engine = { ...stack.engine, wake: note };
    const feeds = createFeedWaiters(engine, { sweepMs: 50 });
    const app = await buildApp({ engine, models: {}, waiters: noWaiters, feeds });
    const headers = { authorization: `Bearer ${apiKey}` };
    const ask = (query: string) =>
      app.inject({ url: `/api/v2/tool_calls?${query}&wait_for_seconds=20`, headers });
    const feed = ask("tools=swept&agents=x");
    const others = [ask("tools=swept&agents=y"), ask("tools=not_swept"), ask("tools=swept&owner=me")];
    await waitFor(() => feeds.size === 4, { what: "all to wait" });
    const ofSomebody = createWire(stack.baseUrl, await stack.addKey({ user: "somebody else" }));
    const id = await startWaiting(ofSomebody, "swept");
    expect((await feed).json().items).toMatchObject([{ session_id: id }]);
    expect(feeds.size).toBe(3);
    await app.close();
    for (const other of others) expect((await other).json()).toEqual({ items: [] });
  });

  it("shows nothing of other organizations, and of other users only what is asked for", async () => {
    const foreign = createWire(stack.baseUrl, await stack.addOrganization("other"));
    const colleague = createWire(stack.baseUrl, await stack.addKey({ user: "colleague" }));
    const feed = wait(foreign, "tools=private");
    await waitUntilWaiting(wire, 1);
    const mine = await startWaiting(wire, "private");
    const hers = await startWaiting(colleague, "private");
    expect(await read(foreign, "tools=private")).toEqual([]);
    const theirs = await startWaiting(foreign, "private");
    expect((await feed).items).toMatchObject([{ session_id: theirs }]);
    const ids = async (from: Wire, query: string) =>
      (await read(from, `tools=private${query}`)).map(({ session_id }) => session_id);
    for (const query of ["", "&owner=organization", "&owner=me-or-organization"]) {
      expect(await ids(colleague, query)).toEqual([mine, hers]);
    }
    for (const owner of ["me", "me-in-organization"]) {
      expect(await ids(colleague, `&owner=${owner}`)).toEqual([hers]);
    }
  });

  it("is refused to session tokens", async () => {
    const id = await startWaiting(wire, "of_token");
    const { token } = (await wire.post(`/sessions/${id}/tokens`, { expires_in_s: 60 })).body;
    const reply = await createWire(stack.baseUrl, token).get("/tool_calls?tools=of_token");
    expect(reply).toMatchObject({ status: 403, body: { code: "token_scope" } });
  });

  it.each([
    { what: "without tools", query: "" },
    { what: "with no tool", query: "tools=" },
    { what: "with a name that nothing can have", query: "tools=%00" },
    { what: "with half a surrogate pair", query: 'agents=["\\ud800"]&tools=a' },
    { what: "with a limit of nothing", query: "tools=a&limit=0" },
    { what: "with a limit over a thousand", query: "tools=a&limit=1001" },
    { what: "with a wait over 25 s", query: "tools=a&wait_for_seconds=26" },
    { what: "of somebody", query: "tools=a&owner=you" },
  ])("is 422 $what", async ({ query }) => {
    expect((await wire.get(`/tool_calls?${query}`)).status).toBe(422);
  });

  it("offers no more at once than one reply should hold, and a call that is larger alone", async () => {
    const big = "x".repeat(4_000_000);
    for (const size of [1, 1, 1, 3]) {
      const id = await startWaiting(wire, "big");
      await stack.engine.pool.query("UPDATE tool_calls SET args = $2 WHERE session_id = $1", [
        id,
        JSON.stringify({ big: big.repeat(size) }),
      ]);
    }
    const sizes = async () => (await read(wire, "tools=big")).map(({ call }) => JSON.stringify(call).length);
    expect(await sizes()).toHaveLength(2);
    for (const call of await read(wire, "tools=big")) await claim(wire, call, "one", 600);
    expect(await sizes()).toHaveLength(1);
    for (const call of await read(wire, "tools=big")) await claim(wire, call, "one", 600);
    const [last, ...more] = await sizes();
    expect(last).toBeGreaterThan(12_000_000);
    expect(more).toEqual([]);
  });

  it("costs the same however many calls of other organizations and tools wait", async () => {
    const organization = createWire(stack.baseUrl, await stack.addOrganization("busy"));
    const theirs = await startWaiting(organization, "shared_name");
    const mine = await startWaiting(wire, "shared_name");
    const { pool } = stack.engine;
    for (const [id, tool] of [
      [theirs, "shared_name"],
      [mine, "another_name"],
    ]) {
      await pool.query(
        `INSERT INTO tool_calls (session_id, id, step, position, tool_name, args)
         SELECT $1, i, 0, i, $2, '{}' FROM generate_series(1, 5000) AS i`,
        [id, tool],
      );
    }
    await pool.query("VACUUM ANALYZE tool_calls");
    const recording = recordStatements();
    const feeds = createFeedWaiters(stack.engine, { sweepMs: 20 });
    const { rows } = await pool.query("SELECT id FROM organizations WHERE name = 'default'");
    const waiter = feeds.wait({ ...feedOf(rows[0].id), toolNames: ["shared_name"] }, 20_000);
    expect(await waiter.ended).toBe("woken");
    expect(await read(wire, "tools=shared_name")).toMatchObject([{ session_id: mine }]);
    const { body } = await wire.get("/tool_calls?tools=shared_name&agents=nobody&wait_for_seconds=1");
    expect(body.items).toEqual([]);
    feeds.shutdown();
    recording.stop();
    const statements = recording.statements.filter(isAboutFeeds);
    expect(statements.length).toBeGreaterThanOrEqual(3);
    const client = new pg.Client({ connectionString: stack.databaseUrl });
    await client.connect();
    const findAll = async () =>
      (await Promise.all(statements.map((statement) => findSlowParts(client, statement)))).flat();
    expect(await findAll()).toEqual([]);
    await client.query("BEGIN");
    await client.query("DROP INDEX tool_calls_feed_idx");
    expect(await findAll()).not.toEqual([]);
    await client.query("ROLLBACK");
    await client.end();
  });

  it("offers no call whose time is over", async () => {
    const id = await startWaiting(wire, "late", { tool_timeout_s: 600 });
    await stack.engine.pool.query("UPDATE tool_calls SET deadline_at = now() WHERE session_id = $1", [id]);
    expect(await read(wire, "tools=late")).toEqual([]);
  });

  it("offers calls that a process of the version before has written, or had written before the migration", async () => {
    const id = await startWaiting(wire, "older");
    const { pool } = stack.engine;
    await pool.query(
      `INSERT INTO tool_calls (session_id, id, step, position, tool_name, args)
       SELECT session_id, 'written by the version before', step, 1, tool_name, args FROM tool_calls WHERE session_id = $1`,
      [id],
    );
    expect(await read(wire, "tools=older")).toHaveLength(2);
    await pool.query("ALTER TABLE tool_calls DISABLE TRIGGER tool_calls_organization");
    await pool.query("UPDATE tool_calls SET organization_id = NULL WHERE session_id = $1", [id]);
    await pool.query("ALTER TABLE tool_calls ENABLE TRIGGER tool_calls_organization");
    expect(await read(wire, "tools=older")).toEqual([]);
    const file = "../../prisma/migrations/20261130170010_call_owners_of_open_calls/migration.sql";
    await pool.query(await readFile(new URL(file, import.meta.url), "utf8"));
    expect(await read(wire, "tools=older")).toHaveLength(2);
  });
});

const feedOf = (organizationId: string) => ({
  organizationId,
  toolNames: ["nothing"],
  agentNames: null,
  userName: null,
});

const noWaiters = {
  size: 0,
  wait: () => {
    throw new Error("Nobody waits for a session here.");
  },
  isShutDown: false,
  shutdown: () => undefined,
};

const isAboutFeeds = ({ text }: { text: string }) =>
  text.includes("lapsesInMs") || text.includes("json_to_recordset");

/** The pool, with a list of the statements about feeds. */
function countingPool(pool: pg.Pool, statements: string[]): pg.Pool {
  return new Proxy(pool, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (name !== "query") return typeof value === "function" ? value.bind(target) : value;
      return (config: { text?: string } | string, ...rest: unknown[]) => {
        const text = typeof config === "string" ? config : (config.text ?? "");
        if (isAboutFeeds({ text })) statements.push(text);
        return Reflect.apply(value, target, [config, ...rest]);
      };
    },
  });
}

/** Waits until no more statements come. */
async function settle(statements: string[]): Promise<void> {
  let seen = -1;
  await waitFor(
    () => {
      const isStill = seen === statements.length;
      seen = statements.length;
      return isStill;
    },
    { what: "the statements to end" },
  );
}
