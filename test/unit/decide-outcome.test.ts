import { decideOutcome } from "@tandem/worker/agent/decide-outcome";
import type { Reply } from "@tandem/worker/agent/read-reply";
import type { Situation } from "@tandem/worker/agent/situation";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const tool = {
  name: "get_weather",
  description: "d",
  input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const format = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
const situation: Situation = {
  tools: [tool],
  answerFormat: null,
  lastStep: null,
  corrections: 0,
  nudges: 0,
  uselessSteps: 0,
};

let counter = 0;
const call = (name: string, args: object, fault: string | null = null) => ({
  request: { tool_name: name, args: args as Record<string, never>, id: `call_${counter++}` },
  fault,
});
const reply = (text: string | null, ...calls: ReturnType<typeof call>[]): Reply => ({
  text,
  reasoning: null,
  calls,
  droppedCalls: 0,
  usage: { input_tokens: 0, output_tokens: 0, reasoning_tokens: 0 },
  internal: {},
});
const good = () => call("get_weather", { city: "Rome" });
const bad = () => call("get_weather", { town: "Rome" });
const invented = () => call("nope", {});
const submit = (n: unknown) => call("submit_answer", { n });

describe("the outcome of a reply", () => {
  it.each<[string, Reply, Partial<Situation>, object]>([
    ["text answers", reply("Hi"), {}, { kind: "answer", answer: "Hi", reason: "answered" }],
    ["good calls are asked", reply(null, good()), {}, { kind: "ask" }],
    ["text beside calls does not answer", reply("Hm", good()), {}, { kind: "ask" }],
    [
      "bad calls let the model try again",
      reply(null, bad()),
      {},
      { kind: "again", nudges: 0, uselessSteps: 1 },
    ],
    ["text beside bad calls does not answer", reply("Hm", invented()), {}, { kind: "again" }],
    ["nothing is asked for again", reply(null), {}, { kind: "again", nudges: 1 }],
    ["white space is nothing", reply(" \n"), {}, { kind: "again" }],
    [
      "nothing a third time fails",
      reply(null),
      { nudges: 2 },
      { kind: "fail", reason: "no_answer", errorCode: "no_answer" },
    ],
    [
      "useless calls again and again fail",
      reply(null, bad()),
      { uselessSteps: 10 },
      { kind: "fail", reason: "error_limit" },
    ],
    [
      "the last step takes text",
      reply("Hi"),
      { lastStep: "max_steps" },
      { kind: "answer", reason: "max_steps" },
    ],
    [
      "the last step takes text beside calls",
      reply("Hi", good()),
      { lastStep: "max_steps" },
      { kind: "answer", answer: "Hi" },
    ],
    [
      "the last step asks nobody",
      reply(null, good()),
      { lastStep: "max_steps" },
      { kind: "fail", errorCode: "no_answer", reason: "max_steps" },
    ],
    [
      "the last step has no again",
      reply(null),
      { lastStep: "max_steps" },
      { kind: "fail", reason: "max_steps" },
    ],
    [
      "a submitted answer that fits is the answer",
      reply(null, submit(1)),
      { answerFormat: format },
      { kind: "answer", answer: { n: 1 } },
    ],
    [
      "a submitted answer that does not fit is corrected",
      reply(null, submit("x")),
      { answerFormat: format },
      { kind: "again", corrections: 1 },
    ],
    [
      "three corrections are the most",
      reply(null, submit("x")),
      { answerFormat: format, corrections: 3 },
      { kind: "fail", errorCode: "answer_validation" },
    ],
    [
      "the last step has no corrections",
      reply(null, submit("x")),
      { answerFormat: format, lastStep: "max_steps" },
      { kind: "fail", errorCode: "answer_validation" },
    ],
    [
      "text that is JSON of the format is an answer",
      reply('```json\n{"n":1}\n```'),
      { answerFormat: format },
      { kind: "answer", answer: { n: 1 } },
    ],
    [
      "other text is no structured answer",
      reply("one"),
      { answerFormat: format },
      { kind: "again", corrections: 1 },
    ],
    [
      "an answer beside other calls waits",
      reply(null, submit(1), good()),
      { answerFormat: format },
      { kind: "ask" },
    ],
    ["without a format submit_answer is an invented tool", reply(null, submit(1)), {}, { kind: "again" }],
  ])("%s", (_rule, said, situated, expected) => {
    expect(decideOutcome(said, { ...situation, ...situated }).outcome).toMatchObject(expected);
  });

  it("takes the first submitted answer that fits, and tells the others why not", () => {
    const said = reply(null, submit("x"), submit(1), submit(2));
    const { outcome, replies } = decideOutcome(said, { ...situation, answerFormat: format });
    expect(outcome).toMatchObject({ kind: "answer", answer: { n: 1 } });
    expect(replies.map((event) => String(event.data.error))).toEqual([
      expect.stringContaining("does not fit"),
      expect.stringContaining("another answer"),
    ]);
  });

  it("ends a model that takes turns between silence and useless calls", () => {
    let counted = { corrections: 0, nudges: 0, uselessSteps: 0 };
    for (let step = 0; step < 20; step++) {
      const said = step % 2 ? reply(null) : reply(null, bad());
      const { outcome } = decideOutcome(said, { ...situation, ...counted });
      if (outcome.kind === "fail") return expect(step).toBeLessThan(14);
      expect(outcome.kind).toBe("again");
      if (outcome.kind === "again") counted = outcome;
    }
    expect.unreachable();
  });

  it("spends one budget of time on all calls of a reply", () => {
    const input_schema = { type: "object", properties: { a: { type: "string", pattern: "^(a|a)*$" } } };
    const slow = Array.from({ length: 128 }, () => call("slow", { a: `${"a".repeat(60)}!` }));
    const startedAt = performance.now();
    const tools = [{ name: "slow", description: "d", input_schema }];
    const { outcome } = decideOutcome(reply(null, ...slow), { ...situation, tools });
    expect(outcome.kind).toBe("again");
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it("spends one budget of time on all submitted answers", () => {
    const slow = Array.from({ length: 16 }, () => call("submit_answer", { a: `${"a".repeat(60)}!` }));
    const answerFormat = { type: "object", properties: { a: { type: "string", pattern: "^(a|a)*$" } } };
    const { outcome, policy } = decideOutcome(reply(null, ...slow), { ...situation, answerFormat });
    expect(outcome.kind).toBe("again");
    expect(JSON.stringify(policy.data.validation_errors)).toContain("took all the time");
  });

  it("says how many calls were not taken", () => {
    const { replies, policy } = decideOutcome({ ...reply(null, good(), good()), droppedCalls: 3 }, situation);
    expect(replies.at(-1)?.data).toMatchObject({
      origin: "agent",
      error: expect.stringContaining("first 2 of 5"),
    });
    expect(policy.data.validation_errors).toHaveLength(1);
  });

  it("lists the tools when one is invented", () => {
    const { replies } = decideOutcome(reply(null, invented()), situation);
    expect(replies[0]?.data.error).toContain("get_weather");
  });

  it("gives every call exactly one fate: asked, answered by us, or the answer itself", () => {
    const calls = fc.array(fc.constantFrom("good", "bad", "invented", "submit", "submitBad", "cut"), {
      maxLength: 6,
    });
    const make = {
      good,
      bad,
      invented,
      submit: () => submit(1),
      submitBad: () => submit("x"),
      cut: () => call("get_weather", {}, "cut off"),
    };
    const situations = fc.record({
      answerFormat: fc.constantFrom(null, format),
      lastStep: fc.constantFrom(null, "max_steps" as const, "max_time" as const, "force_answer" as const),
      corrections: fc.nat(3),
      nudges: fc.nat(2),
      uselessSteps: fc.nat(10),
    });
    fc.assert(
      fc.property(calls, situations, fc.constantFrom(null, "Hi", ""), (kinds, situated, text) => {
        const said = reply(text, ...kinds.map((kind) => make[kind as keyof typeof make]()));
        const { outcome, replies } = decideOutcome(said, { ...situation, ...situated });
        const asked = outcome.kind === "ask" ? outcome.calls.map((entry) => entry.id) : [];
        const answered = replies.flatMap((event) => (event.data.tool_req as { id: string } | null)?.id ?? []);
        const both = [...asked, ...answered];
        expect(new Set(both).size).toBe(both.length);
        const left = said.calls.filter((entry) => !both.includes(entry.request.id));
        // What is left are submitted answers: the one that was taken, or that came beside it.
        for (const entry of left) expect(entry.request.tool_name).toBe("submit_answer");
        if (situated.lastStep !== null) expect(["answer", "fail"]).toContain(outcome.kind);
      }),
    );
  });
});
