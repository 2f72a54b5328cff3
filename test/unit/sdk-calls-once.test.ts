// Each call runs once: over waits, handles and lost replies. How many run at a time, and what they tell on their way.
import { raise, TandemClient, type Tool, type ToolSettings, tool } from "@tandem/sdk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RunEnvironment } from "../../apps/sdk/src/run-environment.ts";
import { RunsOfSessions } from "../../apps/sdk/src/runs-of-sessions.ts";
import {
  type FakeTandemServer,
  fakeCall,
  fakeSessionId,
  replyOnce,
  startFakeTandemServer,
} from "../support/fake-tandem-server.ts";
import { waitFor } from "../support/wait-for.ts";

let server: FakeTandemServer;
let client: TandemClient;

beforeEach(async () => {
  server = await startFakeTandemServer();
  client = new TandemClient({ baseUrl: server.baseUrl, apiKey: "key" });
});
afterEach(() => server.close());

const makeTool = (name: string, fn: Tool["fn"], options: Partial<ToolSettings> = {}): Tool =>
  tool({ name, description: name, fn, ...options });
const wait = (tools: Tool[], options: object = {}) =>
  client.session(fakeSessionId).waitForCompletion({ tools, ...options });

/** A call that a test ends by hand. */
function makeHeld(options: Partial<ToolSettings> = {}) {
  const held = { calls: 0, signals: [] as AbortSignal[], finish: (_: unknown) => {}, fail: (_: Error) => {} };
  const fn = (_: unknown, { signal }: { signal: AbortSignal }) => {
    held.calls += 1;
    held.signals.push(signal);
    return new Promise((resolve, reject) => {
      held.finish = resolve;
      held.fail = reject;
    });
  };
  return { held, tool: makeTool("held", fn, options) };
}

describe("a call", () => {
  it("runs once for two waits of two handles at the same time", async () => {
    const { held, tool } = makeHeld();
    server.call(fakeCall("held"));
    const waits = [wait([tool]), wait([tool])];
    await waitFor(() => held.calls > 0 && server.waitingPolls() === 2, { what: "both waits" });
    held.finish("pong");
    for (const result of await Promise.all(waits)) expect(result).toMatchObject({ answer: "Done." });
    expect(held.calls).toBe(1);
    expect(server.results).toMatchObject([{ result: "pong" }]);
  });

  it("goes on when one of two waits ends", async () => {
    const { held, tool } = makeHeld();
    server.call(fakeCall("held"));
    const first = wait([tool], { timeoutMs: 500 });
    const second = wait([tool]);
    await expect(first).rejects.toThrow("was not done");
    held.finish("pong");
    expect(await second).toMatchObject({ answer: "Done." });
    expect(held.calls).toBe(1);
    expect(held.signals[0]?.aborted).toBe(false);
  });

  it("has its kept result posted by a later handle", async () => {
    server.intercept = replyOnce("POST", "/tool_results", { status: 401, body: { detail: "Unknown key." } });
    server.call(fakeCall("ping"));
    let calls = 0;
    const ping = makeTool("ping", () => ++calls);
    await expect(wait([ping])).rejects.toThrow("Unknown key.");
    expect(await wait([ping])).toMatchObject({ answer: "Done." });
    expect(calls).toBe(1);
    expect(server.results).toMatchObject([{ result: 1 }]);
  });

  it("runs once when the reply to its result is lost", async () => {
    server.intercept = replyOnce("POST", "/tool_results", "late");
    server.call(fakeCall("ping"));
    let calls = 0;
    expect(await wait([makeTool("ping", () => ++calls)])).toMatchObject({ answer: "Done." });
    expect(calls).toBe(1);
  });

  it("that comes to a result after its wait has ended is not run again", async () => {
    const { held, tool } = makeHeld();
    server.call(fakeCall("held"));
    await expect(wait([tool], { timeoutMs: 300 })).rejects.toThrow("was not done");
    held.finish("late");
    await new Promise((resolve) => setImmediate(resolve));
    expect(await wait([tool])).toMatchObject({ answer: "Done." });
    expect(held.calls).toBe(1);
    expect(server.results).toMatchObject([{ result: "late" }]);
  });

  it("that ends after the wait that began it is told in the result of another", async () => {
    const { held, tool } = makeHeld();
    server.call(fakeCall("held"));
    const first = wait([tool], { timeoutMs: 300 });
    const second = wait([tool]);
    await expect(first).rejects.toThrow("was not done");
    held.finish("pong");
    expect(await second).toMatchObject({ toolCalls: [{ executedHere: true }] });
  });

  it("whose guardrail ends the run after the wait that began it ends another one", async () => {
    const { held, tool } = makeHeld({ outputGuardrails: [{ name: "strict", run: () => raise("no") }] });
    server.call(fakeCall("held"));
    const first = wait([tool], { timeoutMs: 300 });
    const second = wait([tool]);
    await expect(first).rejects.toThrow("was not done");
    held.finish("pong");
    await expect(second).rejects.toThrow("ended the run");
  });

  it("whose guardrail ends the run when nobody waits is run again by the next wait", async () => {
    const { held, tool } = makeHeld({ outputGuardrails: [{ name: "strict", run: () => raise("no") }] });
    server.call(fakeCall("held"));
    await expect(wait([tool], { timeoutMs: 300 })).rejects.toThrow("was not done");
    held.finish("late");
    await new Promise((resolve) => setImmediate(resolve));
    const second = wait([tool]);
    await waitFor(() => held.calls === 2, { what: "the second run" });
    held.finish("pong");
    await expect(second).rejects.toThrow("ended the run");
  });

  it("is posted with its own arguments, whatever its function did to them", async () => {
    server.call(fakeCall("spoil", { id: 1 }));
    await wait([
      makeTool("spoil", (args) => {
        Object.assign(args as object, { id: 2n, self: args });
        return "done";
      }),
    ]);
    expect(server.results).toMatchObject([{ tool_req: { args: { id: 1 } }, result: "done" }]);
  });

  it.each(["none", "idempotent", "unsafe"] as const)(
    "with side effects %s that runs still is waited for by the next wait, and not run beside it",
    async (sideEffects) => {
      const { held, tool } = makeHeld({ sideEffects });
      server.call(fakeCall("held"));
      await expect(wait([tool], { timeoutMs: 300 })).rejects.toThrow("was not done");
      const second = wait([tool]);
      await waitFor(() => server.waitingPolls() > 0, { what: "the second wait" });
      held.finish("done");
      expect(await second).toMatchObject({ answer: "Done." });
      expect(held.calls).toBe(1);
      expect(server.results).toMatchObject([{ result: "done" }]);
    },
  );

  it.each([
    { sideEffects: "none", calls: 2, result: { result: "done" } },
    { sideEffects: "unsafe", calls: 1, result: { error: expect.stringMatching(/unknown/) } },
  ] as const)(
    "with side effects $sideEffects that fails while the next wait waits for it is seen to then",
    async (expected) => {
      const { held, tool } = makeHeld({ sideEffects: expected.sideEffects });
      server.call(fakeCall("held"));
      await expect(wait([tool], { timeoutMs: 300 })).rejects.toThrow("was not done");
      const second = wait([tool]);
      await waitFor(() => server.waitingPolls() > 0, { what: "the second wait" });
      held.fail(new Error("Aborted"));
      await waitFor(() => held.calls === expected.calls, { what: "the last run" });
      if (expected.calls === 2) held.finish("done");
      await second;
      expect(held.calls).toBe(expected.calls);
      expect(server.results).toMatchObject([expected.result]);
    },
  );

  it.each(["none", "idempotent"] as const)(
    "with side effects %s runs again after its wait was given up",
    async (sideEffects) => {
      const { held, tool } = makeHeld({ sideEffects });
      server.call(fakeCall("held"));
      await expect(wait([tool], { timeoutMs: 300 })).rejects.toThrow("was not done");
      held.fail(new Error("Aborted"));
      await new Promise((resolve) => setImmediate(resolve));
      const second = wait([tool]);
      await waitFor(() => held.calls === 2, { what: "the second call" });
      held.finish("done");
      expect(await second).toMatchObject({ answer: "Done." });
      expect(server.results).toMatchObject([{ result: "done" }]);
    },
  );

  it("that is unsafe and was given up is told to the model as unknown", async () => {
    const { held, tool } = makeHeld({ sideEffects: "unsafe" });
    server.call(fakeCall("held"));
    await expect(wait([tool], { timeoutMs: 300 })).rejects.toThrow("was not done");
    held.fail(new Error("Aborted"));
    await new Promise((resolve) => setImmediate(resolve));
    await wait([tool]);
    expect(held.calls).toBe(1);
    expect(server.results).toMatchObject([
      {
        kind: "error_event",
        error: expect.stringMatching(/unknown.*may or may not.*Check before trying again/),
      },
    ]);
  });

  it("is not run again for an old list that names it still", async () => {
    let calls = 0;
    const ping = makeTool("ping", () => ++calls);
    server.onResumed = () => {};
    server.call(fakeCall("ping"));
    const running = wait([ping]);
    await waitFor(() => server.results.length === 1, { what: "the result" });
    const old = { ...fakeCall("ping") };
    server.intercept = replyOnce("GET", "/changes", {
      status: 200,
      body: {
        status: "awaiting_tool_results",
        new_events: [
          {
            type: "ActiveStateChangeEvent",
            timestamp: "",
            data: { state: "awaiting_tool_results", pending_tool_calls: [old] },
          },
        ],
        next_index: 1,
        has_more: false,
      },
    });
    server.endPolls();
    await waitFor(() => server.waitingPolls() > 0, { what: "the next poll" });
    server.answer("Done.");
    expect((await running).events).toHaveLength(3);
    expect(calls).toBe(1);
  });
});

describe("what a client keeps of its sessions", () => {
  const source = { api: {} as TandemClient, journal: null };
  const environment = () =>
    new RunEnvironment({
      tools: [makeTool("hang", () => new Promise(() => {}))],
      context: undefined,
      maxConcurrency: undefined,
      askPermission: null,
      onFailure: () => {},
    });
  /** A wait that is given up while its call runs. */
  const forsake = (runs: RunsOfSessions, id: string) => {
    const wait = environment();
    const session = runs.use(id);
    session.join(wait);
    session.follow(wait, { pending: [fakeCall("hang")], nextIndex: 1, mayStart: true });
    session.leave(wait);
    runs.release(id, { isOver: false });
  };

  it("is nothing when a wait ends with nothing open, or the session's turn is over", () => {
    const runs = new RunsOfSessions(source);
    const wait = environment();
    runs.use("a").join(wait);
    expect(runs.size).toBe(1);
    runs.use("a").leave(wait);
    runs.release("a", { isOver: false });
    expect(runs.size).toBe(0);
    forsake(runs, "b");
    expect(runs.size).toBe(1);
    runs.release("b", { isOver: true });
    expect(runs.size).toBe(0);
  });

  it("is bounded, and what is used is not let go", () => {
    const runs = new RunsOfSessions(source);
    const used = runs.use("used");
    used.join(environment());
    for (let n = 0; n < 1_100; n += 1) forsake(runs, `session-${n}`);
    expect(runs.size).toBe(1_001);
    expect(runs.use("used")).toBe(used);
  });
});

describe("maxConcurrency", () => {
  /** Tools that count how many run at once, and let each through after the others had a chance to begin. */
  function counted(names: string[], options: Partial<ToolSettings> = {}) {
    const seen = { most: 0, now: 0, order: [] as unknown[] };
    const fn = async (args: unknown) => {
      seen.order.push((args as { n: number }).n);
      seen.now += 1;
      seen.most = Math.max(seen.most, seen.now);
      await new Promise((resolve) => setTimeout(resolve, 20));
      seen.now -= 1;
    };
    return { seen, tools: names.map((name) => makeTool(name, fn, options)) };
  }
  const calls = (...names: string[]) => names.map((name, n) => fakeCall(name, { n }, `call_${n}`));

  it("of a run bounds all its calls, which take their turns in order", async () => {
    const { seen, tools } = counted(["a", "b"]);
    server.call(...calls("a", "b", "a", "b", "a"));
    await wait(tools, { maxConcurrency: 2 });
    expect(seen).toEqual({ most: 2, now: 0, order: [0, 1, 2, 3, 4] });
  });

  it("of a tool bounds its calls, and holds back no others", async () => {
    const { held, tool } = makeHeld({ maxConcurrency: 1 });
    const { seen, tools } = counted(["a"]);
    server.call(...calls("held", "held", "a", "a"));
    const running = wait([tool, ...tools], { maxConcurrency: 3 });
    await waitFor(() => seen.order.length === 2, { what: "the other tool's calls" });
    expect(held.calls).toBe(1);
    held.finish(1);
    await waitFor(() => held.calls === 2, { what: "the second call" });
    held.finish(2);
    await running;
  });

  it("never runs a call that is withdrawn while it waits", async () => {
    const { held, tool } = makeHeld();
    const [first, second] = calls("held", "held");
    server.call(first as never, second as never);
    const running = wait([tool], { maxConcurrency: 1 });
    await waitFor(() => held.calls === 1, { what: "the first call" });
    server.call(first as never);
    await waitFor(() => server.requestsTo("GET", "/changes").length === 3, { what: "the poll after it" });
    held.finish("done");
    expect(await running).toMatchObject({ answer: "Done." });
    expect(held.calls).toBe(1);
  });

  it("below 1 is refused", async () => {
    await expect(wait([makeTool("a", () => 1)], { maxConcurrency: 0 })).rejects.toThrow("at least 1");
  });
});

describe("progress", () => {
  const sent = () => server.requestsTo("POST", "/progress").map(({ body }) => body.progress);

  it("is sent for its call, and resolves when it is there", async () => {
    server.call(fakeCall("work"));
    await wait([makeTool("work", async (_, { progress }) => progress({ percent: 50 }))]);
    expect(server.requestsTo("POST", "/tool_calls/call_1/progress")).toHaveLength(1);
    expect(sent()).toEqual([{ percent: 50 }]);
  });

  it("in quick succession is cut down to the latest, one request at a time", async () => {
    server.call(fakeCall("work"));
    await wait([
      makeTool("work", async (_, { progress }) => {
        const all = [1, 2, 3, 4, 5].map((value) => progress(value));
        await Promise.all(all);
      }),
    ]);
    expect(sent()).toEqual([1, 5]);
  });

  it("whose request stalls holds nothing up: neither a function that awaits it, nor a generator", async () => {
    server.intercept = ({ path }) => (path.endsWith("/progress") ? "hang" : undefined);
    server.call(fakeCall("work"), fakeCall("yield", {}, "call_2"));
    await wait(
      [
        makeTool("work", async (_, { progress }) => {
          await progress(1);
          return "done";
        }),
        makeTool("yield", async function* () {
          yield 1;
          yield 2;
        }),
      ],
      { timeoutMs: 10_000 },
    );
    expect(server.results).toMatchObject([{ results: [{ result: "done" }, { result: 2 }] }]);
  });

  it("that cannot be sent fails nothing", async () => {
    server.intercept = ({ path }) =>
      path.endsWith("/progress") ? { status: 409, body: { detail: "No." } } : undefined;
    server.call(fakeCall("work"));
    await wait([
      makeTool("work", async (_, { progress }) => {
        await progress(1);
        await progress(() => 1);
        return "done";
      }),
    ]);
    expect(server.results).toMatchObject([{ result: "done" }]);
  });
});
