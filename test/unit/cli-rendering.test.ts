// What the command line shows: harmless texts, colour where it is seen, lines and questions that do not get mixed up.
import { PassThrough } from "node:stream";
import { checkNode, checkSettings } from "@tandem/cli/doctor/check-machine";
import { CliError, exitCodes } from "@tandem/cli/exit-codes";
import { explainError } from "@tandem/cli/explain-error";
import { createDecider, readDecision } from "@tandem/cli/run/approvals";
import { createTeller } from "@tandem/cli/run/tell-event";
import { createTextPieces } from "@tandem/cli/run/text-pieces";
import { shorten, toHarmless, toHarmlessJson, toHarmlessLine } from "@tandem/cli/terminal/harmless";
import { createPaint, hasColour } from "@tandem/cli/terminal/paint";
import { createStatusLine } from "@tandem/cli/terminal/status-line";
import { toTable } from "@tandem/cli/terminal/table";
import {
  APIError,
  ConnectionError,
  type PermissionRequest,
  type SessionEvent,
  TimeoutError,
} from "@tandem/sdk";
import { describe, expect, it } from "vitest";
import { waitFor } from "../support/wait-for.ts";

const plain = createPaint({});

describe("texts of models and tools", () => {
  it("show control characters as signs, and keep lines and tabs", () => {
    expect(toHarmless("a\tb\r\nc\u001b[2J\u0007\u007f\u009b1m")).toBe("a\tb\nc␛[2J␇␡\\u009b1m");
    expect(toHarmless("left\u202eright\u2066")).toBe("left\\u202eright\\u2066");
    expect(toHarmless("half \ud83d, whole 😀")).toBe("half \ufffd, whole 😀");
    expect(toHarmlessLine("a\nb\rc")).toBe("a⏎b␍c");
  });

  it("are escaped in JSON, which reads back as the same", () => {
    const value = { text: "\u001b[31m\u009b\u202e\u007f" };
    const json = toHarmlessJson(value);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left
    expect(json).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    expect(JSON.parse(json)).toEqual(value);
  });

  it("are cut between characters", () => {
    expect(shorten("😀😀😀", 2)).toBe("😀…");
    expect(shorten("abc", 3)).toBe("abc");
  });

  it("stand in columns, whatever is in them", () => {
    expect(
      toTable(
        ["ID", "TEXT"],
        [
          ["1", "a\nb"],
          ["long", ""],
        ],
      ),
    ).toEqual(["ID    TEXT", "1     a⏎b", "long"]);
  });
});

describe("colour", () => {
  it.each([
    [{ isTTY: true }, {}, true],
    [{ isTTY: false }, {}, false],
    [{ isTTY: true }, { NO_COLOR: "1" }, false],
    [{ isTTY: true }, { NO_COLOR: "" }, true],
    [{ isTTY: false }, { FORCE_COLOR: "1" }, true],
    [{ isTTY: true }, { FORCE_COLOR: "0" }, false],
    [{ isTTY: true }, { TERM: "dumb" }, false],
    [{ isTTY: true }, { FORCE_COLOR: "1", NO_COLOR: "1" }, false],
  ])("of %j with %j is %s", (stream, env, expected) => {
    expect(hasColour(stream, { env })).toBe(expected);
    expect(hasColour(stream, { env, color: false })).toBe(false);
  });
});

describe("the status line", () => {
  const open = (isTTY: boolean) => {
    const output = { isTTY, columns: 40, text: "", write: (text: string) => (output.text += text) };
    return { output, status: createStatusLine(output, plain) };
  };

  it("is not there where there is no terminal", () => {
    const { output, status } = open(false);
    status.set("busy");
    status.write(["one"]);
    status.close();
    expect(output.text).toBe("one\n");
  });

  it("gives way to lines, and comes back under them", () => {
    const { output, status } = open(true);
    status.set("busy");
    status.write(["one"]);
    status.close();
    const shown = output.text.replaceAll("\r\u001b[K", "|").replaceAll(/[\u2800-\u28ff]/g, "*");
    expect(shown).toBe("|* busy|one\n|* busy|");
  });

  it("keeps lines back while a question is open", () => {
    const { output, status } = open(false);
    const release = status.hold();
    status.write(["late"]);
    output.write("question? ");
    release();
    release();
    expect(output.text).toBe("question? late\n");
  });

  it("ends a line of running text before another line", () => {
    const { output, status } = open(false);
    status.append("so it ", output.write);
    status.append("goes", output.write);
    status.write(["next"]);
    status.append("done\n", output.write);
    status.close();
    expect(output.text).toBe("so it goes\nnext\ndone\n");
  });
});

describe("pieces of the model's text", () => {
  it("are put together, without halves of characters or of line ends", () => {
    const pieces = createTextPieces();
    const take = (offset: number, text: string) => pieces.take({ type: "delta", step: 1, offset, text });
    expect(take(0, "a\ud83d")).toEqual({ text: "a", isAnew: true });
    expect(take(2, "\ude00\r")).toEqual({ text: "😀", isAnew: false });
    expect(take(4, "\nb")).toEqual({ text: "\nb", isAnew: false });
    expect(pieces.whole()).toBe("a😀\r\nb");
  });

  it("begin anew with a request that is made again, and are not whole when some are missing", () => {
    const pieces = createTextPieces();
    const take = (step: number, offset: number, text: string) =>
      pieces.take({ type: "delta", step, offset, text });
    take(1, 0, "fir");
    expect(take(1, 0, "again")).toEqual({ text: "again", isAnew: true });
    expect(pieces.whole()).toBe("again");
    take(2, 7, "the end");
    expect(pieces.whole()).toBeNull();
  });
});

describe("a session's events", () => {
  const event = (second: number, type: string, data: object) =>
    ({ type, timestamp: `2026-01-01T00:00:0${second}.000Z`, data }) as SessionEvent;
  const call = { tool_name: "send", args: { to: "ann" }, id: "call_1" };

  it("are told with each call's end and how long it took", () => {
    const teller = createTeller(plain, { showsAnswer: true });
    const lines = [
      event(1, "AgentEvent", { kind: "policy_event", content: "Wait \u001b[1m", tool_reqs: [call] }),
      event(3, "AgentEvent", { kind: "tool_result", tool_req: call, result: "sent\nall" }),
      event(4, "AgentEvent", { kind: "answer_event", answer: { ok: true }, outcome: null }),
      event(5, "AgentCompletionEvent", { reason: "finished" }),
    ].flatMap((item) => teller.tell(item));
    expect(lines).toEqual([
      "Wait ␛[1m",
      '→ send {"to":"ann"}',
      "← send sent⏎all 2.0 s",
      "✓ The answer:",
      '{\n  "ok": true\n}',
    ]);
  });

  it("of types that come later say nothing", () => {
    expect(createTeller(plain, { showsAnswer: true }).tell(event(1, "NewEvent", {}))).toEqual([]);
  });
});

describe("a typed line", () => {
  it.each([
    ["y", { decision: "allow" }],
    [" YES ", { decision: "allow" }],
    ["a", { decision: "allow", remember: "session" }],
    ["n", { decision: "deny" }],
    ["n  too dear ", { decision: "deny", message: "too dear" }],
    ["", null],
    ["yeah, no", null],
  ])("%j decides %j", (line, decision) => {
    expect(readDecision(line)).toEqual(decision);
  });
});

describe("requests for permission", () => {
  const request = (name: string, signal = new AbortController().signal): PermissionRequest => ({
    source: "tool",
    sessionId: "s",
    call: { tool_name: name, args: { path: "\u001b]0;x" }, id: name },
    tool: null,
    args: { path: "\u001b]0;x" },
    reason: null,
    deadline: null,
    signal,
  });
  const open = () => {
    const input = new PassThrough();
    const output = Object.assign(new PassThrough(), { text: "" });
    output.on("data", (chunk) => {
      output.text += chunk;
    });
    const failures: Error[] = [];
    const decide = createDecider({
      mode: "ask",
      conversation: { input, output },
      status: createStatusLine({ write: () => true }, plain),
      paint: plain,
      onNobody: (error) => failures.push(error),
    });
    const asked = (times: number) =>
      waitFor(() => output.text.split("Allow ").length - 1 === times, { what: `question ${times}` });
    return { input, output, failures, decide, asked };
  };

  it("are asked one after the other, show the whole call without harm, and ask again for what is no answer", async () => {
    const { input, output, decide, asked } = open();
    const first = decide(request("first"));
    const second = decide(request("second"));
    await asked(1);
    expect(output.text).toContain('"path": "\\u001b]0;x"');
    input.write("what?\n");
    await asked(2);
    input.write("n not now\n");
    expect(await first).toEqual({ decision: "deny", message: "not now" });
    await asked(3);
    expect(output.text.slice(output.text.lastIndexOf("Allow"))).toContain("second");
    input.write("y\n");
    expect(await second).toEqual({ decision: "allow" });
  });

  it("are not asked again for a tool that is allowed for good", async () => {
    const { input, decide, asked } = open();
    const first = decide(request("send"));
    await asked(1);
    input.write("a\n");
    expect(await first).toEqual({ decision: "allow", remember: "session" });
    expect(await decide(request("send"))).toBe("allow");
  });

  it("are withdrawn with the call, and the next one is asked", async () => {
    const { input, decide, asked } = open();
    const gone = new AbortController();
    const first = decide(request("first", gone.signal));
    await asked(1);
    gone.abort(new Error("gone"));
    await expect(first).rejects.toThrow("gone");
    const second = decide(request("second"));
    await asked(2);
    input.write("y\n");
    expect(await second).toEqual({ decision: "allow" });
  });

  it("are told to be nobody's when the input has ended", async () => {
    const { input, decide, failures } = open();
    input.end();
    const controller = new AbortController();
    const decision = decide(request("send", controller.signal));
    await waitFor(() => failures.length === 1, { what: "the failure" });
    expect(failures[0]).toMatchObject({ exitCode: exitCodes.approvalNeeded });
    controller.abort(new Error("cancelled"));
    await expect(decision).rejects.toThrow("cancelled");
  });

  it.each([
    ["all", "allow"],
    ["none", { decision: "deny", message: "The user allows no such calls." }],
  ] as const)("are answered by --approve %s without a question", async (mode, expected) => {
    const status = createStatusLine({ write: () => true }, plain);
    const decide = createDecider({ mode, conversation: null, status, paint: plain, onNobody: () => {} });
    expect(await decide(request("send"))).toEqual(expected);
  });
});

describe("an error's exit code", () => {
  it.each([
    [new ConnectionError("no"), exitCodes.unreachable],
    [new TimeoutError("slow"), exitCodes.unreachable],
    [new TimeoutError("slow", { sessionId: "s" }), exitCodes.timeout],
    [new APIError({ status: 401 }), exitCodes.refused],
    [new APIError({ status: 422 }), exitCodes.refused],
    [new APIError({ status: 429 }), exitCodes.refused],
    [new APIError({ status: 503 }), exitCodes.unreachable],
    [new APIError({ status: 500 }), exitCodes.failed],
    [new TypeError("bug"), exitCodes.failed],
  ])("of %s is %i", (error, exitCode) => {
    expect(explainError(error).exitCode).toBe(exitCode);
  });

  it("are told without what a terminal would obey", () => {
    for (const error of [new Error("no \u001b[2J"), new CliError("no \u001b[2J", 1), "no \u001b[2J"]) {
      expect(explainError(error).text).toContain("no ␛[2J");
    }
  });
});

describe("doctor", () => {
  it.each([
    ["20.19.0", "ok"],
    ["22.0.0", "ok"],
    ["20.18.9", "fail"],
    ["18.20.0", "fail"],
  ])("judges Node %s: %s", (version, verdict) => {
    expect(checkNode(version).verdict).toBe(verdict);
  });

  it("tells every fault of the settings, and never a key", () => {
    const { checks, config } = checkSettings({
      PORT: "many",
      OPENAI_API_KEY: "sk-secret",
      TANDEM_SWEEP_MS: "0",
    });
    expect(config).toBeNull();
    expect(checks.map(({ verdict }) => verdict)).toEqual(["fail", "fail"]);
    const well = checkSettings({ OPENAI_API_KEY: "sk-secret", TANDEM_MODEL: "openai/x" });
    expect(well.checks.at(-1)).toMatchObject({
      verdict: "ok",
      found: "default openai/x; configured: openai",
    });
    expect(JSON.stringify([checks, well.checks])).not.toContain("sk-secret");
  });
});
