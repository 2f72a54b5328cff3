import type { LanguageModelV3Content, LanguageModelV3GenerateResult } from "@ai-sdk/provider";
import {
  errorEvent,
  messageEvent,
  type NewEvent,
  policyEvent,
  type StoredEvent,
  toolResult,
} from "@tandem/engine/domain/events";
import type { JsonObject } from "@tandem/engine/domain/json";
import { buildPrompt, collectProviderIds } from "@tandem/worker/agent/build-prompt";
import { readReply } from "@tandem/worker/agent/read-reply";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const agent = { name: "x", description: "x", environments: [], instructions: "Be kind." };
const message = (text: string) =>
  messageEvent({ type: "user_message", message: text, images: [], caller_id: "user" });
const store = (events: NewEvent[]): StoredEvent[] =>
  events.map((event, index) => ({ index, internal: null, ...event }));
const prompt = (events: NewEvent[], isLast = false) =>
  buildPrompt({ agent, events: store(events), lastStep: isLast ? "max_steps" : null });

const reply = (content: LanguageModelV3Content[]): LanguageModelV3GenerateResult => ({
  content,
  finishReason: { unified: "stop", raw: undefined },
  usage: {
    inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: undefined, reasoning: undefined },
  },
  warnings: [],
});
const call = (toolCallId: string, toolName: string, input: string): LanguageModelV3Content => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input,
});

/** The turn of a model that is written for such a reply. */
const turn = (content: LanguageModelV3Content[], history: NewEvent[] = []) => {
  const read = readReply(reply(content), collectProviderIds(store(history)));
  const tool_reqs = read.calls.map((entry) => entry.request);
  const data = { content: read.text, reasoning_content: read.reasoning, tool_reqs, validation_errors: [] };
  return { event: policyEvent(data, read.internal), calls: tool_reqs };
};

describe("a prompt", () => {
  it("starts with the instructions and has the messages in order", () => {
    expect(prompt([message("One"), message("Two")])).toEqual([
      { role: "system", content: "Be kind." },
      { role: "user", content: [{ type: "text", text: "One" }] },
      { role: "user", content: [{ type: "text", text: "Two" }] },
    ]);
  });

  it("has a message of its user even when nobody sent one", () => {
    expect(prompt([]).filter((entry) => entry.role === "user")).toHaveLength(1);
  });

  it("gives reasoning back to the provider unchanged, with calls last", () => {
    const signature = { anthropic: { signature: "abc" } };
    const { event } = turn([
      { type: "reasoning", text: "Hm.", providerMetadata: signature },
      call("p1", "get_weather", "{}"),
      { type: "text", text: "Let me look." },
    ]);
    const assistant = prompt([event]).find((entry) => entry.role === "assistant");
    expect(assistant?.content).toEqual([
      { type: "reasoning", text: "Hm.", providerOptions: signature },
      { type: "text", text: "Let me look." },
      { type: "tool-call", toolCallId: "p1", toolName: "get_weather", input: {} },
    ]);
  });

  it("gives a call's numbers back as digits in text where a double would be another number", () => {
    const { event } = turn([call("p1", "t", '{"id":12345678901234567890,"zero":-0,"n":[1e400,1]}')]);
    const assistant = prompt([event]).find((entry) => entry.role === "assistant");
    const input = { id: "12345678901234567890", zero: 0, n: ["1e400", 1] };
    expect(assistant?.content).toEqual([{ type: "tool-call", toolCallId: "p1", toolName: "t", input }]);
  });

  it("says honestly that a call has no result", () => {
    const { event } = turn([call("p1", "get_weather", "{}")]);
    const tool = prompt([event, message("Well?")]).find((entry) => entry.role === "tool");
    expect(JSON.stringify(tool)).toContain("Whether the tool ran is unknown");
  });

  it("has no blank text, which providers refuse", () => {
    const image = "data:image/png;base64,AAAA";
    const pictured = messageEvent({ type: "user_message", message: "", images: [image], caller_id: "user" });
    const [, first, second] = prompt([pictured, message(" ")]);
    expect(first?.content).toEqual([{ type: "file", mediaType: "image/png", data: "AAAA" }]);
    expect(second?.content).toEqual([{ type: "text", text: expect.stringMatching(/\S/) }]);
  });

  it("leaves out turns that say and call nothing, their reasoning too", () => {
    const blank = turn([{ type: "text", text: " \n" }]).event;
    const thought = turn([{ type: "reasoning", text: "Hm." }]).event;
    expect(prompt([message("Hi"), blank, thought]).map((entry) => entry.role)).toEqual(["system", "user"]);
  });

  it("leaves out an empty turn, which providers refuse", () => {
    expect(prompt([message("Hi"), turn([]).event]).map((entry) => entry.role)).toEqual(["system", "user"]);
  });

  it("sends a string as it is and other JSON as text", () => {
    const { event, calls } = turn([call("a", "t", "{}"), call("b", "t", "{}"), call("c", "t", "{}")]);
    const values = ["plain", { a: 1 }, null];
    const results = calls.map((tool_req, i) =>
      toolResult({ tool_req, result: values[i] ?? null, truncated: false, output_artifact_path: null }),
    );
    const tool = prompt([event, ...results]).find((entry) => entry.role === "tool");
    const outputs = tool?.content.map((part) => (part as unknown as { output: JsonObject }).output.value);
    expect(outputs).toEqual(["plain", '{"a":1}', "null"]);
  });
});

describe("a history", () => {
  /** What can come into a history after a turn with calls, in any order, and in any number. */
  const step = fc.record({
    ids: fc.array(fc.constantFrom("p1", "p2", "", "p1", "x".repeat(80), "ö", "a b"), { maxLength: 5 }),
    names: fc.constantFrom("get_weather", "", "bad name!", "x".repeat(90), "submit_answer"),
    inputs: fc.constantFrom("{}", "", '{"a":1}', '{"a":', "[1]", "null", '"x"'),
    text: fc.constantFrom("", "hello", " "),
    settled: fc.array(fc.nat(), { maxLength: 8 }),
    asError: fc.boolean(),
    messages: fc.array(fc.string(), { maxLength: 2 }),
  });

  it("is valid for a provider whatever happened: each call has one result, right behind its turn", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), fc.boolean(), (steps, mustAnswer) => {
        const events: NewEvent[] = [message("Hi")];
        for (const { ids, names, inputs, text, settled, asError, messages } of steps) {
          const content: LanguageModelV3Content[] = ids.map((id) => call(id, names, inputs));
          if (text !== "") content.push({ type: "text", text });
          const { event, calls } = turn(content, events);
          events.push(event);
          for (const index of settled) {
            const tool_req = calls[index % Math.max(calls.length, 1)];
            if (!tool_req) continue;
            const result = toolResult({
              tool_req,
              result: index,
              truncated: false,
              output_artifact_path: null,
            });
            events.push(asError ? errorEvent("no", "client", tool_req) : result);
          }
          events.push(...messages.map(message));
        }
        assertValid(prompt(events, mustAnswer));
      }),
      { numRuns: 500 },
    );
  });
});

function assertValid(messages: ReturnType<typeof buildPrompt>): void {
  const seen = new Set<string>();
  messages.forEach((entry, index) => {
    if (entry.role === "tool") expect(messages[index - 1]?.role).toBe("assistant");
    if (typeof entry.content !== "string") {
      for (const part of entry.content) if (part.type === "text") expect(part.text).toMatch(/\S/);
    }
    if (entry.role !== "assistant") return;
    const parts = entry.content as unknown as JsonObject[];
    expect(parts.length).toBeGreaterThan(0);
    const calls = parts.filter((part) => part.type === "tool-call");
    expect(parts.slice(parts.length - calls.length)).toEqual(calls);
    for (const part of calls) {
      expect(part.toolCallId).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(part.toolName).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(seen.has(String(part.toolCallId))).toBe(false);
      seen.add(String(part.toolCallId));
    }
    const next = messages[index + 1];
    const results = next?.role === "tool" ? (next.content as unknown as JsonObject[]) : [];
    expect(results.map((part) => part.toolCallId)).toEqual(calls.map((part) => part.toolCallId));
  });
}
