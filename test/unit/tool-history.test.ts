import { errorEvent, type NewEvent, type StoredEvent, toolResult } from "@tandem/engine/domain/events";
import type { JsonObject, JsonValue } from "@tandem/engine/domain/json";
import { readToolHistory } from "@tandem/engine/domain/tool-history";
import { describe, expect, it } from "vitest";

const tools = [
  { name: "pay", description: "d", max_retries: 2 },
  { name: "free", description: "d" },
];
let ids = 0;
const call = (tool_name = "pay") => ({ tool_name, args: {}, id: `call_${ids++}` });
const failure = (origin = "client", internal?: JsonObject): NewEvent => ({
  ...errorEvent("Broken", origin, call()),
  ...(internal ? { internal } : {}),
});
const result = (value: JsonValue, tool_name = "pay") =>
  toolResult({ tool_req: call(tool_name), result: value, truncated: false, output_artifact_path: null });
const read = (events: NewEvent[], runIndex = 0) =>
  readToolHistory(
    tools,
    events.map((event, index): StoredEvent => ({ index, internal: null, ...event })),
    runIndex,
  );
const isExhausted = (events: NewEvent[], runIndex = 0) => read(events, runIndex).exhausted.has("pay");

describe("a tool with max_retries", () => {
  it("is offered until so many of its calls have failed", () => {
    expect(isExhausted([failure()])).toBe(false);
    expect(isExhausted([failure(), result(1), failure()])).toBe(true);
  });

  it("fails by errors, by refused arguments, by timeouts and by results that say so", () => {
    expect(isExhausted([failure("server"), failure("server", { settled: "timed_out" })])).toBe(true);
    expect(isExhausted([result({ error: "x" }), result({ isError: true, text: "x" })])).toBe(true);
  });

  it.each([
    ["a denial", failure("approval")],
    ["a withdrawal", failure("server", { settled: "withdrawn" })],
    ["a call when it was not offered", failure("server", { settled: "not_offered" })],
    ["a result", result({ text: "x" })],
    ["another tool's failure", errorEvent("x", "client", call("free"))],
    ["an error of no call", errorEvent("x", "agent")],
  ])("does not fail by %s", (_, event) => {
    expect(isExhausted([failure(), event, event])).toBe(false);
  });

  it("is told with the failure that used the last one up, however many follow", () => {
    const last = failure();
    const events = [failure(), last, failure()];
    expect(read(events).exhausted.get("pay")).toBe((last.data.tool_req as JsonObject).id);
  });

  it("starts anew with a run", () => {
    expect(isExhausted([failure(), failure(), failure()], 2)).toBe(false);
    expect(isExhausted([failure(), failure(), failure()], 1)).toBe(true);
  });
});

describe("a deferred tool", () => {
  it("is loaded by each search that found it, in any run", () => {
    const deferred = [{ name: "pay", description: "d", defer_loading: true }];
    const found = result({ tools: [{ name: "pay", description: "d" }] }, "search_tools");
    const event = { index: 3, internal: null, ...found };
    expect([...readToolHistory(deferred, [event], 10).loaded]).toEqual(["pay"]);
    expect([...readToolHistory(deferred, [], 0).loaded]).toEqual([]);
  });
});
