import { createServer } from "node:net";
import { buildApp } from "@tandem/api/app";
import { createWaiters } from "@tandem/api/waiting/waiters";
import { createEngine } from "@tandem/engine/engine";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { weatherTool } from "../support/wire.ts";
import { type CheckedWire, type Contract, createCheckedWire, createContract } from "./checked-wire.ts";
import { createScriptedModel, nobody } from "./scripted-model.ts";

/** One request of each operation under /api/v2; `{id}` and `{agent_name}` are of things that are not there. */
const requests: { method: string; path: string; body?: unknown }[] = [
  { method: "POST", path: "/sessions", body: { agent: "nobody", messages: "Hi." } },
  { method: "GET", path: "/sessions" },
  { method: "GET", path: `/sessions/${nobody}` },
  { method: "DELETE", path: `/sessions/${nobody}` },
  { method: "GET", path: `/sessions/${nobody}/status` },
  { method: "GET", path: "/sessions/quota" },
  { method: "POST", path: `/sessions/${nobody}/pause` },
  { method: "POST", path: `/sessions/${nobody}/resume` },
  { method: "POST", path: `/sessions/${nobody}/force_answer` },
  { method: "GET", path: `/sessions/${nobody}/changes` },
  { method: "GET", path: `/sessions/${nobody}/stream` },
  { method: "GET", path: `/sessions/${nobody}/events` },
  { method: "POST", path: `/sessions/${nobody}/messages`, body: { message: "Hi." } },
  {
    method: "POST",
    path: `/sessions/${nobody}/tool_results`,
    body: { tool_req: { tool_name: "x" }, result: 1 },
  },
  { method: "GET", path: `/sessions/${nobody}/tools` },
  { method: "PUT", path: `/sessions/${nobody}/tools`, body: { tools: [] } },
  {
    method: "POST",
    path: `/sessions/${nobody}/approvals`,
    body: { call_id: "call_x", decision: "allow" },
  },
  {
    method: "POST",
    path: `/sessions/${nobody}/tool_calls/call_x/progress`,
    body: { progress: 1 },
  },
  { method: "POST", path: `/sessions/${nobody}/tokens`, body: { expires_in_s: 60 } },
  { method: "GET", path: `/sessions/${nobody}/tool_calls` },
  { method: "GET", path: "/tool_calls?tools=x" },
  {
    method: "POST",
    path: `/sessions/${nobody}/tool_calls/call_x/claim`,
    body: { claimant: "me", lease_s: 60 },
  },
  { method: "POST", path: `/sessions/${nobody}/share` },
  { method: "DELETE", path: `/sessions/${nobody}/share` },
  { method: "POST", path: `/sessions/${nobody}/feedback`, body: { success: true } },
  { method: "GET", path: `/sessions/${nobody}/feedback` },
  { method: "PUT", path: `/sessions/${nobody}/events/0/feedback`, body: { success: true } },
  { method: "POST", path: "/agents", body: { name: "new", description: "New." } },
  { method: "GET", path: "/agents" },
  { method: "GET", path: "/agents/nobody" },
  { method: "PUT", path: "/agents/nobody", body: { name: "nobody", description: "New." } },
  { method: "PATCH", path: "/agents/nobody", body: { description: "New." } },
  { method: "DELETE", path: "/agents/nobody" },
  { method: "POST", path: "/tools/check", body: { model: "demo/keyword", tools: [] } },
  { method: "POST", path: "/keys", body: { organization: "acme" } },
  { method: "GET", path: "/keys" },
  { method: "DELETE", path: `/keys/${nobody}` },
];
/** The same for what needs no key. */
const link = `/shared/${"nobody".padEnd(32, "-")}`;
const publicRequests: typeof requests = [
  { method: "GET", path: link },
  { method: "GET", path: `${link}/status` },
  { method: "GET", path: `${link}/events` },
];
const withBody = requests.filter(({ body }) => body !== undefined);
const ofNothing = requests.filter(({ path }) => path.includes("nobody") || path.includes(nobody));

describe("error replies", () => {
  let contract: Contract;
  let stack: TestStack;
  /** With a key that may do everything. */
  let wire: CheckedWire;

  beforeAll(async () => {
    contract = await createContract();
    stack = await startStack({ script: createScriptedModel() });
    wire = createCheckedWire(contract, stack.baseUrl, await stack.addKey({ isAdmin: true }));
  });
  afterAll(() => stack?.close());

  it("are 401 on every route without a key and with a wrong one", async () => {
    for (const { method, path, body } of requests) {
      for (const authorization of ["", "Bearer wrong", "Basic abc"]) {
        const reply = await wire.send(method, path, { body, headers: { authorization } });
        expect([method, path, reply.status, reply.body.code]).toEqual([method, path, 401, "unauthorized"]);
      }
    }
  });

  it("are 403 for a key that is not admin where keys are managed, whatever it sends", async () => {
    const other = createCheckedWire(contract, stack.baseUrl, apiKey);
    const replies = [
      await other.get("/keys"),
      await other.get("/keys?page=0"),
      await other.post("/keys", { organization: "acme" }),
      await other.send("POST", "/keys", { text: "{" }),
    ];
    expect(replies.map(({ status, body }) => [status, body.code])).toEqual(
      replies.map(() => [403, "admin_required"]),
    );
  });

  it("are 403 for a session token on every route that is not open to every token", async () => {
    const id = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: "ask 1" });
    const { token } = (await wire.post(`/sessions/${id}/tokens`, { tools: [], expires_in_s: 60 })).body;
    const other = createCheckedWire(contract, stack.baseUrl, token);
    const isOpen = (path: string) => /\/(changes|status)$/.test(path);
    // The stream of a session that goes on does not end; test/integration/stream.test.ts reads it with a token.
    for (const { method, path, body } of requests.filter(({ path }) => !path.endsWith("/stream"))) {
      const own = path.replace(nobody, id);
      const reply = await other.send(method, own, { body });
      const wanted = isOpen(path) ? [200, undefined] : [403, "token_scope"];
      expect([method, path, reply.status, reply.body.code]).toEqual([method, path, ...wanted]);
    }
  });

  it("are 409 for what needs the content of a session whose content is removed", async () => {
    const id = await wire.create({ agent: "tandem/assistant", messages: "Hello.", ephemeral: true });
    await wire.until(id, "completed");
    await stack.engine.pool.query(
      "UPDATE sessions SET finished_at = now() - interval '1 hour' WHERE id = $1",
      [id],
    );
    const isEmpty = async () => (await wire.get(`/sessions/${id}/events`)).body.total === 0;
    await waitFor(isEmpty, { what: "the content to be removed" });
    const replies = [
      await wire.post(`/sessions/${id}/messages`, { message: "Again." }),
      await wire.post(`/sessions/${id}/tokens`, { expires_in_s: 60 }),
      await wire.send("POST", `/sessions/${id}/share`),
      await wire.post(`/sessions/${id}/feedback`, { success: true }),
      await wire.send("PUT", `/sessions/${id}/events/0/feedback`, { body: { success: true } }),
    ];
    for (const reply of replies)
      expect(reply).toMatchObject({ status: 409, body: { code: "content_removed" } });
  });

  it("are 409 for whatever is said of a call of a session that has ended", async () => {
    const id = await wire.create({ agent: "tandem/assistant", messages: "Hello." });
    await wire.until(id, "completed");
    const replies = [
      await wire.post(`/sessions/${id}/tool_calls/call_x/claim`, { claimant: "me", lease_s: 60 }),
      await wire.post(`/sessions/${id}/tool_calls/call_x/progress`, { progress: 1 }),
      await wire.post(`/sessions/${id}/approvals`, { call_id: "call_x", decision: "deny" }),
    ];
    for (const reply of replies)
      expect(reply).toMatchObject({ status: 409, body: { code: "session_finished" } });
  });

  it("are 409 for a replacement of tools while calls are open", async () => {
    const id = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: "ask 1" });
    await wire.pending(id);
    const reply = await wire.send("PUT", `/sessions/${id}/tools`, { body: { tools: [] } });
    expect(reply).toMatchObject({ status: 409, body: { code: "calls_pending" } });
  });

  it("are 404 on every route for what is not there", async () => {
    for (const { method, path, body } of [...ofNothing, ...publicRequests, ...requests.slice(0, 1)]) {
      const reply = await wire.send(method, path, { body });
      expect([method, path, reply.status]).toEqual([method, path, 404]);
    }
  });

  it("are 409 for every change of a built-in agent, and for a name that is taken", async () => {
    const path = "/agents/tandem/assistant";
    const definition = { name: "tandem/assistant", description: "Mine." };
    expect((await wire.post("/agents", { ...definition, name: "taken" })).status).toBe(201);
    const replies = [
      await wire.post("/agents", { ...definition, name: "taken" }),
      await wire.send("PUT", path, { body: definition }),
      await wire.send("PATCH", path, { body: { description: "Mine." } }),
      await wire.send("DELETE", path),
    ];
    expect(replies.map(({ status }) => status)).toEqual([409, 409, 409, 409]);
  });

  it("are 409 for a create request while another one holds its key", async () => {
    const other = await stack.engine.pool.connect();
    await other.query("BEGIN");
    await other.query(
      `INSERT INTO idempotency_keys (organization_id, key, body_hash, session_id)
       SELECT id, 'held', '', gen_random_uuid() FROM organizations WHERE name = 'default'`,
    );
    const options = { body: { agent: { name: "x" } }, headers: { "idempotency-key": "held" } };
    const reply = await wire.send("POST", "/sessions", options);
    await other.query("ROLLBACK");
    other.release();
    expect(reply).toMatchObject({ status: 409, body: { code: "idempotency_in_flight" } });
    expect(reply.headers.get("retry-after")).toBe("1");
    expect((await wire.send("POST", "/sessions", options)).status).toBe(201);
  });

  it("are 409 for a repeated create request whose session has been deleted", async () => {
    const options = { body: { agent: { name: "x" } }, headers: { "idempotency-key": "deleted" } };
    const { body } = await wire.send("POST", "/sessions", options);
    await stack.engine.pool.query("DELETE FROM sessions WHERE id = $1", [body.id]);
    const reply = await wire.send("POST", "/sessions", options);
    expect(reply).toMatchObject({ status: 409, body: { code: "session_deleted" } });
  });

  it("are 409 for an admin key that would revoke itself", async () => {
    const { body } = await wire.get("/keys");
    const own = body.items.find(({ admin }: { admin: boolean }) => admin);
    const reply = await wire.send("DELETE", `/keys/${own.id}`);
    expect(reply).toMatchObject({ status: 409, body: { code: "key_in_use" } });
  });

  it("are 409 for results and steering of a session that has ended", async () => {
    const id = await wire.create({ agent: "tandem/assistant", messages: "Hello." });
    await wire.until(id, "completed");
    const result = { tool_req: { tool_name: "x", id: "x" }, result: 1 };
    const refused = { status: 409, body: { code: "session_finished" } };
    expect(await wire.post(`/sessions/${id}/tool_results`, result)).toMatchObject(refused);
    for (const steer of ["pause", "resume", "force_answer"]) {
      expect(await wire.send("POST", `/sessions/${id}/${steer}`)).toMatchObject(refused);
    }
  });

  it("are 413 for a body over 10,000,000 bytes, on every route that takes one", async () => {
    const text = JSON.stringify({ x: "x".repeat(10_000_000) });
    for (const { method, path } of withBody) {
      const reply = await wire.send(method, path, { text });
      expect([method, path, reply.status]).toEqual([method, path, 413]);
    }
  });

  it("are 415 for a body that is not JSON, on every route that takes one", async () => {
    for (const { method, path } of withBody) {
      const reply = await wire.send(method, path, { text: "x", headers: { "content-type": "text/plain" } });
      expect([method, path, reply.status]).toEqual([method, path, 415]);
    }
  });

  it("are 422 in the reference's shape for a body of the wrong form, on every route that takes one", async () => {
    for (const { method, path } of withBody) {
      for (const text of ["{", "null", "[]", '{"description":5,"agent":5}', ""]) {
        const reply = await wire.send(method, path, { text });
        expect([method, path, text, reply.status]).toEqual([method, path, text, 422]);
        expect(reply.body.detail[0].loc[0]).toBe("body");
      }
    }
  });

  it("are 422 in the reference's shape for a wrong path or query", async () => {
    const long = "x".repeat(128);
    const wrong = [
      ...["/sessions?page=0", "/sessions?size=101", "/sessions?status=asleep", "/sessions?sort=name"],
      ...["/sessions?created_after=yesterday", "/sessions?owner=you", "/agents?size=1001", "/agents?sort=id"],
      ...[
        "/tool_calls",
        "/tool_calls?tools=x&limit=0",
        "/sessions/x/tool_calls",
        `/sessions/${nobody}/tool_calls?state=asleep`,
      ],
      ...["/sessions/x", "/sessions/x/status", "/sessions/x/changes", "/sessions/x/events"],
      ...[`/sessions/${nobody}/changes?wait_for_seconds=26`, `/sessions/${nobody}/changes?from_index=-1`],
      `/sessions/${nobody}/stream?from_index=-1`,
      ...[`/sessions/${nobody}/changes?limit=-1`, `/sessions/${nobody}/events?size=201`],
      ...["/agents/nobody?resolve=perhaps", `/agents/${long}`, "/keys?page=0", "/keys?size=101"],
      ...["/sessions/x/feedback", "/sessions/x/tools", `${link}?page=0`, `${link}/events?size=201`],
    ];
    for (const path of wrong) expect([path, (await wire.get(path)).status]).toEqual([path, 422]);
    expect((await wire.post("/sessions/x/share", undefined)).status).toBe(422);
    for (const steer of ["pause", "resume", "force_answer"]) {
      expect((await wire.send("POST", `/sessions/x/${steer}`)).status).toBe(422);
    }
    for (const path of ["/sessions/x", "/sessions/x/share", `/agents/${long}`, "/keys/x"]) {
      expect([path, (await wire.send("DELETE", path)).status]).toEqual([path, 422]);
    }
  });

  it("are 429 on every route once the key's limit is reached", async () => {
    const limited = await startStack({ worker: false, env: { TANDEM_RATE_LIMIT_PER_MINUTE: "1" } });
    try {
      const other = createCheckedWire(contract, limited.baseUrl, apiKey);
      await other.get("/agents");
      for (const { method, path, body } of requests) {
        const reply = await other.send(method, path, { body });
        expect([method, path, reply.status, reply.body.code]).toEqual([method, path, 429, "rate_limited"]);
        expect(reply.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
      }
    } finally {
      await limited.close();
    }
  });

  it("are 503 on every route while the database is out of reach", async () => {
    const { app, close } = await buildAppWithoutDatabase();
    try {
      const api = [...requests, ...publicRequests];
      const all = [...api.map((request) => ({ ...request, path: `/api/v2${request.path}` })), readiness];
      for (const { method, path, body } of all) {
        const response = await app.inject({
          method: method as "GET",
          url: path,
          headers: { authorization: "Bearer key" },
          ...(body === undefined ? {} : { payload: body as object }),
        });
        const reply = { status: response.statusCode, body: response.json() };
        expect([path, reply.status]).toEqual([path, 503]);
        expect(contract.findFaults(method, path.split("?")[0] ?? "", reply)).toEqual([]);
        expect(response.headers["retry-after"]).toMatch(/^\d+$/);
      }
    } finally {
      await close();
    }
  });

  it("were seen for every error that is documented", () => {
    // The quota takes nothing that could be wrong; the reference has a 422 on every route.
    const unseen = contract
      .listUnseen()
      .filter((reply) => / [45]\d\d$/.test(reply) && reply !== "getSessionQuota 422");
    expect(unseen).toEqual([]);
  });
});

const readiness = { method: "GET", path: "/readyz", body: undefined };

async function buildAppWithoutDatabase() {
  const log = pino({ level: "silent" });
  const databaseUrl = `postgresql://nobody@127.0.0.1:${await findClosedPort()}/none`;
  const engine = createEngine({ databaseUrl, poolMax: 2, maxActiveSessions: 0, name: "tandem-test", log });
  const waiters = createWaiters(engine, { sweepMs: 60_000 });
  const app = await buildApp({ engine, models: {}, waiters });
  const close = async () => {
    waiters.shutdown();
    await app.close();
    await engine.close();
  };
  return { app, close };
}

/** A port that was free a moment ago: connecting to it is refused at once. */
async function findClosedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  await new Promise((resolve) => server.close(resolve));
  return address.port;
}
