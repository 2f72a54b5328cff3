import { buildApp } from "@tandem/api/app";
import { createKnownKeys } from "@tandem/api/known-keys";
import { createWaiters } from "@tandem/api/waiting/waiters";
import { sweepExpired } from "@tandem/engine/commands/sweep";
import { hashApiKey } from "@tandem/engine/domain/api-keys";
import { newSessionToken } from "@tandem/engine/domain/session-tokens";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listRoutes, readOpenApi } from "../contract/checked-wire.ts";
import { lastToolResults } from "../support/fake-model-server.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, type PendingCall, resultFor, type Wire } from "../support/wire.ts";

const toolNames = ["look", "find"];
const tools = toolNames.map((name) => ({ name, description: "Takes anything." }));
const nobody = "0190f5e2-0000-7000-8000-000000000000";

let stack: TestStack;
let wire: Wire;

beforeAll(async () => {
  stack = await startStack({
    script: (request) =>
      lastToolResults(request).length > 0
        ? { text: "Done." }
        : { toolCalls: toolNames.map((name) => ({ name, arguments: { of: "x" } })) },
  });
  wire = createWire(stack.baseUrl, apiKey);
});
afterAll(() => stack.close());

const query = async (text: string, ...values: unknown[]) =>
  (await stack.engine.pool.query(text, values)).rows;

/** A session that waits for both of its tools. */
async function start(owner = wire): Promise<{ id: string; look: PendingCall; find: PendingCall }> {
  const id = await owner.create({ agent: { name: "x", tools }, messages: "Hi" });
  await owner.until(id, "awaiting_tool_results");
  const [look, find] = (await owner.pending(id)) as [PendingCall, PendingCall];
  return { id, look, find };
}

/** A token of a session, as a browser uses it. */
async function makeToken(id: string, more: object = {}, owner = wire): Promise<Wire & { token: string }> {
  const reply = await owner.post(`/sessions/${id}/tokens`, { expires_in_s: 600, ...more });
  expect(reply.status).toBe(201);
  return { ...createWire(stack.baseUrl, reply.body.token), token: reply.body.token };
}

const post = (of: Wire, id: string, body: unknown) => of.post(`/sessions/${id}/tool_results`, body);
const statesOf = (id: string) =>
  query("SELECT tool_name AS name, state FROM tool_calls WHERE session_id = $1 ORDER BY position", id);
const scopeError = { status: 403, body: { code: "token_scope" } };

describe("a session token", () => {
  it("is 256 random bits with a prefix, told once with its end, and stored as a hash", async () => {
    const { id } = await start();
    const reply = await wire.post(`/sessions/${id}/tokens`, { tools: ["look"], expires_in_s: 86_400 });
    expect(reply).toMatchObject({
      status: 201,
      body: { token: expect.stringMatching(/^tds_[A-Za-z0-9_-]{43}$/), expires_at: expect.any(String) },
    });
    expect(Object.keys(reply.body)).toEqual(["token", "expires_at"]);
    expect(Date.parse(reply.body.expires_at) - Date.now()).toBeCloseTo(86_400_000, -5);
    const rows = await query("SELECT * FROM session_tokens WHERE session_id = $1", id);
    expect(rows).toMatchObject([{ token_hash: hashApiKey(reply.body.token), tools: ["look"] }]);
    expect(JSON.stringify(rows)).not.toContain(reply.body.token);
  });

  it("runs a whole session: changes, status, claims, and results of its tools", async () => {
    const { id, look, find } = await start();
    const browser = await makeToken(id);
    expect((await browser.get(`/sessions/${id}/status`)).body.status).toBe("awaiting_tool_results");
    expect(await browser.pending(id.toUpperCase())).toEqual([look, find]);
    const claim = { claimant: "browser", lease_s: 60 };
    expect((await browser.post(`/sessions/${id}/tool_calls/${look.id}/claim`, claim)).status).toBe(200);
    expect((await post(browser, id, resultFor(look, 1))).status).toBe(202);
    expect((await post(browser, id, resultFor(find, 2))).body.resumed).toBe(true);
    expect((await browser.until(id, "completed")).answer).toBe("Done.");
    expect(await post(browser, id, resultFor(find, 2))).toMatchObject({
      status: 409,
      body: { code: "session_finished" },
    });
  });

  it("is closed to every route of the document but those that are opened", async () => {
    const { id, look } = await start();
    const browser = await makeToken(id);
    const open = new Set([
      "GET /api/v2/sessions/{id}/changes",
      "GET /api/v2/sessions/{id}/status",
      "POST /api/v2/sessions/{id}/tool_results",
      "POST /api/v2/sessions/{id}/tool_calls/{call_id}/claim",
      "POST /api/v2/sessions/{id}/tool_calls/{call_id}/progress",
      "GET /api/v2/sessions/{id}/stream",
    ]);
    const routes = listRoutes(await readOpenApi()).filter(
      ({ path }) => path.startsWith("/api/v2/") && !path.includes("/shared/"),
    );
    expect(routes.length).toBeGreaterThan(25);
    const values: Record<string, string> = { id, call_id: look.id, event_index: "0", agent_name: "x" };
    for (const { method, path } of routes.filter((route) => !open.has(`${route.method} ${route.path}`))) {
      const url = path.replaceAll(/\{(\w+)\}/g, (_, name) => values[name] ?? "x");
      const reply = await browser.send(method, url, method === "GET" ? {} : { text: "{" });
      expect([method, path, reply.status, reply.body.code]).toEqual([method, path, 403, "token_scope"]);
      expect(reply.body.detail).toMatch(/session token may read .* this takes an API key/);
    }
    expect((await wire.get(`/sessions/${id}/status`)).body.status).toBe("awaiting_tool_results");
  });

  it("finds no other session, of its organization or another, there or not, on any route and for any verb", async () => {
    const { id } = await start();
    const browser = await makeToken(id);
    const acme = createWire(stack.baseUrl, await stack.addKey({ organization: "acme" }));
    const foreign = await start(acme);
    for (const other of [(await start()).id, foreign.id, nobody, "x"]) {
      for (const [method, path] of [
        ["GET", "/changes?wait_for_seconds=20"],
        ["GET", "/status"],
        ["HEAD", "/status"],
        ["GET", ""],
        ["GET", "/events"],
        ["POST", "/tool_results"],
        ["POST", "/tool_calls/x/claim"],
        ["POST", "/tokens"],
        ["POST", "/messages"],
        ["POST", "/share"],
        ["DELETE", ""],
      ]) {
        const reply = await browser.send(String(method), `/sessions/${other}${path}`);
        expect([method, path, reply.status]).toEqual([method, path, 404]);
        if (method !== "HEAD") expect(reply.body.code).toBe("session_not_found");
      }
    }
    expect((await acme.post(`/sessions/${id}/tokens`, { expires_in_s: 60 })).status).toBe(404);
    expect(
      await makeToken(foreign.id, {}, acme).then((of) => of.get(`/sessions/${id}/status`)),
    ).toMatchObject({
      status: 404,
    });
  });

  it("answers calls of its tools alone, and a batch with another one is refused as a whole", async () => {
    const { id, look, find } = await start();
    const browser = await makeToken(id, { tools: ["look"] });
    const foreign = [
      resultFor(find, 1),
      { error: "No.", origin: "client", tool_req: find },
      { tool_req: { tool_name: "find", args: find.args }, result: 1 },
      { type: "batch", results: [resultFor(look, 1), resultFor(find, 1)] },
      {
        type: "batch",
        results: [resultFor(look, 1), resultFor({ ...look, id: "call_x", tool_name: "invented" }, 1)],
      },
    ];
    for (const body of foreign) expect(await post(browser, id, body)).toMatchObject(scopeError);
    expect((await post(browser, id, foreign[0])).body.detail).toContain(
      '"find"; it may answer calls of look',
    );
    const renamed = resultFor({ ...find, tool_name: "look" }, 1);
    for (const body of [renamed, { type: "batch", results: [resultFor(look, 1), renamed] }]) {
      const reply = await post(browser, id, body);
      expect([reply.status, reply.body.detail[0].type]).toEqual([422, "tool_name_mismatch"]);
    }
    // Without an id it is the call of that name, and there is none with these arguments.
    expect(
      (await post(browser, id, { tool_req: { tool_name: "look", args: { of: "y" } }, result: 1 })).status,
    ).toBe(404);
    expect(await statesOf(id)).toMatchObject([{ state: "pending" }, { state: "pending" }]);
    expect(
      await browser.post(`/sessions/${id}/tool_calls/${find.id}/claim`, { claimant: "b", lease_s: 9 }),
    ).toMatchObject(scopeError);
    expect((await post(browser, id, resultFor(look, 1))).body).toMatchObject({ pending: [find.id] });
  });

  it("with an empty list of tools only reads, whatever it sends", async () => {
    const { id, look } = await start();
    const reader = await makeToken(id, { tools: [] });
    expect((await reader.get(`/sessions/${id}/changes`)).status).toBe(200);
    for (const body of [resultFor(look, 1), {}, undefined]) {
      const reply = await post(reader, id, body);
      expect(reply).toMatchObject(scopeError);
      expect(reply.body.detail).toContain("and nothing else");
    }
    const claim = await reader.post(`/sessions/${id}/tool_calls/${look.id}/claim`, {});
    expect(claim).toMatchObject(scopeError);
  });

  it.each([
    [{}, "expires_in_s"],
    [{ expires_in_s: 0 }, "expires_in_s"],
    [{ expires_in_s: 86_401 }, "expires_in_s"],
    [{ expires_in_s: 1.5 }, "expires_in_s"],
    [{ expires_in_s: 60, tools: null }, "tools"],
    [{ expires_in_s: 60, tools: "look" }, "tools"],
    [{ expires_in_s: 60, tool: ["look"] }, "tool"],
  ])("is not made from %j", async (body, field) => {
    const { id } = await start();
    const reply = await wire.post(`/sessions/${id}/tokens`, body);
    expect([reply.status, reply.body.detail[0].loc]).toEqual([422, ["body", field]]);
  });

  it("is not made for a tool that the session does not have, which is named", async () => {
    const { id } = await start();
    const body = { tools: ["look", "invented", "search_tools"], expires_in_s: 60 };
    const reply = await wire.post(`/sessions/${id}/tokens`, body);
    expect(reply.status).toBe(422);
    expect(reply.body.detail).toMatchObject([
      { loc: ["body", "tools", 1], msg: 'the session has no tool "invented"' },
      { loc: ["body", "tools", 2] },
    ]);
    expect(await query("SELECT 1 FROM session_tokens WHERE session_id = $1", id)).toEqual([]);
  });

  it("is neither logged nor told in an error", async () => {
    const lines: string[] = [];
    const log = pino({ level: "trace" }, { write: (line) => void lines.push(line) });
    const waiters = createWaiters(stack.engine, { sweepMs: 60_000 });
    const app = await buildApp({ engine: { ...stack.engine, log }, models: {}, waiters });
    try {
      const { id } = await start();
      const { token } = await makeToken(id);
      for (const [sent, wanted] of [
        [token, 403],
        [newSessionToken(), 401],
      ] as const) {
        const headers = { authorization: `Bearer ${sent}` };
        const reply = await app.inject({ method: "GET", url: `/api/v2/sessions/${id}/events`, headers });
        expect(reply.statusCode).toBe(wanted);
        expect(reply.body).not.toContain("tds_");
      }
      const headers = { authorization: `Bearer ${apiKey}` };
      const payload = { expires_in_s: 60 };
      await app.inject({ method: "POST", url: `/api/v2/sessions/${id}/tokens`, headers, payload });
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.join("")).not.toContain("tds_");
    } finally {
      waiters.shutdown();
      await app.close();
    }
  });
});

describe("a session token ends", () => {
  it("at its time, to the second, however lately it was used", async () => {
    const { id } = await start();
    const before = Date.now();
    const browser = await makeToken(id, { expires_in_s: 1 });
    const poll = `/sessions/${id}/changes?from_index=100&wait_for_seconds=20`;
    expect((await browser.get(`/sessions/${id}/status`)).status).toBe(200);
    // A poll that waits does not outlive it.
    expect((await browser.get(poll)).status).toBe(204);
    expect(Date.now() - before).toBeGreaterThan(900);
    expect(Date.now() - before).toBeLessThan(10_000);
    await waitFor(async () => (await browser.get(`/sessions/${id}/status`)).status === 401, {
      what: "the token to end",
      timeoutMs: 2_000,
    });
    expect((await browser.get(poll)).body.detail).toBe("The session token is unknown, expired or revoked.");
    expect((await post(browser, id, {})).status).toBe(401);
  });

  it("with its session", async () => {
    const { id } = await start();
    const browser = await makeToken(id);
    expect((await browser.get(`/sessions/${id}/status`)).status).toBe(200);
    await query("DELETE FROM sessions WHERE id = $1", id);
    expect((await browser.get(`/sessions/${id}/status`)).status).toBe(404);
    const fresh = createKnownKeys(stack.engine);
    expect(await fresh.identify(browser.token, { isFresh: false })).toBeNull();
    expect(await query("SELECT 1 FROM session_tokens WHERE session_id = $1", id)).toEqual([]);
  });

  it("when the key that made it is revoked, at once in the process that does it", async () => {
    const admin = createWire(stack.baseUrl, await stack.addKey({ organization: "ops", isAdmin: true }));
    const { id: keyId, key } = (await admin.post("/keys", { organization: "default" })).body;
    const { id, look } = await start();
    const browser = await makeToken(id, {}, createWire(stack.baseUrl, key));
    const lasting = await makeToken(id);
    expect((await browser.get(`/sessions/${id}/status`)).status).toBe(200);
    await admin.send("DELETE", `/keys/${keyId}`);
    expect((await browser.get(`/sessions/${id}/status`)).status).toBe(401);
    expect((await post(browser, id, resultFor(look, 1))).status).toBe(401);
    expect((await lasting.get(`/sessions/${id}/status`)).status).toBe(200);
  });

  it("with the key that made it when that ends first, and says so", async () => {
    const key = await stack.addKey({ name: "short" });
    await query(
      "UPDATE api_keys SET expires_at = now() + interval '1 minute' WHERE key_hash = $1",
      hashApiKey(key),
    );
    const { id } = await start();
    const { body } = await createWire(stack.baseUrl, key).post(`/sessions/${id}/tokens`, {
      expires_in_s: 86_400,
    });
    expect(Date.parse(body.expires_at) - Date.now()).toBeLessThan(61_000);
    await query("UPDATE api_keys SET expires_at = now() WHERE key_hash = $1", hashApiKey(key));
    expect((await createWire(stack.baseUrl, body.token).get(`/sessions/${id}/status`)).status).toBe(401);
  });

  it("and is forgotten by the sweep after that, not before", async () => {
    const { id } = await start();
    const [ended, lasting] = [await makeToken(id), await makeToken(id)];
    await query(
      "UPDATE session_tokens SET expires_at = now() - interval '1 s' WHERE token_hash = $1",
      hashApiKey(ended.token),
    );
    await sweepExpired(stack.engine);
    const rows = await query("SELECT token_hash FROM session_tokens WHERE session_id = $1", id);
    expect(rows).toEqual([{ token_hash: hashApiKey(lasting.token) }]);
  });
});

describe("beside session tokens", () => {
  it("health, metrics and public links ask for none and take any", async () => {
    const { id } = await start();
    const browser = await makeToken(id);
    const link = (await wire.post(`/sessions/${id}/share`, undefined)).body.share_url;
    for (const path of ["//healthz", "//readyz", "//metrics", new URL(link).pathname])
      expect([path, (await browser.get(path)).status]).toEqual([path, 200]);
  });

  it("a key that somebody chose in the form of a token is a key", async () => {
    const key = newSessionToken();
    await query(
      `INSERT INTO api_keys (organization_id, name, user_name, key_hash)
       SELECT organization_id, 'chosen', user_name, $1 FROM api_keys LIMIT 1`,
      hashApiKey(key),
    );
    expect((await createWire(stack.baseUrl, key).get("/agents")).status).toBe(200);
  });

  it("a browser of any origin may send one", async () => {
    const { id } = await start();
    const browser = await makeToken(id);
    const path = `/sessions/${id}/tool_results`;
    const origin = { origin: "https://app.example" };
    const asked = await browser.send("OPTIONS", path, {
      headers: {
        ...origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
      },
    });
    expect(asked.status).toBe(204);
    expect(asked.headers.get("access-control-allow-headers")).toContain("authorization");
    const reply = await browser.send("GET", `/sessions/${id}/status`, { headers: origin });
    expect(reply.headers.get("access-control-allow-origin")).toBe("https://app.example");
  });

  it("rate limits count each token as a key of its own", async () => {
    const limited = await startStack({ worker: false, env: { TANDEM_RATE_LIMIT_PER_MINUTE: "4" } });
    try {
      const owner = createWire(limited.baseUrl, apiKey);
      const id = await owner.create({ agent: { name: "x" }, messages: "Hi" });
      const tokens: string[] = [];
      for (let i = 0; i < 2; i++)
        tokens.push((await owner.post(`/sessions/${id}/tokens`, { expires_in_s: 60 })).body.token);
      for (const token of [...tokens]) {
        const statuses: number[] = [];
        for (const path of ["/status", "/status", "", "/status", "/status"])
          statuses.push((await createWire(limited.baseUrl, token).get(`/sessions/${id}${path}`)).status);
        expect(statuses).toEqual([200, 200, 403, 200, 429]);
      }
      expect((await owner.get(`/sessions/${id}/status`)).status).toBe(200);
    } finally {
      await limited.close();
    }
  });
});
