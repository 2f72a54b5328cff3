import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { oneToolThenAnswer } from "../support/fake-model-server.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { createWire, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

let stack: TestStack;
let wire: Wire;
/** Somebody without a key. */
let stranger: Wire;

beforeAll(async () => {
  stack = await startStack({ script: oneToolThenAnswer("get_weather", { city: "Paris" }) });
  wire = createWire(stack.baseUrl, apiKey);
  stranger = createWire(stack.baseUrl, "no-key-of-anybody");
});
afterAll(() => stack.close());

const secrets = [
  "agent-secret",
  "instructions-secret",
  "tool-secret",
  "group-secret",
  "internal-secret",
  apiKey,
];
const tool = { ...weatherTool, description: "tool-secret" };
const agent = { name: "agent-secret", instructions: "instructions-secret", tools: [tool] };

const create = () => wire.create({ agent, messages: "Weather?", group_id: "group-secret" });
const share = async (id: string) => {
  const { status, body } = await wire.post(`/sessions/${id}/share`, undefined);
  expect(status).toBe(200);
  return body.share_url as string;
};
const pathOf = (link: string) => new URL(link).pathname;
const html = { headers: { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" } };
/** A request whose `Host` is chosen, which `fetch` does not allow. */
const sendWithHost = (path: string, headers: Record<string, string>) =>
  new Promise<{ status: number; body: { share_url: string; detail: { loc: string[] }[] } }>(
    (resolve, reject) => {
      const { hostname, port } = new URL(stack.baseUrl);
      const sent = httpRequest(
        { hostname, port, path, method: "POST", headers: { authorization: `Bearer ${apiKey}`, ...headers } },
        (reply) => {
          let text = "";
          reply.on("data", (chunk) => {
            text += chunk;
          });
          reply.on("end", () => resolve({ status: reply.statusCode ?? 0, body: JSON.parse(text) }));
        },
      );
      sent.on("error", reject).end();
    },
  );

describe("a share link", () => {
  it("is the same however often it is asked for, and cannot be guessed", async () => {
    const id = await create();
    const links = await Promise.all(Array.from({ length: 10 }, () => share(id)));
    expect(new Set(links).size).toBe(1);
    expect(links[0]).toMatch(new RegExp(`^${stack.baseUrl}/api/v2/shared/[A-Za-z0-9_-]{32}$`));
    expect(links[0]).not.toContain(id);
    expect(await share(await create())).not.toBe(links[0]);
  });

  it("shows status and events to anybody, as those with a key see them, and live", async () => {
    const id = await create();
    const path = pathOf(await share(id));
    await wire.until(id, "awaiting_tool_results");
    expect((await stranger.get(`${path}/status`)).body.status).toBe("awaiting_tool_results");
    const [call] = await wire.pending(id);
    await wire.post(`/sessions/${id}/tool_results`, resultFor(call as PendingCall, 18));
    await wire.until(id, "completed");

    const { body: opened } = await stranger.get(path);
    expect(opened).toEqual({
      status: (await wire.get(`/sessions/${id}/status`)).body,
      status_url: `${stack.baseUrl}${path}/status`,
      events_url: `${stack.baseUrl}${path}/events`,
    });
    expect((await stranger.get(pathOf(opened.status_url))).body).toEqual(opened.status);
    for (const query of ["", "?sort=-timestamp&size=3&page=2", "?type=AgentEvent"]) {
      const shown = await stranger.get(`${pathOf(opened.events_url)}${query}`);
      expect(shown.body).toEqual((await wire.get(`/sessions/${id}/events${query}`)).body);
      expect(shown.body.total).toBeGreaterThan(0);
    }
    expect((await stranger.get(`${path}/events?size=201`)).status).toBe(422);
  });

  it("shows nothing else of the session, in any form", async () => {
    const id = await create();
    const path = pathOf(await share(id));
    await wire.until(id, "awaiting_tool_results");
    await wire.post(`/sessions/${id}/feedback`, { success: true, message: "feedback-secret" });
    await stack.engine.pool.query(
      `UPDATE events SET internal = '{"x":"internal-secret"}' WHERE session_id = $1`,
      [id],
    );
    const replies = await Promise.all([
      stranger.get(path),
      stranger.send("GET", path, html),
      stranger.get(`${path}/status`),
      stranger.get(`${path}/events?size=200`),
    ]);
    const { rows } = await stack.engine.pool.query("SELECT user_name FROM sessions WHERE id = $1", [id]);
    for (const reply of replies) {
      expect(reply.status).toBe(200);
      for (const word of [...secrets, "feedback-secret", `"${rows[0].user_name}"`, id]) {
        expect(JSON.stringify(reply.body)).not.toContain(word);
      }
    }
  });

  it("offers no other route, and none that changes anything", async () => {
    const id = await create();
    const path = pathOf(await share(id));
    for (const rest of ["/changes", "/messages", "/tool_results", "/feedback", "/share", "/"]) {
      expect([rest, (await stranger.get(`${path}${rest}`)).status]).toEqual([rest, 404]);
    }
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      expect([method, (await stranger.send(method, path)).status]).toEqual([method, 404]);
    }
    const token = path.split("/").at(-1);
    expect((await stranger.get(`/sessions/${id}/status`)).status).toBe(401);
    expect((await createWire(stack.baseUrl, String(token)).get(`/sessions/${id}`)).status).toBe(401);
  });

  it("is 404 once it is revoked, for good, and the next one is another", async () => {
    const id = await create();
    const first = await share(id);
    for (const _ of [1, 2]) expect((await wire.send("DELETE", `/sessions/${id}/share`)).status).toBe(204);
    const second = await share(id);
    expect(second).not.toBe(first);
    for (const rest of ["", "/status", "/events"]) {
      const gone = await stranger.get(`${pathOf(first)}${rest}`);
      expect([gone.status, gone.body.code]).toEqual([404, "session_not_found"]);
      expect((await stranger.get(`${pathOf(second)}${rest}`)).status).toBe(200);
    }
  });

  it.each([
    ["an unknown one", "x".repeat(32)],
    ["a short one", "x"],
    ["a long one", "x".repeat(500)],
    ["one with NUL", `${"x".repeat(31)}%00`],
    ["a pattern", "%25".repeat(32)],
    ["a session's id", "0190f5e2-0000-7000-8000-000000000000"],
  ])("is 404 for %s", async (_what, token) => {
    for (const rest of ["", "/status", "/events"]) {
      const reply = await stranger.get(`/shared/${token}${rest}`);
      expect([reply.status, reply.body.code]).toEqual([404, "session_not_found"]);
      expect(reply.headers.get("cache-control")).toBe("no-store");
    }
  });

  it("is kept by no cache and no search engine, and told to no other site", async () => {
    const path = pathOf(await share(await create()));
    const replies = [
      await stranger.get(path),
      await stranger.send("GET", path, html),
      await stranger.get(`${path}/status`),
      await stranger.get(`${path}/events`),
      await stranger.get(`${path}/events?page=0`),
    ];
    for (const { headers } of replies) {
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("x-robots-tag")).toContain("noindex");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  it("has the host of the request that made it, and no forwarded one", async () => {
    const path = `/api/v2/sessions/${await create()}/share`;
    const forged = {
      host: "agents.example:8443",
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "https",
    };
    expect((await sendWithHost(path, forged)).body.share_url).toMatch(
      /^http:\/\/agents\.example:8443\/api\/v2\/shared\//,
    );
    expect((await sendWithHost(path, { host: "[::1]:3000" })).body.share_url).toMatch(
      /^http:\/\/\[::1\]:3000\//,
    );
  });

  it.each(["evil.example/x?", "a b", "user@evil.example", "a:99999", '"><script>'])(
    "is not made of the host %j",
    async (host) => {
      const id = await create();
      const reply = await sendWithHost(`/api/v2/sessions/${id}/share`, { host });
      expect(reply.status).toBe(422);
      expect(reply.body.detail[0]?.loc).toEqual(["header", "host"]);
      const { rows } = await stack.engine.pool.query("SELECT share_token FROM sessions WHERE id = $1", [id]);
      expect(rows).toEqual([{ share_token: null }]);
    },
  );

  it("has the address that is set, where one is", async () => {
    const env = { TANDEM_PUBLIC_URL: "https://agents.example/tandem/" };
    const other = await startStack({ worker: false, env });
    try {
      const there = createWire(other.baseUrl, apiKey);
      const id = await there.create({ agent: { name: "x" }, messages: "Hi" });
      const { share_url: link } = (await there.post(`/sessions/${id}/share`, undefined)).body;
      expect(link).toMatch(/^https:\/\/agents\.example\/tandem\/api\/v2\/shared\/[A-Za-z0-9_-]{32}$/);
      const token = link.split("/").at(-1);
      expect((await there.get(`/shared/${token}`)).body.events_url).toBe(`${link}/events`);
    } finally {
      await other.close();
    }
  });
});

describe("the page of a shared session", () => {
  const open = async (path: string) => {
    const reply = await stranger.send("GET", path, html);
    expect(reply.status).toBe(200);
    expect(reply.headers.get("content-type")).toBe("text/html; charset=utf-8");
    return reply;
  };

  it("shows what was said, with everything escaped, and runs and loads nothing", async () => {
    const said = `<script>alert(1)</script><img src=x onerror="alert('2')"> & </pre>`;
    const id = await wire.create({ agent, messages: said });
    await wire.until(id, "awaiting_tool_results");
    const { body, headers } = await open(pathOf(await share(id)));
    expect(body).toContain(
      "&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&quot;alert(&#39;2&#39;)&quot;&gt; &amp; &lt;/pre&gt;",
    );
    expect(body).not.toMatch(/<(script|img|iframe|object|link|form|base)\b/i);
    expect(body).not.toMatch(/(?:src|href)="(?:\w+:|\/\/)/i);
    expect(body).toContain("awaiting_tool_results");
    expect(body).toContain("get_weather {&quot;city&quot;:&quot;Paris&quot;}");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|script-src|\*/);
  });

  it("is in pages, and its links lead to them and to the events", async () => {
    const id = await create();
    await wire.until(id, "awaiting_tool_results");
    await stack.engine.pool.query(
      `WITH more AS (
         INSERT INTO events (session_id, index, type, data)
         SELECT $1, next_index + n, 'Note', json_build_object('n', 'note-' || n || '.')
           FROM sessions, generate_series(0, 69) AS n WHERE id = $1
       ) UPDATE sessions SET next_index = next_index + 70 WHERE id = $1`,
      [id],
    );
    const path = pathOf(await share(id));
    const first = (await open(path)).body;
    expect(first).toContain("note-0.");
    expect(first).not.toContain("note-69.");
    const linksOf = (body: string) =>
      [...body.matchAll(/href="([^"]*)">([^<]*)/g)].map(([, href, text]) => [text, href]);
    const later = new Map(linksOf(first) as [string, string][]);
    expect([...later.keys()]).toEqual(["Later", "Events as JSON"]);
    const follow = (href = "") => new URL(href, `${stack.baseUrl}${path}`);
    const next = follow(later.get("Later"));
    const second = (await open(`${next.pathname}${next.search}`)).body;
    expect(second).toContain("note-69.");
    expect(linksOf(second).map(([text]) => text)).toEqual(["Earlier", "Events as JSON"]);
    expect((await stranger.get(follow(later.get("Events as JSON")).pathname)).body.total).toBeGreaterThan(70);
  });
});
