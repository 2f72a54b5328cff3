import { describe, expect, it } from "vitest";
import type { ChatMessage } from "../support/fake-model-server.ts";
import { findHistoryFaults } from "../support/history.ts";

const user: ChatMessage = { role: "user", content: "Hi" };
const said: ChatMessage = { role: "assistant", content: "Hello." };
const turn = (...ids: string[]): ChatMessage => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "get", arguments: "{}" } })),
});
const result = (id: string): ChatMessage => ({ role: "tool", tool_call_id: id, content: "" });
const calling = (name: string, text: string): ChatMessage => ({
  role: "assistant",
  tool_calls: [{ id: "a", type: "function", function: { name, arguments: text } }],
});

describe("the check of a history", () => {
  it("finds nothing in a good one", () => {
    const good = [user, turn("a", "b"), result("a"), result("b"), said, user, turn("c"), result("c")];
    expect(findHistoryFaults(good)).toEqual([]);
  });

  it.each([
    ["a call without a result", [user, turn("a", "b"), result("a")], "[a,b] have results [a]"],
    ["a call with two results", [user, turn("a"), result("a"), result("a")], "have results [a,a]"],
    ["a result that is not adjacent", [user, turn("a"), user, result("a")], "have results []"],
    ["results in another order", [user, turn("a", "b"), result("b"), result("a")], "have results [b,a]"],
    ["a result of nobody", [user, result("a")], "belongs to no turn"],
    ["a result behind an answer", [user, said, result("a")], "calls [] have results [a]"],
    ["an id that was used before", [user, turn("a"), result("a"), turn("a"), result("a")], "used before"],
    ["an id used twice in a turn", [user, turn("a", "a"), result("a"), result("a")], "used before"],
    ["an id that providers refuse", [user, turn("a b"), result("a b")], "is none"],
    ["a tool name that providers refuse", [user, calling("a b", "{}"), result("a")], "is none"],
    ["arguments cut off", [user, calling("get", '{"a'), result("a")], "no object"],
    ["arguments that are no object", [user, calling("get", "[]"), result("a")], "no object"],
    ["a turn that says nothing", [user, { role: "assistant", content: " " } as ChatMessage], "says nothing"],
    [
      "a blank part",
      [{ role: "user", content: [{ type: "text", text: "" }] } as ChatMessage],
      "says nothing",
    ],
  ])("finds %s", (_what, messages, fault) => {
    expect(findHistoryFaults(messages).join()).toContain(fault);
  });
});
