// One call: what is checked and asked before a tool's function runs, what it may return, and what is posted.
import {
  allow,
  type Guardrail,
  GuardrailError,
  raise,
  reject,
  type Tool,
  type ToolContext,
  tool,
} from "@tandem/sdk";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import * as z from "zod";
import { type CallEnvironment, type CallOutcome, callTool } from "../../apps/sdk/src/call-tool.ts";
import type { PermissionRequest } from "../../apps/sdk/src/permissions.ts";
import { waitFor } from "../support/wait-for.ts";

const environment = (more: Partial<CallEnvironment> = {}): CallEnvironment => ({
  sessionId: "s",
  callId: "c",
  signal: new AbortController().signal,
  context: { user: "ada" },
  progress: async () => {},
  askPermission: null,
  ...more,
});
const call = (made: Tool, args: Record<string, unknown> = {}, more: Partial<CallEnvironment> = {}) =>
  callTool([made], { tool_name: made.name, args, id: "c" }, environment(more));
const make = (options: Partial<Parameters<typeof tool<{ n: number }>>[0]> & { fn: Tool["fn"] }) =>
  tool<{ n: number }>({ name: "x", description: "d", ...options });
const returning = (value: unknown) => make({ fn: () => value });
const resultOf = ({ posted }: CallOutcome) =>
  posted.kind === "tool_result" ? posted.result : `Error: ${posted.error}`;

const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const pngUri = `data:image/png;base64,${Buffer.from(png).toString("base64")}`;

describe("a call", () => {
  it("gets its context, and posts what the function returns", async () => {
    const seen: ToolContext[] = [];
    const outcome = await call(make({ fn: (_, context) => void seen.push(context) }), { n: 1 });
    expect(seen).toMatchObject([
      { sessionId: "s", callId: "c", idempotencyKey: "s/c", context: { user: "ada" } },
    ]);
    expect(outcome).toEqual({
      posted: { kind: "tool_result", tool_req: { tool_name: "x", args: { n: 1 }, id: "c" }, result: null },
      guardrailResults: [],
      raised: null,
    });
  });

  it("of a tool that is not enabled now is refused", async () => {
    let calls = 0;
    const gated = make({ enabled: ({ context }) => context === "admin", fn: () => ++calls });
    expect(resultOf(await call(gated))).toBe('Error: The tool "x" cannot be used now.');
    expect(resultOf(await call(gated, {}, { context: "admin" }))).toBe(1);
    expect(calls).toBe(1);
  });

  it("has its arguments transformed, and is not run where they do not fit", async () => {
    const seen: unknown[] = [];
    const inputSchema = z.object({ day: z.string().transform((day) => day.length) });
    const made = tool({ name: "x", description: "d", inputSchema, fn: ({ day }) => void seen.push(day) });
    await call(made, { day: "monday" });
    expect(resultOf(await call(made, { day: 1 }))).toMatch(
      /^Error: The arguments do not fit: args\.day: .*string/,
    );
    expect(seen).toEqual([6]);
  });

  it("is bounded by `timeoutMs`, which aborts its signal", async () => {
    let reason: unknown;
    const slow = make({
      timeoutMs: 20,
      fn: (_, { signal }) => {
        signal.addEventListener("abort", () => {
          reason = signal.reason;
        });
        return new Promise(() => {});
      },
    });
    expect(resultOf(await call(slow))).toBe("Error: The tool took longer than 20 ms");
    expect(reason).toBeInstanceOf(Error);
  });

  it("that does not heed its abort keeps no program from its end", async () => {
    const timers = vi.spyOn(globalThis, "setTimeout");
    onTestFinished(() => void timers.mockRestore());
    const abort = new AbortController();
    void call(make({ fn: () => new Promise(() => {}), timeoutMs: 77_777 }), {}, { signal: abort.signal });
    const clock = () => timers.mock.results[timers.mock.calls.findIndex(([, ms]) => ms === 77_777)]?.value;
    await waitFor(() => clock() !== undefined, { what: "the function" });
    expect(clock().hasRef()).toBe(true);
    abort.abort();
    expect(clock().hasRef()).toBe(false);
    clearTimeout(clock());
  });

  it("whose signal is aborted already is not run", async () => {
    let calls = 0;
    const signal = AbortSignal.abort(new Error("gone"));
    expect(resultOf(await call(make({ fn: () => ++calls }), {}, { signal }))).toBe("Error: gone");
    expect(calls).toBe(0);
  });

  it("that is aborted while its function starts leaves no rejection unhandled", async () => {
    const controller = new AbortController();
    const failing = make({
      fn: () => {
        controller.abort(new Error("gone"));
        return Promise.reject(new Error("late"));
      },
    });
    expect(resultOf(await call(failing, {}, { signal: controller.signal }))).toBe("Error: late");
  });
});

describe("a generator", () => {
  it.each<[string, Tool["fn"], unknown]>([
    [
      "what it returns",
      async function* () {
        yield 1;
        return "end";
      },
      "end",
    ],
    [
      "the last value, where it returns none",
      async function* () {
        yield 1;
        yield 2;
      },
      2,
    ],
    ["null, where it yields none either", async function* () {}, null],
    [
      "what a generator that is promised gives",
      async () =>
        (async function* () {
          yield 3;
        })(),
      3,
    ],
  ])("has as its result %s", async (_, fn, result) => {
    expect(resultOf(await call(make({ fn })))).toBe(result);
  });

  it("shows each value that it yields, and goes on when that fails", async () => {
    const shown: unknown[] = [];
    const made = make({
      async *fn() {
        yield "a";
        yield { b: 1 };
        return "end";
      },
    });
    const progress = async (value: unknown) => {
      shown.push(value);
      throw new Error("offline");
    };
    expect(resultOf(await call(made, {}, { progress }))).toBe("end");
    expect(shown).toEqual(["a", { b: 1 }]);
  });

  it("is closed when its call is aborted", async () => {
    const controller = new AbortController();
    let isClosed = false;
    const made = make({
      async *fn() {
        try {
          for (let n = 0; ; n += 1) {
            yield n;
            await Promise.resolve();
          }
        } finally {
          isClosed = true;
        }
      },
    });
    const progress = async (n: unknown) => {
      if (n === 3) controller.abort(new Error("gone"));
    };
    expect(resultOf(await call(made, {}, { signal: controller.signal, progress }))).toBe("Error: gone");
    expect(isClosed).toBe(true);
  });

  it("that throws has failed", async () => {
    const made = make({
      async *fn() {
        yield 1;
        throw new Error("broken");
      },
    });
    expect(resultOf(await call(made))).toBe("Error: broken");
  });
});

describe("a result", () => {
  it.each<[string, unknown]>([
    ["bytes", png],
    ["a part of a buffer", new Uint8Array([0, ...png, 0].map(Number)).subarray(1, 9)],
    ["an ArrayBuffer", png.slice().buffer],
    ["a Blob", new Blob([png])],
    ["a File of no type", new File([png], "a.bin")],
    ["a promise of bytes", Promise.resolve(png)],
    ["a data URI", pngUri],
  ])("has images from %s", async (_, image) => {
    const value = { text: "A chart.", images: [image], details: { n: 1 } };
    expect(resultOf(await call(returning(value)))).toEqual({ ...value, images: [pngUri] });
  });

  it.each([
    ["jpeg", [0xff, 0xd8, 0xff, 0xe0]],
    ["gif", [0x47, 0x49, 0x46, 0x38, 0x39, 0x61]],
    ["webp", [0x52, 0x49, 0x46, 0x46, 1, 2, 3, 4, 0x57, 0x45, 0x42, 0x50]],
  ])("knows a %s by its bytes", async (format, bytes) => {
    const images = [Uint8Array.from(bytes)];
    expect(resultOf(await call(returning({ images })))).toEqual({
      images: [`data:image/${format};base64,${Buffer.from(bytes).toString("base64")}`],
    });
  });

  it("takes large images, and https URLs as they are", async () => {
    const large = new Uint8Array(1_000_003).fill(7);
    large.set(png);
    const images = [large, "https://example.com/a.png", new URL("https://example.com/b.png")];
    expect(resultOf(await call(returning({ images })))).toEqual({
      images: [
        `data:image/png;base64,${Buffer.from(large).toString("base64")}`,
        "https://example.com/a.png",
        "https://example.com/b.png",
      ],
    });
  });

  it.each<[unknown, string]>([
    ["charts/a.png", '"charts/a.png" is no https URL'],
    [new URL("file:///a.png"), 'use imageFromFile(path) of "@tandem/sdk/node"'],
    ["http://example.com/a.png", "is no https URL"],
    ["data:image/svg+xml;base64,AAAA", "nor a base64 data URI of a png, jpeg, gif or webp"],
    [Uint8Array.from([1, 2, 3]), "the bytes are none of png, jpeg, gif and webp"],
    [7, "an image is bytes, a Blob, a data URI, or an https URL"],
  ])("with the image %j is an error", async (image, fault) => {
    const result = resultOf(await call(returning({ images: [pngUri, image] })));
    expect(result).toContain('Error: Tool "x" returned an image that cannot be sent: images[1]: ');
    expect(result).toContain(fault);
  });

  it.each([
    ["[object Response]", new Response("text")],
    ["[object Map]", new Map([[1, 2]])],
    ["[object Error]", new Error("returned")],
  ])("that JSON makes nothing of is an error: %s", async (kind, value) => {
    expect(resultOf(await call(returning(value)))).toBe(
      `Error: Tool "x" returned a value that JSON cannot carry: ${kind}`,
    );
  });

  it("with other keys is plain JSON, and an error in parts may be an Error", async () => {
    expect(resultOf(await call(returning({ images: ["a.png"], count: 1 })))).toEqual({
      images: ["a.png"],
      count: 1,
    });
    expect(resultOf(await call(returning({ error: new Error("Sold out.") })))).toEqual({
      error: "Sold out.",
    });
  });

  it("that JSON cannot carry is an error", async () => {
    expect(resultOf(await call(returning(1n)))).toMatch(
      /^Error: Tool "x" returned a value that JSON cannot carry: .*BigInt/,
    );
  });
});

describe("a guardrail", () => {
  const rule = (name: string, run: Guardrail<never>["run"]): Guardrail => ({
    name,
    run: run as Guardrail["run"],
  });

  it("sees arguments as `fn` gets them, and the result as it is posted", async () => {
    const seen: unknown[] = [];
    const look = rule("look", (value, context) => {
      seen.push([value, context.tool, context.callId]);
      return allow();
    });
    const inputSchema = z.object({ n: z.number().default(1) });
    const made = tool({
      name: "x",
      description: "d",
      inputSchema,
      inputGuardrails: [look],
      outputGuardrails: [look],
      fn: () => new Date(0),
    });
    const { guardrailResults } = await call(made);
    expect(seen).toEqual([
      [{ n: 1 }, "x", "c"],
      ["1970-01-01T00:00:00.000Z", "x", "c"],
    ]);
    const said = { guardrail: "look", tool: "x", callId: "c", verdict: "allow", message: null };
    expect(guardrailResults).toEqual([
      { ...said, stage: "input" },
      { ...said, stage: "output" },
    ]);
  });

  it("that rejects arguments keeps the tool from running: the model reads why, and later guardrails are not asked", async () => {
    let calls = 0;
    const made = make({
      inputGuardrails: [
        rule("limit", async ({ n }: { n: number }) => (n > 9 ? reject("At most 9.") : allow())),
        rule("never", () => raise("Asked.")),
      ],
      fn: () => ++calls,
    });
    const outcome = await call(made, { n: 10 });
    expect(resultOf(outcome)).toBe("Error: At most 9.");
    expect(outcome).toMatchObject({
      raised: null,
      guardrailResults: [{ guardrail: "limit", verdict: "reject" }],
    });
    expect(outcome.guardrailResults).toHaveLength(1);
    expect(calls).toBe(0);
  });

  it("that rejects a result holds it back", async () => {
    const made = make({
      outputGuardrails: [rule("secrets", () => reject("Held back."))],
      fn: () => "secret",
    });
    const outcome = await call(made);
    expect(resultOf(outcome)).toBe("Error: Held back.");
    expect(JSON.stringify(outcome.posted)).not.toContain("secret");
  });

  it("that raises ends the run, with what all have said", async () => {
    const made = make({
      inputGuardrails: [rule("first", () => allow()), rule("stop", () => raise("Fraud."))],
      fn: () => 1,
    });
    const { raised, guardrailResults } = await call(made);
    expect(raised).toBeInstanceOf(GuardrailError);
    expect(raised).toMatchObject({ sessionId: "s", guardrailResults });
    expect(raised?.message).toBe('Guardrail "stop" ended the run: Fraud.');
    expect(guardrailResults.map(({ verdict }) => verdict)).toEqual(["allow", "raise"]);
  });

  it("that fails, or gives no verdict, holds the value back", async () => {
    const failing = rule("broken", () => {
      throw new Error("offline");
    });
    expect(resultOf(await call(make({ inputGuardrails: [failing], fn: () => 1 })))).toBe(
      'Error: The guardrail "broken" failed: offline',
    );
    const silent = rule("silent", () => undefined as never);
    expect(resultOf(await call(make({ inputGuardrails: [silent], fn: () => 1 })))).toBe(
      'Error: The guardrail "silent" gave no verdict.',
    );
  });
});

describe("a call that needs a permission", () => {
  const seen: unknown[] = [];
  const inputSchema = z.object({ n: z.number().transform((n) => n * 10) });
  const careful = tool({
    name: "x",
    description: "d",
    inputSchema,
    requiresApproval: async ({ n }) => n > 50,
    fn: ({ n }) => n,
  });

  it("is run where nobody need be asked, and is an error where nobody can be", async () => {
    expect(resultOf(await call(careful, { n: 5 }))).toBe(50);
    expect(resultOf(await call(careful, { n: 6 }))).toMatch(
      /^Error: .*nobody here can give one \(there is no onPerm/,
    );
  });

  it("asks with the call as the model wrote it", async () => {
    const askPermission = async (request: PermissionRequest) => {
      seen.push(request);
      return "allow" as const;
    };
    expect(resultOf(await call(careful, { n: 6 }, { askPermission }))).toBe(60);
    expect(seen).toMatchObject([
      { source: "tool", sessionId: "s", call: { tool_name: "x", id: "c" }, tool: careful, args: { n: 6 } },
    ]);
  });

  it("is run with the arguments that come with the permission, where they fit", async () => {
    const allowWith = (args: Record<string, unknown>) => ({
      askPermission: async () => ({ decision: "allow" as const, args }),
    });
    expect(resultOf(await call(careful, { n: 6 }, allowWith({ n: 9 })))).toBe(90);
    expect(resultOf(await call(careful, { n: 6 }, allowWith({ n: "9" })))).toMatch(
      /^Error: The arguments do not fit/,
    );
  });

  it("is not run when it is denied, and the model reads why", async () => {
    const deny = (decision: Awaited<ReturnType<NonNullable<CallEnvironment["askPermission"]>>>) =>
      call(careful, { n: 6 }, { askPermission: async () => decision });
    expect(resultOf(await deny("deny"))).toBe("Error: The call was denied, and not run.");
    expect(resultOf(await deny({ decision: "deny", message: "Too much." }))).toBe(
      "Error: The call was denied, and not run: Too much.",
    );
  });

  it("is not run when whoever is asked fails", async () => {
    const askPermission = async () => Promise.reject(new Error("no terminal"));
    expect(resultOf(await call(careful, { n: 6 }, { askPermission }))).toBe("Error: no terminal");
  });
});

describe("the side effects of a tool", () => {
  it("are none by default, and unsafe for one that acts", () => {
    expect(make({ fn: () => 1 }).sideEffects).toBe("none");
    expect(make({ capability: "actuator", fn: () => 1 }).sideEffects).toBe("unsafe");
    expect(make({ capability: "actuator", sideEffects: "idempotent", fn: () => 1 }).sideEffects).toBe(
      "idempotent",
    );
  });
});

describe("a tool", () => {
  it.each([{ timeoutMs: 0 }, { timeoutMs: Number.NaN }, { maxConcurrency: 0 }])("refuses %j", (bounds) => {
    expect(() => make({ ...bounds, fn: () => 1 })).toThrow('Tool "x": ');
  });
});
