import { afterEach, describe, expect, it, vi } from "vitest";
import { hasRedis, startRedis, type TestRedis } from "../support/redis.ts";
import { apiKey, type StackOptions, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, type Wire } from "../support/wire.ts";

const headersOf = ({ headers }: { headers: Headers }) => ({
  limit: headers.get("x-ratelimit-limit"),
  remaining: headers.get("x-ratelimit-remaining"),
  reset: headers.get("x-ratelimit-reset"),
  retryAfter: headers.get("retry-after"),
});
const none = { limit: null, remaining: null, reset: null, retryAfter: null };

let stack: TestStack | undefined;
let redis: TestRedis | undefined;

afterEach(async () => {
  vi.useRealTimers();
  await stack?.close();
  await redis?.close();
  stack = undefined;
  redis = undefined;
});

/** A stack that takes so many requests of each key in a minute. */
async function startLimited(perMinute: number, options: StackOptions = {}): Promise<Wire> {
  const env = { TANDEM_RATE_LIMIT_PER_MINUTE: String(perMinute), ...options.env };
  stack = await startStack({ worker: false, ...options, env });
  return createWire(stack.baseUrl, apiKey);
}

const send = async (wire: Wire, times: number) => {
  const statuses: number[] = [];
  for (let i = 0; i < times; i++) statuses.push((await wire.get("/agents")).status);
  return statuses;
};

describe("a limit of requests per minute", () => {
  it("lets five of five through and refuses the sixth in the form of every error", async () => {
    const wire = await startLimited(5);
    for (const remaining of [4, 3, 2, 1, 0]) {
      const before = Date.now() / 1_000;
      const reply = await wire.get("/agents");
      expect(reply.status).toBe(200);
      expect(headersOf(reply)).toMatchObject({ limit: "5", remaining: String(remaining), retryAfter: null });
      const reset = Number(headersOf(reply).reset);
      expect(Number.isInteger(reset)).toBe(true);
      expect(reset).toBeGreaterThan(before + 30);
      expect(reset).toBeLessThanOrEqual(Date.now() / 1_000 + 61);
    }
    const refused = await wire.get("/agents");
    expect(refused.status).toBe(429);
    expect(refused.body).toEqual({
      detail: expect.stringMatching(/limit of 5 requests per minute.* \d+ s\.$/),
      code: "rate_limited",
      request_id: expect.stringMatching(/^req_/),
    });
    expect(headersOf(refused)).toMatchObject({ limit: "5", remaining: "0" });
    const retryAfter = Number(headersOf(refused).retryAfter);
    expect(Number.isInteger(retryAfter) && retryAfter >= 1 && retryAfter <= 60).toBe(true);
    // The two agree on the moment, to the second that rounding and the way here may take.
    const reset = Number(headersOf(refused).reset);
    expect(Math.abs(reset - (Date.now() / 1_000 + retryAfter))).toBeLessThanOrEqual(2);
  });

  it("counts anew when the minute is over, however many were refused in it", async () => {
    const wire = await startLimited(2);
    expect(await send(wire, 4)).toEqual([200, 200, 429, 429]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
    expect(await send(wire, 3)).toEqual([200, 200, 429]);
  });

  it("counts each key for itself, also those of one organization and user", async () => {
    const wire = await startLimited(2);
    const other = createWire(wire.baseUrl, await (stack as TestStack).addKey());
    expect(await send(wire, 3)).toEqual([200, 200, 429]);
    expect(await send(other, 3)).toEqual([200, 200, 429]);
  });

  it("counts every route together, whatever it answers, and a poll that waits once", async () => {
    const wire = await startLimited(6);
    const id = await wire.create({ agent: "tandem/assistant" });
    const seen = (await wire.get(`/sessions/${id}/changes`)).body.next_index;
    const poll = await wire.get(`/sessions/${id}/changes?from_index=${seen}&wait_for_seconds=1`);
    expect([poll.status, headersOf(poll).remaining]).toEqual([204, "3"]);
    const replies = [
      await wire.get("/agents/nobody"),
      await wire.post("/agents", { name: "" }),
      await wire.post("/keys", { organization: "a" }),
      await wire.send("HEAD", "/agents"),
    ];
    expect(replies.map((reply) => [reply.status, headersOf(reply).remaining])).toEqual([
      [404, "2"],
      [422, "1"],
      [403, "0"],
      [429, "0"],
    ]);
  });

  it("counts nothing for a key that is none, and still answers 401", async () => {
    const wire = await startLimited(1);
    const stranger = createWire(wire.baseUrl, "wrong");
    for (let i = 0; i < 3; i++) {
      const reply = await stranger.get("/agents");
      expect([reply.status, headersOf(reply)]).toEqual([401, none]);
    }
    expect(await send(wire, 2)).toEqual([200, 429]);
  });

  it("does not touch health, the document and its page", async () => {
    const wire = await startLimited(1);
    await send(wire, 2);
    for (const path of ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs/"]) {
      const response = await fetch(`${wire.baseUrl}${path}`, {
        headers: { authorization: `Bearer ${apiKey}` },
      });
      await response.arrayBuffer();
      expect([path, response.status, headersOf(response)]).toEqual([path, 200, none]);
    }
  });

  it("lets nothing of a refused request take effect, and answers before its body is checked", async () => {
    const wire = await startLimited(1);
    await send(wire, 1);
    const refused = [
      await wire.post("/sessions", { agent: "tandem/assistant", messages: "Hi." }),
      await wire.send("POST", "/agents", { text: "{" }),
      await wire.send("POST", "/agents", { text: JSON.stringify({ x: "x".repeat(5_000_000) }) }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([429, 429, 429]);
    const other = createWire(wire.baseUrl, await (stack as TestStack).addKey());
    expect((await other.get("/sessions")).body.total).toBe(0);
  });

  it("shows its headers to browsers, on refusals too", async () => {
    const wire = await startLimited(1);
    for (const status of [200, 429]) {
      const reply = await wire.send("GET", "/agents", { headers: { origin: "https://app.example" } });
      expect(reply.status).toBe(status);
      const exposed = reply.headers.get("access-control-expose-headers")?.split(/, */);
      expect(exposed).toEqual(
        expect.arrayContaining([
          "x-ratelimit-limit",
          "x-ratelimit-remaining",
          "x-ratelimit-reset",
          "retry-after",
        ]),
      );
    }
  });

  it("is off by default, and then nothing is told of it", async () => {
    stack = await startStack({ worker: false });
    const wire = createWire(stack.baseUrl, apiKey);
    for (let i = 0; i < 20; i++) expect(headersOf(await wire.get("/agents"))).toEqual(none);
  });

  it("is each process's own without Redis", async () => {
    const first = await startLimited(2);
    const second = createWire((await (stack as TestStack).addApi()).baseUrl, apiKey);
    expect(await send(first, 3)).toEqual([200, 200, 429]);
    expect(await send(second, 3)).toEqual([200, 200, 429]);
  });
});

describe.skipIf(!hasRedis)("a limit of requests per minute on Redis", () => {
  const startOnRedis = async (perMinute: number) => {
    redis = await startRedis();
    // The test's own Redis, which it can end.
    const wire = await startLimited(perMinute, { redisUrl: redis.url });
    return { wire, redis };
  };

  it("is shared by two processes, from the first request on", async () => {
    const { wire: first } = await startOnRedis(5);
    const second = createWire((await (stack as TestStack).addApi()).baseUrl, apiKey);
    const replies = [];
    for (const wire of [first, second, first, second, first]) replies.push(await wire.get("/agents"));
    expect(replies.map((reply) => headersOf(reply).remaining)).toEqual(["4", "3", "2", "1", "0"]);
    const refused = [await first.get("/agents"), await second.get("/agents")];
    expect(refused.map(({ status }) => status)).toEqual([429, 429]);
    const [retryAfter, reset] = ["retry-after", "x-ratelimit-reset"].map((name) =>
      Number(refused[1]?.headers.get(name)),
    );
    expect(retryAfter).toBeGreaterThanOrEqual(1);
    expect(Math.abs((reset ?? 0) - (Date.now() / 1_000 + (retryAfter ?? 0)))).toBeLessThanOrEqual(2);
  });

  it("lets every request through, without telling a count, while Redis is away, and counts when it is back", async () => {
    const { wire, redis: server } = await startOnRedis(1);
    expect(await send(wire, 2)).toEqual([200, 429]);
    await server.kill();
    for (let i = 0; i < 3; i++) {
      const reply = await wire.get("/agents");
      expect([reply.status, headersOf(reply)]).toEqual([200, none]);
    }
    await server.start();
    await waitFor(async () => (await wire.get("/agents")).status === 429, { what: "requests to be counted" });
  });

  it("does not let requests hang on a Redis that does not answer", async () => {
    const { wire, redis: server } = await startOnRedis(1);
    expect(await send(wire, 2)).toEqual([200, 429]);
    process.kill(server.pid, "SIGSTOP");
    try {
      const before = performance.now();
      expect(await send(wire, 3)).toEqual([200, 200, 200]);
      expect(performance.now() - before).toBeLessThan(5_000);
    } finally {
      process.kill(server.pid, "SIGCONT");
    }
    await waitFor(async () => (await wire.get("/agents")).status === 429, { what: "requests to be counted" });
  });

  it("does not keep an API from starting while Redis is away", async () => {
    const { redis: server } = await startOnRedis(1);
    await server.kill();
    const late = createWire((await (stack as TestStack).addApi()).baseUrl, apiKey);
    expect(await send(late, 2)).toEqual([200, 200]);
    await server.start();
    await waitFor(async () => (await late.get("/agents")).status === 429, { what: "requests to be counted" });
  });
});
