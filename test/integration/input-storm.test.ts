import { parseJson, stringifyJson, toCanonicalJson } from "@tandem/engine/domain/json";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { lastToolResults, type ParsedChatRequest, type Reply } from "../support/fake-model-server.ts";
import type { ScriptedToolCall } from "../support/fake-model-wire.ts";
import { jsonText } from "../support/json-text.ts";
import { backends } from "../support/stack.ts";
import { echoTool, type Storm, startStorm } from "../support/storm.ts";
import { type PendingCall, resultFor } from "../support/wire.ts";

let storm: Storm;
beforeAll(async () => {
  storm = await startStorm();
});
afterAll(() => storm.close());
afterEach(() => storm.check());

const BIG = "12345678901234567890";
const LONG = "0.1234567890123456789012";
/** Values that doubles, databases and JavaScript objects change. */
const HARD = `{"big":${BIG},"long":${LONG},"huge":1e400,"zero":-0,"__proto__":{"a":${BIG}},"constructor":{"prototype":[]},"\\u0000":"\\ud800","\\udc00":"\\\\u0000"}`;

const call = (args: string, name = "echo", id?: string): ScriptedToolCall => ({
  name,
  arguments: args,
  ...(id === undefined ? {} : { id }),
});
const calls = (...toolCalls: ScriptedToolCall[]): Reply => ({ toolCalls });
const canonical = (text: string) => toCanonicalJson(parseJson(text));
const postText = (path: string, text: string) => storm.wire.send("POST", path, { text });
/** What the model read of the results, after its turn of this number. */
const resultsRead = (sessionId: string, turn = 1) =>
  lastToolResults(storm.requestsOf(sessionId)[turn] as ParsedChatRequest).map(({ content }) => content);
// biome-ignore lint/suspicious/noExplicitAny: exact values of any shape
const changesOf = async (id: string): Promise<any> =>
  parseJson((await storm.wire.get(`/sessions/${id}/changes`)).text);

/** Puts a text of JSON into a result for a call, digit for digit. */
const resultText = (sent: PendingCall, result: string) =>
  `{"kind":"tool_result","tool_req":${JSON.stringify({ ...sent, args: {} })},"result":${result}}`;

async function askFor(args: string): Promise<{ id: string; pending: PendingCall; path: string }> {
  const id = await storm.start([calls(call(args))]);
  await storm.wire.until(id, "awaiting_tool_results");
  const [pending] = await storm.wire.pending(id);
  return { id, pending: pending as PendingCall, path: `/sessions/${id}/tool_results` };
}

describe("any JSON value", () => {
  it("travels unchanged: from the model to the client, from the client to the events and to the model", async () => {
    const values = fc.array(jsonText(), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(values, async (texts) => {
        const id = await storm.start([calls(...texts.map((text) => call(`{"value":${text}}`)))]);
        await storm.wire.until(id, "awaiting_tool_results");
        const asked = (await changesOf(id)).new_events.at(-1).data.pending_tool_calls;
        const wanted = texts.map((text) => canonical(`{"value":${text}}`));
        expect(asked.map((entry: { args: never }) => toCanonicalJson(entry.args))).toEqual(wanted);
        const results = texts.map((text, i) => resultText(asked[i], text));
        const posted = await postText(`/sessions/${id}/tool_results`, `{"results":[${results.join()}]}`);
        expect(posted.status).toBe(202);
        await storm.finish(id);
        const { new_events: events } = await changesOf(id);
        const stored = events.filter(
          (event: { data: { kind?: string } }) => event.data.kind === "tool_result",
        );
        expect(
          stored.map((event: { data: { result: never } }) => toCanonicalJson(event.data.result)),
        ).toEqual(texts.map(canonical));
        expect(resultsRead(id).map(readAsModel)).toEqual(texts.map((text) => readAsModel(toModelText(text))));
      }),
      { numRuns: 25 },
    );
  });
});

/** A string goes to the model as it is, other JSON as JSON text. */
function toModelText(text: string): string {
  const value = parseJson(text);
  return typeof value === "string" ? value : stringifyJson(value);
}

function readAsModel(content: string): string {
  try {
    return canonical(content);
  } catch {
    return content;
  }
}

describe("exact values", () => {
  it("show in the session as they were sent", async () => {
    const tool = `{"name":"echo","description":"d","input_schema":{"type":"object","properties":{"n":{"maximum":${BIG}}}}}`;
    const environment = `{"kind":"lab","details":${HARD}}`;
    const reply = await postText(
      "/sessions",
      `{"agent":{"name":"x","tools":[${tool}],"environments":[${environment}]},"messages":"Hi","overrides":{"agent.tools":[${tool}]}}`,
    );
    expect(reply.status).toBe(201);
    const read = await storm.wire.get(`/sessions/${reply.body.id}`);
    for (const text of [reply.text, read.text]) {
      // biome-ignore lint/suspicious/noExplicitAny: exact values of any shape
      const { request } = parseJson(text) as any;
      expect(toCanonicalJson(request.agent.tools)).toBe(canonical(`[${tool}]`));
      expect(toCanonicalJson(request.overrides)).toBe(canonical(`{"agent.tools":[${tool}]}`));
      expect(toCanonicalJson(request.agent.environments[0].details)).toBe(canonical(HARD));
      expect(text).toContain(`"zero":-0`);
    }
    await storm.wire.until(reply.body.id, "completed");
  });

  it("show in a registered agent as they were sent", async () => {
    const tool = `{"name":"echo","description":"d","input_schema":{"properties":{"n":{"enum":[${BIG},1e400]}}}}`;
    const agent = `{"name":"exact","description":"d","environments":[],"tools":[${tool}]}`;
    const put = { text: agent };
    expect((await postText("/agents", agent)).text).toContain(BIG);
    expect((await postText("/agents", agent)).body.code).toBe("agent_exists");
    expect((await storm.wire.send("PUT", "/agents/exact", put)).text).toContain(BIG);
    const patch = { text: '{"instructions":"Be exact."}' };
    expect((await storm.wire.send("PATCH", "/agents/exact", patch)).text).toContain(BIG);
    for (const path of ["/agents/exact", "/agents?search=exact"])
      expect((await storm.wire.get(path)).text, path).toContain(`"enum":[${BIG},1e400]`);
    const id = await storm.wire.create({ agent: "exact", messages: "Hi" });
    await storm.wire.until(id, "completed");
    await storm.wire.send("DELETE", "/agents/exact");
  });

  it.each([
    ["through the finishing tool", calls(call(HARD, "submit_answer"))],
    ["as text", { text: `\`\`\`json\n${HARD}\n\`\`\`` }],
  ])("are an answer %s", async (_way, said) => {
    const id = await storm.start([said], { answer_format: { type: "object" } });
    await storm.wire.until(id, "completed");
    const changes = await changesOf(id);
    const answer = changes.new_events.find(
      (event: { data: { kind?: string } }) => event.data.kind === "answer_event",
    );
    // biome-ignore lint/suspicious/noExplicitAny: exact values of any shape
    const session = parseJson((await storm.wire.get(`/sessions/${id}`)).text) as any;
    for (const value of [changes.answer, answer.data.answer, session.latest_answer])
      expect(stringifyJson(value)).toBe(HARD);
  });

  it("go back to the provider as digits in text, where it reads its own call", async () => {
    const { id } = await askFor(`{"id":${BIG},"zero":-0,"list":[1e400,1]}`);
    await storm.finish(id);
    const turn = storm.requestsOf(id)[1]?.body.messages.find(({ role }) => role === "assistant");
    expect(turn?.tool_calls?.[0]?.function.arguments).toBe(`{"id":"${BIG}","zero":0,"list":["1e400",1]}`);
  });

  it("decide whether a result is the same again", async () => {
    const { id, pending, path } = await askFor("{}");
    const status = async (result: string) =>
      (await postText(path, resultText(pending, result))).body.receipts[0].status;
    await storm.wire.until(id, "awaiting_tool_results");
    const other = await storm.start([calls(call("{}"), call("{}"))]);
    await storm.wire.until(other, "awaiting_tool_results");
    const [first] = await storm.wire.pending(other);
    const again = async (result: string) => {
      const text = resultText(first as PendingCall, result);
      return (await postText(`/sessions/${other}/tool_results`, text)).body.receipts[0].status;
    };
    expect(await again(`{"a":1,"id":${BIG}}`)).toBe("accepted");
    expect(await again(`{"id":${BIG}.0,"a":1e0}`)).toBe("duplicate");
    expect(await again(`{"id":12345678901234567891,"a":1}`)).toBe("conflict");
    expect(await status("1.0")).toBe("accepted");
    await storm.finish(other);
    await storm.finish(id);
  });

  it("find the call that a result without an id means", async () => {
    const id = await storm.start([calls(call(`{"id":${BIG}}`), call('{"id":12345678901234567891}'))]);
    await storm.wire.until(id, "awaiting_tool_results");
    const pending = await storm.wire.pending(id);
    const text = '{"tool_req":{"tool_name":"echo","args":{"id":12345678901234567891}},"result":"second"}';
    const reply = await postText(`/sessions/${id}/tool_results`, text);
    expect(reply.body.receipts).toEqual([{ id: pending[1]?.id, status: "accepted" }]);
    await storm.finish(id);
    expect(resultsRead(id)).toEqual(["ok", "second"]);
  });

  it("decide whether a create request is the same again", async () => {
    const create = (text: string) =>
      storm.wire.send("POST", "/sessions", {
        text: `{"agent":{"name":"x","environments":[{"kind":"lab","id":"a","n":${text}}]},"messages":"Hi"}`,
        headers: { "idempotency-key": "exact" },
      });
    const first = await create(BIG);
    expect((await create("1234567890123456789e1")).body.id).toBe(first.body.id);
    expect((await create("12345678901234567891")).status).toBe(422);
    await storm.wire.until(first.body.id, "completed");
  });

  it.each([
    ["max_time_s", LONG, "64-bit"],
    ["max_time_s", "1e400", "64-bit"],
    ["idle_timeout_s", BIG, "64-bit"],
    ["max_steps", "1e400", "2147483647"],
    ["max_steps", "5.00000000000000000000001", "integer"],
    ["agent", BIG, "string"],
    ["group_id", "-0", "string"],
    ["overrides", "1e400", "object"],
  ])(
    "are a clear error where they cannot be kept or are of a wrong type: %s %s",
    async (field, value, word) => {
      const agent = field === "agent" ? "" : '"agent":{"name":"x"},';
      const reply = await postText("/sessions", `{${agent}"messages":"Hi","${field}":${value}}`);
      expect(reply.status).toBe(422);
      expect(reply.body.detail[0].loc).toEqual(["body", field]);
      expect(reply.body.detail[0].msg).toContain(word);
    },
  );
});

describe("a body with a repeated key", () => {
  it.each([
    ["POST", "/sessions", '{"agent":"a","messages":"Hi","agent":"b"}', ["agent"]],
    ["POST", "/sessions/ID/messages", '{"message":"a","message":"a"}', ["message"]],
    [
      "POST",
      "/sessions/ID/tool_results",
      '{"results":[{"tool_req":{"tool_name":"echo"},"result":{"id":1,"\\u0069d":2}}]}',
      ["results", 0, "result", "id"],
    ],
    ["POST", "/agents", '{"name":"a","description":"d","__proto__":1,"__proto__":2}', ["__proto__"]],
    ["PUT", "/agents/a", `{"name":"a","x":{"":1,"b":${BIG},"":2}}`, ["x", ""]],
    ["PATCH", "/agents/a", '{"description":"a" , "description" : "b"}', ["description"]],
  ])("is a 422 that names it: %s %s %s", async (method, path, text, place) => {
    const { id } = await askFor("{}");
    const reply = await storm.wire.send(method, path.replace("ID", id), { text });
    expect(reply.status).toBe(422);
    expect(reply.body.code).toBe("json_invalid");
    expect(reply.body.detail[0].loc).toEqual(["body", ...place]);
    expect(reply.body.detail[0].msg).toContain(JSON.stringify(place.at(-1)));
    await storm.finish(id);
  });
});

describe("a result", () => {
  it.each([
    ["10,000 levels deep", `${"[".repeat(10_000)}${"]".repeat(10_000)}`, 422, "json_invalid"],
    ["cut off", '{"a":', 422, "json_invalid"],
    ["of over 10,000,000 bytes", JSON.stringify("a".repeat(10_000_000)), 413, "body_too_large"],
    ["of millions of numbers that take long to read", `[${"-0,".repeat(3_000_000)}-0]`, 422, "json_invalid"],
    ["of 9 MB of long numbers", `[${Array(400_000).fill(BIG).join()}]`, 422, "json_invalid"],
  ])("%s is refused, and the call still waits", async (_what, result, status, code) => {
    const { id, pending, path } = await askFor("{}");
    const reply = await postText(path, resultText(pending, result));
    expect(reply.status).toBe(status);
    expect(reply.body.code).toBe(code);
    expect(await storm.wire.pending(id)).toHaveLength(1);
    await storm.finish(id);
  });

  it.each([
    ["text", JSON.stringify("a".repeat(9_000_000))],
    ["backslashes", JSON.stringify("\\".repeat(4_500_000))],
    ["text, and long numbers", `["${"a".repeat(6_900_000)}",${Array(99_000).fill(BIG).join()}]`],
    ["small objects", `[${Array(900_000).fill('{"a":1}').join()}]`],
  ])(
    "of 9 MB of %s comes to the model as it is, and holds up nobody else for long",
    async (_what, result) => {
      const { id, pending, path } = await askFor("{}");
      const posting = postText(path, resultText(pending, result));
      const startedAt = performance.now();
      expect((await storm.wire.get("/sessions?size=1")).status).toBe(200);
      expect(performance.now() - startedAt).toBeLessThan(10_000);
      expect((await posting).status).toBe(202);
      await storm.finish(id);
      expect(resultsRead(id)[0] === toModelText(result)).toBe(true);
    },
  );

  it.each(["call_\u0000", "", "\ud800", "x".repeat(100_000), "__proto__"])(
    "for a call that does not exist is unknown, whatever its id: %.20j",
    async (unknownId) => {
      const { id, pending, path } = await askFor("{}");
      const reply = await storm.wire.post(path, resultFor({ ...pending, id: unknownId }, 1));
      expect(reply.status).toBe(404);
      expect(reply.body.code).toBe("calls_unknown");
      const mixed = [resultFor({ ...pending, id: unknownId }, 1), resultFor(pending, 2)];
      const { body } = await storm.wire.post(path, { results: mixed });
      expect(body.receipts.map((entry: { status: string }) => entry.status)).toEqual(["unknown", "accepted"]);
      await storm.finish(id);
      expect(resultsRead(id)).toEqual(["2"]);
    },
  );

  it("of an unknown kind is a 422 that names the field", async () => {
    const { id, pending, path } = await askFor("{}");
    for (const kind of ["nope", "answer_event", "", "__proto__", 5, null]) {
      const reply = await storm.wire.post(path, { ...resultFor(pending, 1), kind });
      expect(reply.status, String(kind)).toBe(422);
      expect(reply.body.detail[0]).toMatchObject({
        loc: ["body", "kind"],
        msg: 'kind must be "tool_result" or "error_event"',
      });
      const batch = await storm.wire.post(path, {
        results: [resultFor(pending, 1), { ...resultFor(pending, 1), kind }],
      });
      expect(batch.body.detail[0].loc).toEqual(["body", "results", 1, "kind"]);
    }
    await storm.finish(id);
  });

  it("of an unknown type, or a message of one, is a 422 that names the field", async () => {
    const { id, pending, path } = await askFor("{}");
    const messages = `/sessions/${id}/messages`;
    for (const [place, body] of [
      [messages, { type: "nope", message: "Hi" }],
      [messages, { type: "nope", messages: [{ message: "Hi" }] }],
      ["/sessions", { agent: { name: "x" }, messages: { type: "nope", message: "Hi" } }],
    ] as const) {
      const reply = await storm.wire.post(place, body);
      expect(reply.status).toBe(422);
      expect(reply.body.detail[0].loc.at(-1)).toBe("type");
    }
    // A single entry may carry any other field.
    expect((await storm.wire.post(path, { ...resultFor(pending, 1), type: "nope" })).status).toBe(202);
    await storm.finish(id);
  });

  it("that is an error comes to the model as it is", async () => {
    const error = "NUL \u0000, half a pair \ud800, a literal \\u0000";
    const { id, pending, path } = await askFor("{}");
    const body = { kind: "error_event", error, origin: "\u0000\udc00", tool_req: pending };
    expect((await storm.wire.post(path, body)).status).toBe(202);
    await storm.finish(id);
    expect(resultsRead(id)).toEqual([`Error: ${error}`]);
  });
});

describe("arguments that nobody can run", () => {
  it.each([
    ["with a repeated key", '{"id":1,"id":2}', '"id" is in one object twice'],
    ["with a repeated key of the same value", '{"a":{"id":1,"\\u0069d":1}}', '"id" is in one object twice'],
    ["10,000 levels deep", `{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`, "256 levels"],
    ["of a million characters and more", `{"a":"${"x".repeat(1_000_000)}"}`, "1000000 characters"],
    ["cut off", `{"a":{"b":[${BIG}`, "not valid JSON"],
    ["cut off in a string", '{"city":"Ro', "not valid JSON"],
    ["with more behind them", '{"a":1}{"a":1}', "not valid JSON"],
    ["that are a list", `[${BIG}]`, "JSON object"],
    ["that are null", "null", "JSON object"],
    ["that are a number", BIG, "JSON object"],
    ["that are text", '"{}"', "JSON object"],
    ["that are no JSON", "city=Rome", "not valid JSON"],
  ])("%s are told to the model, which calls again", async (_what, args, hint) => {
    const id = await storm.start([calls(call(args), call('{"good":1}')), calls(call('{"again":1}'))]);
    const done = await storm.finish(id);
    const asked = done.new_events.flatMap(
      (event: { data: { pending_tool_calls?: PendingCall[] } }) => event.data.pending_tool_calls ?? [],
    );
    expect(asked.map((entry: PendingCall) => entry.args)).toEqual([{ good: 1 }, { again: 1 }]);
    expect(resultsRead(id)).toEqual([expect.stringContaining(hint), "ok"]);
  });

  it("end the session readably when nothing else comes, as a structured answer too", async () => {
    const id = await storm.start(Array(10).fill(calls(call('{"n":1,"n":2}', "submit_answer"))), {
      answer_format: { type: "object" },
    });
    const done = await storm.wire.until(id, "failed");
    expect(done).toMatchObject({
      reason: "answer_invalid",
      error: expect.stringContaining('"n" is in one object'),
    });
    const text = await storm.start(Array(10).fill({ text: `{"a":${"[".repeat(10_000)}` }), {
      answer_format: { type: "object" },
    });
    expect((await storm.wire.until(text, "failed")).error).toContain("256 levels");
  });
});

describe("arguments", () => {
  it("that are empty mean none", async () => {
    const id = await storm.start([calls(call(""), call(" \n"), call("{}"))]);
    await storm.wire.until(id, "awaiting_tool_results");
    expect((await storm.wire.pending(id)).map((entry) => entry.args)).toEqual([{}, {}, {}]);
    await storm.finish(id);
  });

  it("are checked as the numbers that they are", async () => {
    const input_schema = {
      type: "object",
      properties: { n: { type: "integer", minimum: 0 } },
      additionalProperties: false,
    };
    const bad = ["-1e400", LONG, "6.00000000000000000000001", `"${BIG}"`];
    const id = await storm.start([calls(...[...bad, BIG, "1e400", "-0"].map((n) => call(`{"n":${n}}`)))], {
      tools: [{ ...echoTool, input_schema }],
    });
    await storm.wire.until(id, "awaiting_tool_results");
    const { text } = await storm.wire.get(`/sessions/${id}/changes`);
    expect(text).toContain(`"args":{"n":${BIG}}`);
    expect((await storm.wire.pending(id)).length).toBe(3);
    await storm.finish(id);
    expect(resultsRead(id).slice(0, 4)).toEqual(bad.map(() => expect.stringContaining("do not fit")));
  });
});

describe("a provider's call ids", () => {
  it.each([
    ["repeated in one reply", ["same", "same", "same"]],
    ["empty", ["", ""]],
    ["of 10,000 characters", ["x".repeat(10_000), "x".repeat(10_000)]],
    ["with characters that no provider takes back", ["a b", "\u0000", "\ud800", "ö", "__proto__"]],
  ])("%s make no difference, in one step and across steps", async (_what, ids) => {
    const turn = calls(...ids.map((id, i) => call(`{"i":${i}}`, "echo", id)), call("{", "echo", ids[0]));
    const id = await storm.start([turn, turn, turn]);
    const done = await storm.finish(id);
    const settled = done.new_events.filter(
      (event: { data: { kind?: string } }) => event.data.kind === "tool_result",
    );
    const ours = settled.map((event: { data: { tool_req: PendingCall } }) => event.data.tool_req.id);
    expect(new Set(ours).size).toBe(3 * ids.length);
    expect(storm.requestsOf(id)).toHaveLength(4);
  });
});

describe("an invented tool", () => {
  it.each([
    "nope",
    "",
    " ",
    "get weather",
    "a\u0000b",
    "\ud800",
    "x".repeat(5_000),
    "__proto__",
    "constructor",
    "ECHO",
    "echo ",
  ])("is told to the model with the tools that there are: %.20j", async (name) => {
    const id = await storm.start([calls(call("{}", name), call("{}")), calls(call("{}", name))]);
    const done = await storm.finish(id);
    expect(resultsRead(id)).toEqual([expect.stringContaining("The tools are: echo."), "ok"]);
    expect(resultsRead(id, 2)).toEqual([expect.stringContaining("There is no tool")]);
    const errors = done.new_events.filter(
      (event: { data: { kind?: string } }) => event.data.kind === "error_event",
    );
    expect(errors.map((event: { data: { tool_req: PendingCall } }) => event.data.tool_req.tool_name)).toEqual(
      [name, name],
    );
  });

  it("is not taken for one whose name differs by case", async () => {
    const tools = [echoTool, { name: "Echo", description: "d" }];
    const id = await storm.start([calls(call("{}", "Echo"), call("{}", "echo"), call("{}", "eCHO"))], {
      tools,
    });
    await storm.wire.until(id, "awaiting_tool_results");
    const pending = await storm.wire.pending(id);
    expect(pending.map((entry) => entry.tool_name)).toEqual(["Echo", "echo"]);
    const wrong = { ...(pending[0] as PendingCall), tool_name: "echo" };
    expect((await storm.wire.post(`/sessions/${id}/tool_results`, resultFor(wrong, 1))).status).toBe(422);
    await storm.finish(id);
  });
});

describe.each(backends)("everything at once, on %s", (backend) => {
  it("leaves every session with its right answer", async () => {
    const other = await startStorm(backend);
    try {
      const names = ["echo", "nope", "a\u0000b", "x".repeat(5_000), "ECHO"];
      const texts = [HARD, "", '{"a":1,"a":2}', "{", "[1]", `{"a":${"[".repeat(10_000)}`];
      const turn = calls(
        ...names.flatMap((name) => texts.map((text) => call(text, name, "same"))),
        call("{}", "echo", "y".repeat(10_000)),
      );
      const ids = await Promise.all(Array.from({ length: 8 }, () => other.start([turn, turn, turn])));
      await Promise.all(ids.map((id) => other.finish(id)));
      for (const id of ids) expect(other.requestsOf(id)).toHaveLength(4);
      await other.check();
    } finally {
      await other.close();
    }
  });
});
