import type { JsonObject } from "@tandem/engine/domain/json";
import { findProviderFaults } from "@tandem/engine/domain/provider-faults";
import { findStrictFault } from "@tandem/engine/domain/strict-schema";
import { chooseStrictTools, toStrictFlag } from "@tandem/engine/domain/strict-tools";
import { describe, expect, it } from "vitest";
import { objectOf, only } from "../support/tool-schemas/tool-schema.ts";

const text = { type: "string" };

describe("a strict schema", () => {
  const closed = only({ a: text, b: { type: ["integer", "null"] } }, "a", "b");
  const tree = only({ name: text, children: { type: "array", items: { $ref: "#" } } }, "name", "children");
  it.each<[string, JsonObject, RegExp | null, RegExp | null]>([
    ["closed, and all required", closed, null, null],
    ["open", objectOf({ a: text }, "a"), /additionalProperties/, /additionalProperties/],
    [
      "open below",
      only({ a: objectOf({ b: text }, "b") }, "a"),
      /^properties\.a: additional/,
      /^properties\.a: additional/,
    ],
    ["with an optional property", only({ a: text }), /a is not required/, null],
    ["with a pattern", only({ a: { ...text, pattern: "^a$" } }, "a"), null, /pattern/],
    ["with a bound", only({ a: { type: "number", minimum: 1 } }, "a"), null, /minimum/],
    ["with oneOf", only({ a: { oneOf: [text] } }, "a"), /oneOf/, /oneOf/],
    ["with anything", only({ a: {} }, "a"), /no type/, /no type/],
    ["with a tree", tree, null, /leads back/],
    [
      "with a description beside a reference",
      { ...only({ a: { $ref: "#/$defs/A", description: "x" } }, "a"), $defs: { A: text } },
      /beside/,
      /beside/,
    ],
    ["with an odd format", only({ a: { ...text, format: "odd" } }, "a"), /format odd/, /format odd/],
    ["with eleven levels", levels(11), /levels/, null],
  ])("(%s) is one for OpenAI or not, and for Anthropic", (_, schema, openai, anthropic) => {
    for (const [provider, word] of [
      ["openai", openai],
      ["anthropic", anthropic],
    ] as const) {
      const fault = findStrictFault(schema, provider);
      if (word === null) expect([provider, fault]).toEqual([provider, null]);
      else expect(fault).toMatch(word);
    }
  });

  it.each(["google", "compatible", "demo"] as const)("is none for %s", (provider) => {
    expect(findStrictFault(closed, provider)).toContain("no strict tools");
  });
});

function levels(count: number): JsonObject {
  let schema = only({ end: text }, "end");
  for (let level = 1; level < count; level += 1) schema = only({ a: schema }, "a");
  return schema;
}

describe("the strict tools of a request", () => {
  const tools = Array.from({ length: 25 }, (_, index) => ({
    name: `t${index}`,
    strict: index !== 1,
    input_schema: only({ a: text }, "a"),
  }));

  it("are those that ask for it", () => {
    const chosen = chooseStrictTools(tools, "openai");
    expect(chosen.has("t1")).toBe(false);
    expect([...chosen.values()].every((why) => why === null)).toBe(true);
  });

  it("are twenty at most for Anthropic", () => {
    const chosen = [...chooseStrictTools(tools, "anthropic").values()];
    expect(chosen.filter((why) => why === null)).toHaveLength(20);
    expect(chosen.at(-1)).toContain("20 strict tools");
  });

  it("share what Anthropic allows of optional properties", () => {
    const optional = (name: string) => ({
      name,
      strict: true,
      input_schema: only({ a: text, b: text, c: text, d: text }),
    });
    const chosen = chooseStrictTools(["x", "y", "z"].map(optional), "anthropic");
    expect([...chosen.values()].map((why) => why === null)).toEqual([true, true, false]);
  });

  it("are said to be so, and for OpenAI the others not to be", () => {
    expect([toStrictFlag(true, "openai"), toStrictFlag(false, "openai")]).toEqual([true, false]);
    expect([toStrictFlag(true, "anthropic"), toStrictFlag(false, "anthropic")]).toEqual([true, undefined]);
  });
});

describe("the tools of an agent", () => {
  const tools = (count: number, rest: object = {}) =>
    Array.from({ length: count }, (_, index) => ({ name: `t${index}`, description: "d", ...rest }));

  it("are 128 at most for OpenAI, the answer's format counted, deferred ones not", () => {
    const loc = ["body", "agent"];
    const find = (agent: object) => findProviderFaults(agent, "openai/gpt-x", loc).map(({ loc: at }) => at);
    expect(find({ tools: tools(128) })).toEqual([]);
    expect(find({ tools: tools(129) })).toEqual([[...loc, "tools"]]);
    expect(find({ tools: tools(128), answer_format: only({}) })).toEqual([[...loc, "tools"]]);
    expect(find({ tools: tools(200, { defer_loading: true }) })).toEqual([]);
    expect(findProviderFaults({ tools: tools(256) }, "anthropic/claude-x", loc)).toEqual([]);
  });

  it("are refused for a model whose provider cannot be told a required property", () => {
    const input_schema = objectOf({ "a b": text }, "a b");
    const agent = { tools: [{ name: "t", description: "d", input_schema }], answer_format: input_schema };
    expect(findProviderFaults(agent, "anthropic/claude-x", ["body"])).toMatchObject([
      {
        loc: ["body", "tools", 0, "input_schema", "properties", "a b"],
        msg: expect.stringMatching(/"t".*"a b"/),
      },
      { loc: ["body", "answer_format", "properties", "a b"] },
    ]);
    expect(findProviderFaults(agent, "openai/gpt-x", ["body"])).toEqual([]);
    expect(findProviderFaults(agent, "no model", ["body"])).toEqual([]);
  });
});
