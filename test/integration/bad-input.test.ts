import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { createWire, type Wire } from "../support/wire.ts";

let stack: TestStack;
let wire: Wire;

beforeAll(async () => {
  stack = await startStack({ script: () => ({ text: "Hello." }) });
  wire = createWire(stack.baseUrl, apiKey);
});
afterAll(() => stack.close());

const inline = (agent: object, rest: object = {}) => ({
  agent: { name: "x", ...agent },
  messages: "Hi",
  ...rest,
});
const withSchema = (input_schema: unknown) =>
  inline({ tools: [{ name: "t", description: "d", input_schema }] });

/** What is sent to POST /sessions, where the fault is, and a word that the message must hold. */
const sessionFaults: [what: string, body: unknown, loc: (string | number)[], word: string | RegExp][] = [
  ["a body that is no object", [], ["body"], "object"],
  ["no agent", {}, ["body", "agent"], "required"],
  ["an agent of a wrong type", { agent: 5 }, ["body", "agent"], /string|object/],
  ["an agent without a name", { agent: {} }, ["body", "agent", "name"], "required"],
  ["a name that is none", { agent: { name: "Not A Name" } }, ["body", "agent", "name"], "lowercase"],
  ["text for max_steps", inline({}, { max_steps: "5" }), ["body", "max_steps"], "integer"],
  ["the agent's approval", inline({}, { approval: "always" }), ["body", "approval"], "of the agent"],
  ["max_steps below 1", inline({}, { max_steps: 0 }), ["body", "max_steps"], "1"],
  ["messages of a wrong type", { agent: { name: "x" }, messages: 5 }, ["body", "messages"], /string|array/],
  [
    "a message without text",
    { agent: { name: "x" }, messages: [{}] },
    ["body", "messages", 0, "message"],
    "required",
  ],
  [
    "an image that is no data URI",
    { agent: { name: "x" }, messages: { message: "a", images: ["http://x"] } },
    ["body", "messages", "images", 0],
    "data URI",
  ],
  ["an unknown provider", inline({ model: "acme/one" }), ["body", "agent", "model"], "openai"],
  [
    "a provider without its setting",
    inline({ model: "openai/gpt-5" }),
    ["body", "agent", "model"],
    "OPENAI_API_KEY",
  ],
  [
    "a bad tool name",
    inline({ tools: [{ name: "1 a", description: "d" }] }),
    ["body", "agent", "tools", 0, "name"],
    "letters",
  ],
  [
    "a tool without a description",
    inline({ tools: [{ name: "a" }] }),
    ["body", "agent", "tools", 0, "description"],
    "required",
  ],
  [
    "two tools of one name",
    inline({
      tools: [
        { name: "a", description: "d" },
        { name: "a", description: "d" },
      ],
    }),
    ["body", "agent", "tools", 1, "name"],
    "twice",
  ],
  [
    "a reserved tool name",
    inline({ tools: [{ name: "bash", description: "d" }] }),
    ["body", "agent", "tools", 0, "name"],
    "server-side",
  ],
  [
    "two tools of one name in overrides",
    inline(
      {},
      {
        overrides: {
          "agent.tools": [
            { name: "a", description: "d" },
            { name: "a", description: "d" },
          ],
        },
      },
    ),
    ["body", "overrides", "agent.tools", 1, "name"],
    "twice",
  ],
  [
    "a schema that is no object schema",
    withSchema({ type: "string" }),
    ["body", "agent", "tools", 0, "input_schema", "type"],
    "object",
  ],
  [
    "a schema of an unknown type",
    withSchema({ type: "object", properties: { a: { type: "strin" } } }),
    ["body", "agent", "tools", 0, "input_schema"],
    "valid",
  ],
  [
    "a remote reference",
    withSchema({ type: "object", properties: { a: { $ref: "https://example.com/x" } } }),
    ["body", "agent", "tools", 0, "input_schema", "properties", "a", "$ref"],
    "local",
  ],
  [
    "a regular expression that backtracks for ever",
    withSchema({ type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } }),
    ["body", "agent", "tools", 0, "input_schema", "properties", "a", "pattern"],
    "backtrack",
  ],
  [
    "a schema that refers to itself",
    withSchema({ $ref: "#" }),
    ["body", "agent", "tools", 0, "input_schema", "$ref"],
    "descending",
  ],
  [
    "two environments of one kind",
    inline({ environments: [{ kind: "web" }, { kind: "web", id: "two" }] }),
    ["body", "agent", "environments", 1],
    "at most one",
  ],
  [
    "more environments than anybody has",
    inline({ environments: Array.from({ length: 100_000 }, (_, i) => `e${i}`) }),
    ["body", "agent", "environments"],
    "64",
  ],
  [
    "more overrides than anybody has",
    inline({}, { overrides: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`agent.x${i}`, 1])) }),
    ["body", "overrides"],
    "100",
  ],
  [
    "schemas too large together",
    inline({
      tools: Array.from({ length: 10 }, (_, i) => ({
        name: `t${i}`,
        description: "d",
        input_schema: { type: "object", description: "x".repeat(40_000) },
      })),
    }),
    ["body", "agent", "tools"],
    "characters",
  ],
  [
    "an override that leads nowhere",
    inline({}, { overrides: { "agent.instrctions": "x" } }),
    ["body", "overrides", "agent.instrctions"],
    "instructions",
  ],
  [
    "an override of a wrong type",
    inline({}, { overrides: { "agent.instructions": 5 } }),
    ["body", "overrides", "agent.instructions"],
    "string",
  ],
  [
    "an override of a member that is not there",
    inline({ environments: [] }, { overrides: { "agent.environments[kind=web].start_url": "x" } }),
    ["body", "overrides", "agent.environments[kind=web].start_url"],
    "kind=web",
  ],
  [
    "an answer format that is none",
    inline({ answer_format: { type: "array" } }),
    ["body", "agent", "answer_format", "type"],
    "object",
  ],
];

describe("a faulty session request", () => {
  it.each(sessionFaults)("with %s is a 422 that says where and what", async (_what, body, loc, word) => {
    const reply = await wire.post("/sessions", body);
    expect(reply.status).toBe(422);
    expect(reply.body).toMatchObject({ code: "invalid_request", request_id: expect.stringMatching(/^req_/) });
    expect(reply.body.detail[0].loc).toEqual(loc);
    expect(reply.body.detail[0].msg).toMatch(word);
  });

  it("leaves no session behind", async () => {
    const { body } = await wire.get("/sessions");
    expect(body.total).toBe(0);
  });
});

describe("a body", () => {
  it.each([
    ["that is not JSON", '{"agent":', 422, "json_invalid"],
    [
      "that nests 10,000 levels deep",
      `{"agent":${"[".repeat(10_000)}${"]".repeat(10_000)}}`,
      422,
      "json_invalid",
    ],
    ["of over 10,000,000 bytes", `{"agent":"${"a".repeat(10_000_000)}"}`, 413, "body_too_large"],
    ["that is missing", "", 422, "invalid_request"],
  ])("%s is refused", async (_what, text, status, code) => {
    const reply = await wire.send("POST", "/sessions", { text });
    expect(reply.status).toBe(status);
    expect(reply.body.code).toBe(code);
  });

  it("that is no JSON by its type is 415", async () => {
    const reply = await wire.send("POST", "/sessions", {
      text: "hello",
      headers: { "content-type": "text/plain" },
    });
    expect(reply.status).toBe(415);
    expect(reply.body.code).toBe("unsupported_media_type");
  });

  it.each([10_000_001, 14_000_000, 30_000_000])(
    "of %i bytes is refused with an answer, not a broken pipe",
    async (size) => {
      const replies = await Promise.all(
        Array.from({ length: 3 }, () => wire.send("POST", "/sessions", { text: "a".repeat(size) })),
      );
      expect(replies.map((reply) => reply.status)).toEqual([413, 413, 413]);
    },
  );

  it("that is encoded is 415", async () => {
    const headers = { "content-encoding": "gzip" };
    const reply = await wire.send("POST", "/sessions", { text: "{}", headers });
    expect(reply.status).toBe(415);
    expect(reply.body.detail).toContain("gzip");
  });

  it("of 9 MB is taken", async () => {
    const id = await wire.create({ agent: { name: "x" }, messages: "a".repeat(9_000_000) });
    expect((await wire.until(id, "completed")).answer).toBe("Hello.");
  });
});

describe("text that no database column or provider likes", () => {
  it("goes through a session unharmed", async () => {
    const text = "NUL \u0000, a lone surrogate \ud800, a literal \\u0000, and 😀";
    const id = await wire.create({
      agent: { name: "x", instructions: text },
      messages: text,
    });
    const done = await wire.until(id, "completed");
    const message = done.new_events.find(
      (event: { data: { kind?: string } }) => event.data.kind === "message_event",
    );
    expect(message.data.content).toEqual([text]);
    expect((await wire.get(`/sessions/${id}`)).body.request.agent.instructions).toBe(text);
    const found = await wire.get(`/sessions?search=${encodeURIComponent("NUL \u0000")}`);
    expect(found.status).toBe(200);
    expect(found.body.total).toBe(1);
  });

  it.each(["group_id", "parent_session_id"])(
    "is refused as %s, which lists are narrowed by",
    async (name) => {
      for (const text of ["a\u0000b", "a\ud800b"]) {
        const refused = await wire.post("/sessions", { agent: { name: "x" }, [name]: text });
        expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ["body", name]]);
      }
      expect((await wire.get(`/sessions?${name}=a%00b`)).body).toMatchObject({ items: [], total: 0 });
      await wire.create({ agent: { name: "x" }, [name]: "a\\u0000b" });
      expect((await wire.get(`/sessions?${name}=a%5Cu0000b`)).body.total).toBe(1);
    },
  );

  it("is never a 500 in a path or a query", async () => {
    for (const path of [
      "/sessions?created_after=0000-02-29T00:00:00Z",
      "/sessions?created_after=9999-12-31T23:59:59Z",
      `/sessions?created_after=2024-01-01T00:00:00.${"1".repeat(400)}Z`,
      "/sessions?created_after=2024-01-01T00:00:00%2B16:00",
      "/sessions/%00",
      "/agents/%00",
      "/agents/a%2Fb%2Fc",
      "/sessions?agent=%00",
      "/agents?search=%00",
      "/sessions?group_id=%00",
    ]) {
      expect((await wire.get(path)).status, path).toBeLessThan(500);
    }
  });
});

describe("what is not HTTP", () => {
  it.each([
    ["garbage", "HELLO\r\n\r\n", 400],
    ["headers without end", `GET / HTTP/1.1\r\nx: ${"a".repeat(40_000)}\r\n\r\n`, 431],
  ])("is told in the form of every error: %s", async (_what, text, status) => {
    const socket = connect(Number(new URL(stack.baseUrl).port), "127.0.0.1");
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", () => undefined);
    socket.write(text);
    await new Promise((resolve) => socket.once("close", resolve));
    const [head, body] = Buffer.concat(chunks).toString().split("\r\n\r\n");
    expect(head).toContain(`HTTP/1.1 ${status}`);
    expect(JSON.parse(body ?? "")).toMatchObject({
      detail: expect.any(String),
      request_id: expect.any(String),
    });
  });
});

describe("a URL that is none", () => {
  it.each(["/sessions/%zz", `/agents/${"a".repeat(600)}`])(
    "is told in the form of every error: %s",
    async (path) => {
      const reply = await wire.get(path);
      expect(reply.status).toBe(404);
      expect(reply.body).toEqual({
        detail: expect.any(String),
        code: "not_found",
        request_id: expect.any(String),
      });
    },
  );
});

describe("queries", () => {
  it.each([
    ["/sessions?size=101", "size"],
    ["/sessions?page=0", "page"],
    ["/sessions?status=nope", "status"],
    ["/sessions?sort=name", "sort"],
    ["/sessions?created_after=yesterday", "created_after"],
    ["/sessions?created_after=2024-01-01T25:00:00Z", "created_after"],
    ["/sessions?finished_before=2016-12-31T23:59:60.5Z", "finished_before"],
    ["/sessions/not-a-uuid", "id"],
    ["/sessions/urn:uuid:01a22906-9a43-7551-8138-38eba5cfc572", "id"],
    ["/sessions/01a22906-9a43-7551-8138-38eba5cfc572/changes?wait_for_seconds=26", "wait_for_seconds"],
    ["/sessions/01a22906-9a43-7551-8138-38eba5cfc572/changes?from_index=-1", "from_index"],
  ])("with a fault are a 422 that names it: %s", async (path, field) => {
    const reply = await wire.get(path);
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0].loc).toContain(field);
  });

  it("take lists as repeated parameters and as JSON text", async () => {
    const id = await wire.create({
      agent: { name: "listed" },
      messages: "Needle in the HAYSTACK",
      group_id: "g1",
    });
    await wire.until(id, "completed");
    const json = encodeURIComponent('["completed","failed"]');
    for (const query of [
      "status=completed&status=failed",
      `status=${json}`,
      "status=completed",
      "search=needle&group_id=g1",
    ]) {
      const { status, body } = await wire.get(`/sessions?${query}&agent=listed`);
      expect(status, query).toBe(200);
      expect(body.items.map((item: { id: string }) => item.id)).toEqual([id]);
    }
    expect((await wire.get("/sessions?agent=listed&status=failed")).body.total).toBe(0);
  });
});

describe("the key", () => {
  it.each([{}, { authorization: "Bearer nope" }, { authorization: "Basic dGVzdA==" }])(
    "is needed: %j",
    async (headers) => {
      const reply = await fetch(`${stack.baseUrl}/api/v2/sessions`, {
        headers: headers as Record<string, string>,
      });
      expect(reply.status).toBe(401);
      expect(reply.headers.get("www-authenticate")).toBe("Bearer");
      expect(await reply.json()).toMatchObject({ code: "unauthorized", detail: expect.any(String) });
    },
  );

  it("is not needed for health and documentation", async () => {
    for (const path of ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"]) {
      expect((await fetch(`${stack.baseUrl}${path}`)).status, path).toBe(200);
    }
  });
});

describe("a connection that breaks off in the middle of a body", () => {
  it("does no harm", async () => {
    const { port } = new URL(stack.baseUrl);
    const request = httpRequest({
      port,
      method: "POST",
      path: "/api/v2/sessions",
      headers: {
        authorization: `Bearer ${apiKey}`,
        "content-type": "application/json",
        "content-length": 100,
      },
    });
    const closed = new Promise((resolve) => request.once("close", resolve));
    request.on("error", () => undefined);
    request.write('{"agent":', () => request.destroy());
    await closed;
    expect((await wire.get("/sessions")).status).toBe(200);
  });
});
