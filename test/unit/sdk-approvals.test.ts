// Approvals: who is asked, what is posted, and what happens when nobody decides.
import {
  type AskPermission,
  type PermissionRequest,
  TandemClient,
  type Tool,
  type ToolSettings,
  tool,
} from "@tandem/sdk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type FakeTandemServer,
  fakeApproval,
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
  client = new TandemClient({ baseUrl: server.baseUrl, apiKey: "key", maxRetries: 0 });
});
afterEach(() => server.close());

const busy = (status: number) => ({ status, headers: { "retry-after": "0" } });
const pay = (fn: Tool["fn"] = () => "paid", options: Partial<ToolSettings> = {}) =>
  tool({ name: "pay", description: "Pays.", fn, ...options });
const run = (onPermissionRequest?: AskPermission | "elsewhere", tools = [pay()], options: object = {}) =>
  client.runSession({ agent: "tandem/assistant", tools, onPermissionRequest, ...options });
const decisions = () => server.requestsTo("POST", "/approvals").map(({ body }) => body);

describe("a call that waits for an approval", () => {
  it("is shown to the handler, and runs when that allows it", async () => {
    server.askFor(fakeApproval(fakeCall("pay", { to: "Ada" })));
    const seen: PermissionRequest[] = [];
    const paid = pay();
    const result = await run(
      (request) => {
        seen.push(request);
        return "allow";
      },
      [paid],
    );
    expect(result).toMatchObject({ answer: "Done." });
    expect(seen).toMatchObject([
      { source: "server", sessionId: fakeSessionId, args: { to: "Ada" }, reason: "tool", deadline: null },
    ]);
    expect(seen[0]?.call).toEqual({ tool_name: "pay", args: { to: "Ada" }, id: "call_1" });
    expect(seen[0]?.tool).toBe(paid);
    expect(decisions()).toEqual([{ call_id: "call_1", decision: "allow" }]);
    expect(server.results).toMatchObject([{ result: "paid" }]);
  });

  it("is asked for once, however often the session tells of it", async () => {
    let asked = 0;
    let decide = (_: "allow") => {};
    server.askFor(fakeApproval(fakeCall("pay")));
    const running = run(() => {
      asked += 1;
      return new Promise((resolve) => {
        decide = resolve;
      });
    });
    await waitFor(() => asked === 1 && server.waitingPolls() > 0, { what: "the question" });
    server.append({ type: "RequestStartEvent", data: {} });
    await waitFor(() => server.requestsTo("GET", "/changes").length === 3, { what: "the next poll" });
    decide("allow");
    await running;
    expect(asked).toBe(1);
  });

  it("is asked for at the same time as others", async () => {
    const open = new Map<string, (decision: "allow") => void>();
    server.askFor(...["call_1", "call_2"].map((id) => fakeApproval(fakeCall("pay", {}, id))));
    const running = run(({ call }) => new Promise((resolve) => void open.set(call.id ?? "", resolve)));
    await waitFor(() => open.size === 2, { what: "both questions" });
    open.get("call_2")?.("allow");
    open.get("call_1")?.("allow");
    expect(await running).toMatchObject({ answer: "Done." });
  });

  it("carries what the handler says with its decision", async () => {
    server.askFor(
      fakeApproval(fakeCall("pay", { eur: 500 }, "call_1")),
      fakeApproval(fakeCall("pay", { eur: 900 }, "call_2")),
    );
    const running = run(({ args }) =>
      args.eur === 500
        ? { decision: "allow", args: { eur: 5 }, remember: "session" }
        : { decision: "deny", message: "Too much." },
    );
    await waitFor(() => decisions().length === 2, { what: "both decisions" });
    expect(decisions()).toEqual(
      expect.arrayContaining([
        { call_id: "call_1", decision: "allow", args: { eur: 5 }, remember: "session" },
        { call_id: "call_2", decision: "deny", message: "Too much." },
      ]),
    );
    await running;
  });

  it("that somebody else decides on aborts the question", async () => {
    let request: PermissionRequest | undefined;
    server.askFor(fakeApproval(fakeCall("pay")));
    const running = run((asked) => {
      request = asked;
      return new Promise(() => {});
    });
    await waitFor(() => request, { what: "the question" });
    server.decide("call_1", "allow");
    expect(await running).toMatchObject({ answer: "Done." });
    expect(request?.signal.aborted).toBe(true);
    expect(decisions()).toEqual([]);
  });

  it("that was decided in the meantime is fine: the 409 ends nothing", async () => {
    server.intercept = replyOnce("POST", "/approvals", {
      status: 409,
      body: { detail: "No.", code: "approval_conflict" },
    });
    server.askFor(fakeApproval(fakeCall("pay")));
    const running = run(() => "deny");
    await waitFor(() => decisions().length === 1, { what: "the decision" });
    server.decide("call_1", "allow");
    expect(await running).toMatchObject({ answer: "Done." });
    expect(decisions()).toHaveLength(1);
  });

  it.each(["disconnect", "502", "503"])(
    "has its decision posted again after %s, without a second question",
    async (fault) => {
      const failure = fault === "disconnect" ? "disconnect" : busy(Number(fault));
      server.intercept = replyOnce("POST", "/approvals", failure, failure);
      server.askFor(fakeApproval(fakeCall("pay")));
      let asked = 0;
      await run(() => {
        asked += 1;
        return "allow";
      });
      expect(asked).toBe(1);
      expect(decisions()).toHaveLength(3);
    },
  );

  it("ends the wait with what the handler throws", async () => {
    server.askFor(fakeApproval(fakeCall("pay")));
    const running = run(() => {
      throw new Error("The prompt is closed");
    });
    await expect(running).rejects.toThrow("The prompt is closed");
    expect(decisions()).toEqual([]);
  });
});

describe("without a handler", () => {
  it("a wait that would never end throws an error that names the tool and the way out", async () => {
    server.askFor(fakeApproval(fakeCall("pay")));
    const error = await run().catch((error) => error);
    expect(error).toMatchObject({ name: "PermissionRequiredError", sessionId: fakeSessionId });
    expect(error.calls).toMatchObject([{ tool_name: "pay", id: "call_1" }]);
    expect(error.message).toContain('"pay"');
    expect(error.message).toContain("onPermissionRequest");
  });

  it("a wait goes on while the approval has a deadline", async () => {
    server.askFor(fakeApproval(fakeCall("pay"), "2030-01-01T00:00:00Z"));
    const running = run();
    await waitFor(() => server.waitingPolls() > 0, { what: "the second poll" });
    server.decide("call_1", "allow");
    expect(await running).toMatchObject({ answer: "Done." });
  });

  it("a wait goes on when others decide", async () => {
    server.askFor(fakeApproval(fakeCall("pay")));
    const running = run("elsewhere");
    await waitFor(() => server.waitingPolls() > 0, { what: "the second poll" });
    server.decide("call_1", "allow");
    expect(await running).toMatchObject({ answer: "Done." });
  });

  it("a wait goes on while a call runs here", async () => {
    let finish = (_: string) => {};
    server.call(fakeCall("pay", {}, "call_1"));
    server.askFor(fakeApproval(fakeCall("pay", {}, "call_2")));
    const hanging = pay(
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    const running = run(undefined, [hanging]);
    await waitFor(() => server.waitingPolls() > 0, { what: "a waiting poll" });
    finish("paid");
    await waitFor(() => server.results.length === 1, { what: "the result" });
    server.decide("call_2", "deny");
    server.answer("Done.");
    expect(await running).toMatchObject({ answer: "Done." });
  });
});

describe("a tool's own requiresApproval", () => {
  it("asks the same handler", async () => {
    server.call(fakeCall("pay", { eur: 5 }));
    const seen: PermissionRequest[] = [];
    await run(
      (request) => {
        seen.push(request);
        return { decision: "deny", message: "Not on a Sunday." };
      },
      [pay(undefined, { requiresApproval: true })],
    );
    expect(seen).toMatchObject([{ source: "tool", args: { eur: 5 } }]);
    expect(server.results).toMatchObject([
      { kind: "error_event", error: expect.stringContaining("Not on a Sunday.") },
    ]);
    expect(decisions()).toEqual([]);
  });

  it("ends the wait with what the handler throws, and is asked again by the next", async () => {
    server.call(fakeCall("pay"));
    const tools = [pay(undefined, { requiresApproval: true })];
    const failing = run(() => {
      throw new Error("No terminal");
    }, tools);
    await expect(failing).rejects.toThrow("No terminal");
    expect(server.results).toEqual([]);
    await run(() => "allow", tools);
    expect(server.results).toMatchObject([{ kind: "tool_result" }]);
  });

  it.each([
    ["never answers", () => new Promise<never>(() => {})],
    [
      "gives up with its signal",
      ({ signal }: PermissionRequest) =>
        new Promise<never>((_, reject) => {
          signal.addEventListener("abort", () => reject(new Error("Nobody came")));
        }),
    ],
  ])(
    "that %s while the wait lasts leaves the call open: an unsafe tool has done nothing yet",
    async (_, ask) => {
      server.call(fakeCall("pay"));
      const tools = [pay(undefined, { requiresApproval: true, sideEffects: "unsafe" })];
      await expect(run(ask, tools, { timeoutMs: 300 })).rejects.toThrow("was not done");
      await run(() => "allow", tools);
      expect(server.results).toMatchObject([{ kind: "tool_result" }]);
    },
  );

  it("tells the model when nobody answers", async () => {
    server.call(fakeCall("pay"));
    await run(undefined, [pay(undefined, { requiresApproval: true })]);
    expect(server.results).toMatchObject([
      { kind: "error_event", error: expect.stringContaining("onPermissionRequest") },
    ]);
  });
});
