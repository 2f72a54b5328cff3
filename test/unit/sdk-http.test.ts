// What a client does with requests and replies, whatever the operation.
import { getEventListeners } from "node:events";
import { APIError, ConnectionError, TandemClient, type TandemClientOptions, TimeoutError } from "@tandem/sdk";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { retryDelayMs } from "../../apps/sdk/src/retry.ts";
import {
  type FakeReply,
  type FakeTandemServer,
  fakeSessionId,
  startFakeTandemServer,
} from "../support/fake-tandem-server.ts";

let server: FakeTandemServer;

beforeEach(async () => {
  server = await startFakeTandemServer();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  await server.close();
});

const path = { id: fakeSessionId };
const newClient = (options: TandemClientOptions = {}) =>
  new TandemClient({ baseUrl: server.baseUrl, apiKey: "key", ...options });
/** Answers every request with these, in order, the last one over and over. */
const answerWith = (...replies: FakeReply[]) => {
  server.intercept = () => (replies.length > 1 ? replies.shift() : replies[0]);
};
const busy = (status: number) => ({ status, headers: { "retry-after": "0" } });

describe("a session's creation", () => {
  it("with an idempotency key carries it, and is tried again after an outage", async () => {
    answerWith(busy(503), busy(504), { status: 201, body: { id: fakeSessionId } });
    const session = await newClient().startSession({ agent: "a", idempotencyKey: "order-7" });
    expect(session.id).toBe(fakeSessionId);
    expect(server.requests.map(({ headers }) => headers["idempotency-key"])).toEqual(
      Array(3).fill("order-7"),
    );
  });

  it("with a key is not repeated after a 409", async () => {
    const body = { detail: "Under way.", code: "idempotency_in_flight", request_id: "r" };
    answerWith({ ...busy(409), body });
    const creation = newClient().startSession({ agent: "a", idempotencyKey: "order-7" });
    await expect(creation).rejects.toMatchObject({ status: 409, code: "idempotency_in_flight" });
    expect(server.requests).toHaveLength(1);
  });

  it("without one is not repeated: it might start twice", async () => {
    answerWith(busy(503), { status: 201, body: { id: fakeSessionId } });
    await expect(newClient().startSession({ agent: "a" })).rejects.toMatchObject({ status: 503 });
    expect(server.requests).toHaveLength(1);
  });
});

describe("an operation", () => {
  it("takes path, query and body, and gives the data", async () => {
    answerWith({ status: 200, body: { items: [], total: 0, page: 1 } });
    const query = { status: ["running" as const, "idle" as const], size: 5 };
    expect(await newClient().listSessions({ query })).toEqual({ items: [], total: 0, page: 1 });
    expect(server.requests[0]?.query.getAll("status")).toEqual(["running", "idle"]);
    expect(server.requests[0]?.query.get("size")).toBe("5");
  });

  it("gives null where there is nothing new", async () => {
    expect(await newClient().session(fakeSessionId).changes()).toBeNull();
    expect(await newClient().getSessionChanges({ path })).toBeNull();
  });

  it("takes a name with a slash as one segment of the path", async () => {
    answerWith({ status: 200, body: { name: "acme/helper" } });
    await newClient().getAgent({ path: { agent_name: "acme/helper" } });
    expect(server.requests[0]?.path).toBe("/agents/acme%2Fhelper");
  });

  it("sends the key and the client's headers", async () => {
    answerWith({ status: 200, body: {} });
    await newClient({ headers: { "x-trace": "t-1" } }).getSession({ path });
    expect(server.requests[0]?.headers).toMatchObject({ authorization: "Bearer key", "x-trace": "t-1" });
  });

  it("is sent by the given fetch", async () => {
    const seen: string[] = [];
    const fetch: typeof globalThis.fetch = async (input) => {
      seen.push(new Request(input).url);
      return Response.json({ status: "ok" });
    };
    expect(await newClient({ fetch }).getHealth()).toEqual({ status: "ok" });
    expect(seen).toEqual([`${server.baseUrl}/healthz`]);
  });

  it("leaves no listener on its signal, however many there are", async () => {
    answerWith({ status: 200, body: { id: fakeSessionId } });
    const { signal } = new AbortController();
    const client = newClient();
    for (let calls = 0; calls < 20; calls += 1) await client.getSession({ path, signal });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("is aborted by its signal, with the signal's reason", async () => {
    answerWith("hang");
    const signal = AbortSignal.timeout(50);
    await expect(newClient().getSession({ path, signal })).rejects.toMatchObject({ name: "TimeoutError" });
    await expect(newClient().getSession({ path, signal })).rejects.toBe(signal.reason);
  });
});

describe("the settings", () => {
  it("come from the environment where they are not given", async () => {
    vi.stubEnv("TANDEM_BASE_URL", server.baseUrl);
    vi.stubEnv("TANDEM_API_KEY", "from-env");
    answerWith({ status: 200, body: {} });
    await new TandemClient().getSession({ path });
    expect(server.requests[0]?.headers.authorization).toBe("Bearer from-env");
  });

  it.each(["/", "/api/v2", "/api/v2/"])("take a base URL that ends with %s", async (ending) => {
    await newClient({ baseUrl: server.baseUrl + ending }).getSession({ path });
    expect(server.requests[0]?.path).toBe(`/sessions/${fakeSessionId}`);
  });

  it("are refused without a key, unless a header stands in for it", () => {
    vi.stubEnv("TANDEM_API_KEY", undefined);
    expect(() => new TandemClient()).toThrow("No API key: give `apiKey`, or set TANDEM_API_KEY");
    expect(() => new TandemClient({ headers: { Authorization: "Bearer x" } })).not.toThrow();
  });

  it("refuses a key that no header can carry, and does not show it", () => {
    for (const apiKey of ["tdm_secret\n", "tdm secret", "tdm_s\u00e9cret", "tdm_\u0000"]) {
      expect(() => new TandemClient({ apiKey })).toThrow(
        /^The API key holds a space, a line end or the like$/,
      );
    }
  });

  it.each(["127.0.0.1:3000", "ftp://host", "http://"])("are refused with the base URL %s", (baseUrl) => {
    expect(() => newClient({ baseUrl })).toThrow("baseUrl must be an http or https URL");
  });

  it("do without an environment, as in a browser", () => {
    vi.stubGlobal("process", undefined);
    expect(() => new TandemClient({ apiKey: "key" })).not.toThrow();
  });
});

describe("an error", () => {
  it("leads with the server's words, and keeps what a program needs", async () => {
    const body = { detail: "There is no session x.", code: "session_not_found", request_id: "req-7" };
    answerWith({ status: 404, body });
    const error = await newClient()
      .getSession({ path })
      .catch((error: unknown) => error);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({
      message: "There is no session x. (404 session_not_found)",
      status: 404,
      code: "session_not_found",
      detail: "There is no session x.",
      requestId: "req-7",
      retryAfter: null,
    });
  });

  it("of validation leads with the place of the first fault", async () => {
    const detail = [
      { loc: ["body", "agent", "tools", 0, "name"], msg: "must be a string", type: "type" },
      { loc: ["body", "max_steps"], msg: "must be at least 1", type: "minimum" },
    ];
    answerWith({ status: 422, body: { detail, code: "invalid_request", request_id: "req-7" } });
    await expect(newClient().createSession({ body: { agent: "a" } })).rejects.toMatchObject({
      message: "body.agent.tools.0.name: must be a string, and 1 more (422 invalid_request)",
      detail,
    });
  });

  it("does not say the place twice when the server's words begin with it", async () => {
    const detail = [{ loc: ["path", "id"], msg: "id must be a UUID", type: "format" }];
    answerWith({ status: 422, body: { detail, code: "invalid_request", request_id: "req-7" } });
    await expect(newClient().getSession({ path })).rejects.toMatchObject({
      message: "id must be a UUID (422 invalid_request)",
    });
  });

  it.each<[string, FakeReply, string]>([
    [
      "a proxy's page",
      { status: 403, text: "<html>", headers: { "content-type": "text/html" } },
      "Forbidden (HTTP 403)",
    ],
    [
      "a proxy's text",
      { status: 403, text: "Go away", headers: { "content-type": "text/plain" } },
      "Go away (HTTP 403)",
    ],
    ["another shape", { status: 404, body: { message: "Missing" } }, "Missing (HTTP 404)"],
    ["an empty body", { status: 400 }, "Bad Request (HTTP 400)"],
  ])("can be made of %s", async (_, reply, message) => {
    answerWith(reply);
    await expect(newClient().getSession({ path })).rejects.toMatchObject({ name: "APIError", message });
  });

  it("is one of the connection when a reply was cut short, though nothing told its length", async () => {
    const cut = (text: string): FakeReply => ({
      status: 200,
      text,
      headers: { "content-type": "application/json" },
    });
    answerWith(cut('{"id": "018'), cut(""), { status: 200, body: { id: fakeSessionId } });
    expect(await newClient().getSession({ path })).toEqual({ id: fakeSessionId });
    answerWith(cut("{"));
    await expect(newClient({ maxRetries: 0 }).getSession({ path })).rejects.toBeInstanceOf(ConnectionError);
  });

  it("says when a success is not JSON", async () => {
    answerWith({ status: 200, text: "<html>" });
    await expect(newClient().getSession({ path })).rejects.toThrow("that is not JSON");
  });

  it("of the connection keeps its cause", async () => {
    const client = newClient({ maxRetries: 0 });
    await server.close();
    const error = await client.getSession({ path }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({
      message: expect.stringContaining("ECONNREFUSED"),
      cause: expect.any(Error),
    });
    server = await startFakeTandemServer();
  });

  it("names a request that took too long", async () => {
    answerWith("hang");
    const error = await newClient({ timeoutMs: 50, maxRetries: 0 })
      .getSession({ path })
      .catch((error: unknown) => error);
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ message: expect.stringMatching(/^GET .* had no reply within 50 ms$/) });
  });

  it("of time does not count what a long poll asks for", async () => {
    const client = newClient({ timeoutMs: 50, maxRetries: 0 });
    const polling = client.session(fakeSessionId).changes({ waitForSeconds: 20 });
    server.intercept = (request) => (request.path.endsWith("/changes") ? undefined : "hang");
    for (const _ of ["once", "twice"])
      await expect(client.getSession({ path })).rejects.toThrow(TimeoutError);
    server.answer("Hi.");
    expect(await polling).toMatchObject({ answer: "Hi." });
  });

  it("comes before a body that no server takes is sent", async () => {
    const messages = "x".repeat(10_000_001);
    await expect(newClient().createSession({ body: { agent: "a", messages } })).rejects.toMatchObject({
      status: 413,
    });
    expect(server.requests).toEqual([]);
  });
});

describe("a failed request", () => {
  const get = (client: TandemClient) => client.getSession({ path });
  const create = (client: TandemClient) => client.createSession({ body: { agent: "a" } });
  const change = (client: TandemClient) => client.updateAgent({ path: { agent_name: "a" }, body: {} });
  const remove = (client: TandemClient) => client.cancelSession({ path });
  const submit = (client: TandemClient) =>
    client.submitToolResults({ path, body: { error: "e", origin: "client", tool_req: { tool_name: "t" } } });

  it.each<[string, (client: TandemClient) => Promise<unknown>, FakeReply]>([
    ["GET after 500", get, busy(500)],
    ["GET after 503", get, busy(503)],
    ["GET after a broken connection", get, "disconnect"],
    ["DELETE after 502", remove, busy(502)],
    ["POST after 429", create, busy(429)],
    ["POST after 408", create, busy(408)],
    ["POST of results after 502", submit, busy(502)],
    ["POST of results after 503", submit, busy(503)],
    ["POST of results after 504", submit, busy(504)],
    ["POST of results after a broken connection", submit, "disconnect"],
  ])("is repeated: %s", async (_, request, failure) => {
    answerWith(failure, { status: 200, body: { ok: true } });
    await expect(request(newClient())).resolves.toBeDefined();
    expect(server.requests).toHaveLength(2);
    expect(server.requests[1]?.body).toEqual(server.requests[0]?.body);
  });

  it.each<[string, (client: TandemClient) => Promise<unknown>, FakeReply]>([
    ["POST after 503", create, busy(503)],
    ["POST after a broken connection", create, "disconnect"],
    ["PATCH after 500", change, busy(500)],
    ["POST of results after 500", submit, busy(500)],
    ["GET after 404", get, busy(404)],
    ["DELETE after 409", remove, busy(409)],
    ["POST of results after 409", submit, busy(409)],
  ])("is not repeated: %s", async (_, request, failure) => {
    answerWith(failure);
    await expect(request(newClient())).rejects.toThrow();
    expect(server.requests).toHaveLength(1);
  });

  it("is repeated as often as the client is told", async () => {
    answerWith(busy(503));
    await expect(get(newClient())).rejects.toMatchObject({ status: 503, retryAfter: 0 });
    expect(server.requests).toHaveLength(3);
    await expect(get(newClient({ maxRetries: 0 }))).rejects.toMatchObject({ status: 503 });
    expect(server.requests).toHaveLength(4);
  });

  it("is repeated no sooner than the server asks", async () => {
    answerWith({ status: 503, headers: { "retry-after": "1" } }, { status: 200, body: {} });
    const startedAt = performance.now();
    await get(newClient());
    expect(performance.now() - startedAt).toBeGreaterThan(990);
  });
});

describe("the wait before a repeat", () => {
  const random = (value: number) => {
    const spy = vi.spyOn(Math, "random").mockReturnValue(value);
    onTestFinished(() => spy.mockRestore());
  };
  const outage = new ConnectionError("Down");

  it("is anything from nothing to a bound that doubles up to 8 s", () => {
    random(0);
    expect(retryDelayMs(5, outage)).toBe(0);
    random(1);
    expect([1, 2, 3, 4, 5, 6, 20].map((failures) => retryDelayMs(failures, outage))).toEqual([
      500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000,
    ]);
  });

  it("is what the server asks for, up to a minute", () => {
    expect(retryDelayMs(1, new APIError({ status: 503, retryAfter: 7 }))).toBe(7_000);
    expect(retryDelayMs(1, new APIError({ status: 429, retryAfter: 3_600 }))).toBe(60_000);
  });
});

describe("a handle", () => {
  it("makes no request until it is asked", async () => {
    expect(newClient().session(fakeSessionId).id).toBe(fakeSessionId);
    expect(server.requests).toEqual([]);
  });

  it("sends a text as a message, and several as a batch", async () => {
    const session = newClient().session(fakeSessionId);
    await session.sendMessage("Hello");
    await session.sendMessage(["Look", { message: "here", images: ["data:image/png;base64,AA=="] }]);
    expect(server.requests.map(({ body }) => body)).toEqual([
      { type: "user_message", message: "Hello" },
      {
        type: "batch",
        messages: [
          { type: "user_message", message: "Look" },
          { message: "here", images: ["data:image/png;base64,AA=="] },
        ],
      },
    ]);
  });

  it("gets, tells the status, reads changes and events, and cancels", async () => {
    const session = newClient().session(fakeSessionId);
    server.append({ type: "RequestStartEvent", data: {} }, { type: "AgentStartedEvent", data: {} });
    expect(await session.get()).toMatchObject({ id: fakeSessionId });
    expect(await session.status()).toMatchObject({ status: "pending" });
    expect(await session.events()).toMatchObject([
      { type: "RequestStartEvent" },
      { type: "AgentStartedEvent" },
    ]);
    const changes = await session.changes({ fromIndex: 1, limit: 5, waitForSeconds: 2 });
    expect(changes?.new_events).toMatchObject([{ type: "AgentStartedEvent" }]);
    expect(Object.fromEntries(server.requests.at(-1)?.query ?? [])).toEqual({
      from_index: "1",
      limit: "5",
      include_events: "true",
      wait_for_seconds: "2",
    });
    await session.cancel();
    expect(await session.status()).toMatchObject({ status: "interrupted" });
  });
});
