// serveTools against a scripted server: claims, renewals, outages, and its end.
import {
  APIError,
  type Journal,
  type JournalEntry,
  raise,
  serveTools,
  TandemClient,
  tool,
} from "@tandem/sdk";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  type FakeToolFeed,
  type FeedCall,
  type FeedReply,
  type FeedRequest,
  startFakeToolFeed,
} from "../support/fake-tool-feed.ts";
import { createGate } from "../support/gate.ts";
import { waitFor } from "../support/wait-for.ts";

type Options = Omit<Parameters<typeof serveTools>[0], "client">;

let feed: FakeToolFeed;
let servings: ReturnType<typeof serveTools>[];

beforeEach(async () => {
  feed = await startFakeToolFeed();
  servings = [];
});
afterEach(async () => {
  await Promise.all(servings.map((serving) => serving.close()));
  await feed.close();
});

const serve = (options: Options) => {
  const client = new TandemClient({ baseUrl: feed.baseUrl, apiKey: "key", maxRetries: 0 });
  const serving = serveTools({ client, drainMs: 0, ...options });
  servings.push(serving);
  return serving;
};
const lookUp = (fn: Parameters<typeof tool>[0]["fn"], more: object = {}) =>
  tool({ name: "look_up", description: "Looks up.", ...more, fn });
const settled = (call: FeedCall) =>
  waitFor(() => call.state === "answered", { what: `a result of ${call.id}` });
/** Gives a reply once, to a request of one path ending; then lets them through. */
const replyOnce = (ending: string, reply: FeedReply) => {
  const left = [reply];
  return ({ path }: FeedRequest) => (path.endsWith(ending) ? left.shift() : undefined);
};
const memory = () => {
  const entries = new Map<string, JournalEntry>();
  const journal: Journal = {
    read: async (key) => entries.get(key) ?? null,
    write: async (key, entry) => void entries.set(key, entry),
    remove: async (key) => void entries.delete(key),
  };
  return { entries, journal };
};

describe("serveTools", () => {
  it("claims a call of its tools and agents, runs it, and posts what it returns", async () => {
    const seen: unknown[] = [];
    const events: string[] = [];
    const fn = (args: unknown, { sessionId, callId, idempotencyKey, context }: Record<string, unknown>) => {
      seen.push({ args, sessionId, callId, idempotencyKey, context });
      return { found: 1 };
    };
    serve({
      tools: [lookUp(fn as never)],
      agents: ["librarian"],
      claimant: "worker-7",
      leaseS: 60,
      context: "shelf",
      onCall: ({ type, agent }) => events.push(`${type} ${agent}`),
    });
    const other = feed.offer({ toolName: "look_up" });
    const unknown = feed.offer({ toolName: "something_else", agent: "librarian" });
    const call = feed.offer({ toolName: "look_up", agent: "librarian", args: { key: "a" } });
    await settled(call);
    const { sessionId, id } = call;
    expect(seen).toEqual([
      { args: { key: "a" }, sessionId, callId: id, idempotencyKey: `${sessionId}/${id}`, context: "shelf" },
    ]);
    expect(call.claims).toEqual([{ claimant: "worker-7", leaseS: 60 }]);
    expect(call.results).toEqual([
      {
        kind: "tool_result",
        tool_req: { tool_name: "look_up", args: { key: "a" }, id },
        result: { found: 1 },
      },
    ]);
    await waitFor(() => events.length === 2, { what: "both events" });
    expect(events).toEqual(["started librarian", "answered librarian"]);
    expect([other.claims, unknown.claims]).toEqual([[], []]);
  });

  it("leaves a call alone that another process has claimed meanwhile", async () => {
    const ends: string[] = [];
    feed.intercept = ({ path }) =>
      path.endsWith("/call_0/claim")
        ? { status: 409, body: { detail: "No.", code: "call_claimed" } }
        : undefined;
    const call = feed.offer({ toolName: "look_up" });
    let runs = 0;
    serve({
      tools: [lookUp(() => ++runs)],
      onCall: ({ type, call: { id } }) => ends.push(`${type} ${id}`),
    });
    await waitFor(() => ends.includes("taken call_0"), { what: "the refusal" });
    feed.withdraw(call);
    await settled(feed.offer({ toolName: "look_up" }));
    expect(runs).toBe(1);
    expect(call.results).toEqual([]);
  });

  it("asks only while it has room, and runs no more at a time than it may, of all tools and of each", async () => {
    const gate = createGate();
    const running: Record<string, number> = { look_up: 0, find: 0 };
    const most = { all: 0, find: 0 };
    const run = (name: string) => async () => {
      running[name] = (running[name] ?? 0) + 1;
      most.all = Math.max(most.all, (running.look_up ?? 0) + (running.find ?? 0));
      most.find = Math.max(most.find, running.find ?? 0);
      await gate.opened;
      running[name] = (running[name] ?? 0) - 1;
    };
    const find = tool({ name: "find", description: "Finds.", maxConcurrency: 1, fn: run("find") });
    serve({ tools: [lookUp(run("look_up")), find], maxConcurrency: 3 });
    const calls = Array.from({ length: 8 }, (_, i) => feed.offer({ toolName: i % 2 ? "find" : "look_up" }));
    await waitFor(() => most.all === 3, { what: "three to run" });
    const asked = feed.requestsTo("GET", "/tool_calls").length;
    feed.offer({ toolName: "look_up" });
    expect(feed.requestsTo("GET", "/tool_calls")).toHaveLength(asked);
    expect(feed.waiting()).toBe(0);
    gate.open();
    await Promise.all(calls.map(settled));
    expect(most).toEqual({ all: 3, find: 1 });
  });

  it("asks anew when there is room again for a tool that it did not ask for", async () => {
    const gate = createGate();
    const slow = tool({ name: "slow", description: "Slow.", maxConcurrency: 1, fn: () => gate.opened });
    serve({ tools: [lookUp(() => 1), slow] });
    const [first, second] = [feed.offer({ toolName: "slow" }), feed.offer({ toolName: "slow" })];
    await waitFor(() => [first, second].some(({ claims }) => claims.length > 0), { what: "one to run" });
    await waitFor(() => feed.waiting() === 1, { what: "a poll for the other tool" });
    expect(feed.requestsTo("GET", "/tool_calls").at(-1)?.query.getAll("tools")).toEqual(["look_up"]);
    gate.open();
    await settled(first);
    await settled(second);
  });

  it("renews a claim in the middle of its lease while the handler runs, and not after", async () => {
    const gate = createGate();
    let handler = gate;
    serve({ tools: [lookUp(() => handler.opened)], leaseS: 0.2 });
    const call = feed.offer({ toolName: "look_up" });
    await waitFor(() => call.claims.length >= 5, { what: "renewals" });
    expect(call.claimedUntil).toBeGreaterThan(Date.now());
    gate.open();
    await settled(call);
    await waitFor(() => feed.waiting() === 1, { what: "the next poll" });
    const count = call.claims.length;
    // While another call is renewed as often as this one was, this one is not.
    const another = createGate();
    handler = another;
    const later = feed.offer({ toolName: "look_up" });
    await waitFor(() => later.claims.length >= 5, { what: "renewals of another call" });
    expect(call.claims).toHaveLength(count);
    another.open();
    await settled(later);
  });

  it.each([
    { what: "has gone", end: "gone", code: "call_not_pending" },
    { what: "is another process's", end: "taken", code: "call_claimed" },
    { what: "is of a session that has ended", end: "gone", code: "session_finished" },
  ])("aborts the handler of a call that $what, and posts nothing", async ({ end, code }) => {
    const ends: string[] = [];
    const reasons: AbortSignal[] = [];
    serve({
      tools: [
        lookUp((_, { signal }) => {
          reasons.push(signal);
          return new Promise((resolve) => signal.addEventListener("abort", resolve));
        }),
      ],
      leaseS: 0.2,
      onCall: ({ type }) => ends.push(type),
    });
    const call = feed.offer({ toolName: "look_up" });
    await waitFor(() => reasons.length === 1, { what: "the handler" });
    feed.intercept = ({ path }) =>
      path.endsWith("/claim") ? { status: 409, body: { detail: "No.", code } } : undefined;
    await waitFor(() => ends.includes(end), { what: "its end" });
    expect(reasons[0]?.aborted).toBe(true);
    feed.withdraw(call);
    expect(call.results).toEqual([]);
  });

  it("goes on with a handler while the server is out of reach, and keeps its result until it has arrived", async () => {
    const gate = createGate();
    const errors: unknown[] = [];
    let runs = 0;
    serve({
      tools: [
        lookUp(async () => {
          runs += 1;
          await gate.opened;
          return "kept";
        }),
      ],
      leaseS: 0.3,
      onError: (error) => errors.push(error),
    });
    const call = feed.offer({ toolName: "look_up" });
    await waitFor(() => runs === 1, { what: "the handler" });
    let failures = 0;
    feed.intercept = ({ path }) => {
      if (path.endsWith("/claim")) return "disconnect";
      return path.endsWith("/tool_results") && ++failures < 3 ? { status: 502 } : undefined;
    };
    await waitFor(() => errors.length >= 2, { what: "renewals that fail" });
    gate.open();
    await settled(call);
    expect(call.results).toMatchObject([{ result: "kept" }]);
    expect([runs, failures]).toEqual([1, 3]);
  });

  it("never posts again after 409", async () => {
    const ends: string[] = [];
    feed.intercept = replyOnce("/tool_results", {
      status: 409,
      body: { detail: "No.", code: "result_conflict" },
    });
    serve({ tools: [lookUp(() => 1)], onCall: ({ type }) => ends.push(type) });
    const call = feed.offer({ toolName: "look_up" });
    await waitFor(() => ends.includes("answered"), { what: "its end" });
    expect(feed.requestsTo("POST", "/tool_results")).toHaveLength(1);
    feed.withdraw(call);
  });

  it("waits as long as the server asks for after an outage of the feed", async () => {
    const retry = { status: 503, headers: { "retry-after": "1" } };
    feed.intercept = replyOnce("/tool_calls", retry);
    const startedAt = performance.now();
    serve({ tools: [lookUp(() => 1)] });
    await settled(feed.offer({ toolName: "look_up" }));
    expect(performance.now() - startedAt).toBeGreaterThan(900);
    expect(feed.requestsTo("GET", "/tool_calls").length).toBeGreaterThanOrEqual(2);
  });

  it("does not hammer a server whose polls come back empty at once", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    onTestFinished(() => void vi.restoreAllMocks());
    const startedAt = performance.now();
    feed.intercept = ({ path }) =>
      path === "/tool_calls" ? { status: 200, body: { items: [] } } : undefined;
    serve({ tools: [lookUp(() => 1)] });
    const polls = () => feed.requestsTo("GET", "/tool_calls").length;
    await waitFor(() => polls() === 4, { what: "the fourth poll" });
    // Half of 0.5, 1 and 2 s.
    expect(performance.now() - startedAt).toBeGreaterThan(1_700);
  });

  it("ends with the error when the server refuses to tell of calls", async () => {
    feed.intercept = () => ({ status: 401, body: { detail: "No.", code: "unauthorized" } });
    const errors: unknown[] = [];
    const serving = serve({ tools: [lookUp(() => 1)], onError: (error) => errors.push(error) });
    await expect(serving.done).rejects.toBeInstanceOf(APIError);
    expect(errors).toMatchObject([{ status: 401 }]);
    await serving.close();
  });

  it("cancels the session when a guardrail ends the run", async () => {
    const guard = { name: "no", run: () => raise("Never.") };
    const errors: unknown[] = [];
    serve({
      tools: [lookUp(() => 1, { inputGuardrails: [guard] })],
      onError: (error) => errors.push(error),
    });
    const call = feed.offer({ toolName: "look_up" });
    await waitFor(() => call.state === "gone", { what: "the session to be cancelled" });
    expect(errors).toMatchObject([{ name: "GuardrailError" }]);
    expect(call.results).toEqual([]);
  });

  it("sends progress, and asks for permissions where somebody answers", async () => {
    const careful = lookUp(
      async (_, { progress }) => {
        await progress({ done: 1 });
        return "ok";
      },
      { requiresApproval: true },
    );
    serve({ tools: [careful], onPermissionRequest: () => "allow" });
    const call = feed.offer({ toolName: "look_up" });
    await settled(call);
    expect(call.results).toMatchObject([{ result: "ok" }]);
    expect(feed.requestsTo("POST", "/progress")).toMatchObject([{ body: { progress: { done: 1 } } }]);
  });
});

describe("a call that another process may have run", () => {
  it.each(["none", "idempotent"] as const)(
    "is run again when its side effects are %s",
    async (sideEffects) => {
      serve({ tools: [lookUp(() => "again", { sideEffects })] });
      const call = feed.offer({ toolName: "look_up", claimant: "dead" });
      await settled(call);
      expect(call.results).toMatchObject([{ result: "again" }]);
    },
  );

  it("is answered as unknown when it is unsafe", async () => {
    let runs = 0;
    serve({ tools: [lookUp(() => ++runs, { sideEffects: "unsafe" })] });
    const call = feed.offer({ toolName: "look_up", claimant: "dead" });
    await settled(call);
    expect(call.results[0].error).toMatch(/unknown/);
    const fresh = feed.offer({ toolName: "look_up" });
    await settled(fresh);
    expect(runs).toBe(1);
  });

  it("is not thought of when only the reply to its claim was lost", async () => {
    let isFirst = true;
    serve({ tools: [lookUp(() => "ran", { sideEffects: "unsafe" })], claimant: "me" });
    const call = feed.offer({ toolName: "look_up", claimedUntil: Number.POSITIVE_INFINITY });
    feed.intercept = ({ path }) => {
      if (!path.endsWith("/claim") || !isFirst) return undefined;
      isFirst = false;
      call.claimant = "me";
      return "disconnect";
    };
    feed.lapse(call);
    await settled(call);
    expect(call.results).toMatchObject([{ result: "ran" }]);
  });

  it("is posted again, and not run, when the journal has its result", async () => {
    const { entries, journal } = memory();
    const call = feed.offer({ toolName: "look_up" });
    const result = {
      kind: "tool_result",
      result: "from before",
      tool_req: { tool_name: "look_up", id: call.id },
    };
    const key = `${call.sessionId}/${call.id}`;
    entries.set(key, { state: "done", result } as JournalEntry);
    let runs = 0;
    serve({ tools: [lookUp(() => ++runs)], journal });
    await settled(call);
    await waitFor(() => entries.size === 0, { what: "the entry to be removed" });
    expect([runs, call.results]).toMatchObject([0, [{ result: "from before" }]]);
  });
});

describe("close", () => {
  const hang = (started: string[]) =>
    lookUp((_, { signal, callId }) => {
      started.push(callId);
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve("too late")));
    });

  it("lets calls end that run, and takes no more", async () => {
    const gate = createGate();
    let runs = 0;
    const serving = serve({
      tools: [
        lookUp(async () => {
          runs += 1;
          await gate.opened;
          return "drained";
        }),
      ],
      drainMs: 60_000,
    });
    const call = feed.offer({ toolName: "look_up" });
    await waitFor(() => runs === 1, { what: "the handler" });
    const closed = serving.close();
    const late = feed.offer({ toolName: "look_up" });
    gate.open();
    await closed;
    await serving.done;
    expect(call.results).toMatchObject([{ result: "drained" }]);
    expect(late.claims).toEqual([]);
  });

  it("aborts those that take too long, and gives their claims back", async () => {
    const started: string[] = [];
    const serving = serve({ tools: [hang(started)], drainMs: 50 });
    const call = feed.offer({ toolName: "look_up" });
    await waitFor(() => started.length === 1, { what: "the handler" });
    await serving.close();
    expect([call.claimant, call.state, call.results]).toEqual([null, "pending", []]);
    serve({ tools: [lookUp(() => "taken over")] });
    await settled(call);
    expect(call.results).toMatchObject([{ result: "taken over" }]);
  });

  it("gives an unsafe call back that still waits for a permission", async () => {
    let asked = 0;
    const serving = serve({
      tools: [lookUp(() => "ran", { sideEffects: "unsafe", requiresApproval: true })],
      onPermissionRequest: () => {
        asked += 1;
        return new Promise(() => undefined);
      },
    });
    const call = feed.offer({ toolName: "look_up" });
    await waitFor(() => asked === 1, { what: "the question" });
    await serving.close();
    expect(call).toMatchObject({ claimant: null, results: [] });
  });

  it("says of unsafe calls that their outcome is unknown, in place of giving them back", async () => {
    const started: string[] = [];
    const serving = serve({ tools: [{ ...hang(started), sideEffects: "unsafe" }] });
    const call = feed.offer({ toolName: "look_up" });
    await waitFor(() => started.length === 1, { what: "the handler" });
    await serving.close();
    expect(call.results[0].error).toMatch(/unknown/);
  });

  it("comes by the signal too, without time for what runs", async () => {
    const started: string[] = [];
    const abort = new AbortController();
    const serving = serve({ tools: [hang(started)], drainMs: 60_000, signal: abort.signal });
    const call = feed.offer({ toolName: "look_up" });
    await waitFor(() => started.length === 1, { what: "the handler" });
    abort.abort();
    await serving.done;
    expect(call.claimant).toBe(null);
  });

  it("ends a poll that waits, and what was never to begin", async () => {
    const serving = serve({ tools: [lookUp(() => 1)] });
    await waitFor(() => feed.waiting() === 1, { what: "a poll" });
    await serving.close();
    await waitFor(() => feed.waiting() === 0, { what: "the poll to end" });
    const aborted = serve({ tools: [lookUp(() => 1)], signal: AbortSignal.abort() });
    await aborted.done;
  });
});

it.each([
  { what: "no tools", options: { tools: [] } },
  { what: "a lease of nothing", options: { leaseS: 0 } },
  { what: "a lease over an hour", options: { leaseS: 3_601 } },
  { what: "no calls at a time", options: { maxConcurrency: 0 } },
  { what: "waits that the server does not take", options: { waitForSeconds: 26 } },
  { what: "a drain of no number", options: { drainMs: Number.NaN } },
])("serveTools refuses $what", ({ options }) => {
  const client = new TandemClient({ baseUrl: feed.baseUrl, apiKey: "key" });
  expect(() => serveTools({ client, tools: [lookUp(() => 1)], ...options })).toThrow(/must|takes/);
});
