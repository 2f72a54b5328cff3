import { createToolSearch } from "@tandem/worker/tools/search-tools";
import { describe, expect, it } from "vitest";

const tool = (name: string, description: string, more: object = {}) => ({
  name,
  description,
  defer_loading: true,
  ...more,
});
const search = createToolSearch([
  tool("send_email", "Sends a message to somebody by mail."),
  tool("create-invoice", "Makes a bill for a customer."),
  tool("listOpenOrders", "All orders that are not delivered."),
  tool("x17", "Something internal.", { title: "Weather radar" }),
  { name: "get_time", description: "Sends the time by email." },
  ...Array.from({ length: 20 }, (_, i) => tool(`archive_${i}`, "Archives a document.")),
]);
const names = (query: string) => (search(query).tools as { name: string }[]).map(({ name }) => name);

describe("a search for tools", () => {
  it.each([
    ["part of a snake_case name", "email", "send_email"],
    ["part of a kebab-case name", "invoice", "create-invoice"],
    ["part of a camelCase name", "open orders", "listOpenOrders"],
    ["a name as one word", "SendEmail", "send_email"],
    ["a name in one word without a border", "sendemail", "send_email"],
    ["the beginning of a word", "invo", "create-invoice"],
    ["a slip of the pen", "emial send", "send_email"],
    ["a word of the description", "I need a tool to bill a customer", "create-invoice"],
    ["a word of the title", "weather", "x17"],
  ])("finds a tool by %s", (_, query, name) => expect(names(query)[0]).toBe(name));

  it("answers with names and descriptions, and no tool that is not deferred", () => {
    expect(search("send email").tools).toEqual([
      { name: "send_email", description: "Sends a message to somebody by mail." },
    ]);
  });

  it("finds five tools at most", () => expect(names("archive document")).toHaveLength(5));

  it("says that it found nothing, and among how many", () => {
    expect(search("quantum chess")).toEqual({
      tools: [],
      note: expect.stringContaining("24 deferred tools"),
    });
  });

  it.each([
    ["nothing", ""],
    ["NUL", "\u0000"],
    ["half a surrogate pair", "\ud800 email \udfff"],
    ["a regular expression", "(a+)+$ .* [ \\"],
    ["a name of the language", "__proto__ constructor toString"],
    ["a very long word", "a".repeat(1_000_000)],
    ["very many words", Array.from({ length: 100_000 }, (_, i) => `word${i}`).join(" ")],
  ])("is not harmed by %s", (_, query) => {
    const beganMs = performance.now();
    expect(Array.isArray(search(query).tools)).toBe(true);
    expect(performance.now() - beganMs).toBeLessThan(1_000);
  });
});
