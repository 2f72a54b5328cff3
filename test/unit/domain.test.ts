import { newCallId } from "@tandem/engine/domain/ids";
import { type JsonObject, type JsonValue, toCanonicalJson } from "@tandem/engine/domain/json";
import { findSchemaFault, findValueFaults } from "@tandem/engine/domain/json-schema";
import { findModelFault, parseModelId } from "@tandem/engine/domain/models";
import { isTerminal, SESSION_STATUSES, TRANSITIONS } from "@tandem/engine/domain/session-state";
import { TimeLimitError, withTimeLimit } from "@tandem/engine/domain/time-limit";
import { judgeResults, type KnownCall, type PostedResult } from "@tandem/engine/domain/tool-results";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

describe("canonical JSON", () => {
  it("is the same for equal values, whatever the order of their keys", () => {
    const shuffled = (value: JsonValue): JsonValue => {
      if (Array.isArray(value)) return value.map(shuffled);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, child]) => [key, shuffled(child)]),
      );
    };
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const parsed = JSON.parse(JSON.stringify(value)) as JsonValue;
        expect(toCanonicalJson(shuffled(parsed))).toBe(toCanonicalJson(parsed));
        expect(JSON.parse(toCanonicalJson(parsed))).toEqual(parsed);
      }),
    );
  });
});

describe("a JSON Schema", () => {
  it.each([
    [{}],
    [
      {
        type: "object",
        properties: { tree: { $ref: "#/$defs/node" } },
        $defs: {
          node: { type: "object", properties: { kids: { type: "array", items: { $ref: "#/$defs/node" } } } },
        },
      },
    ],
    [
      {
        $schema: "http://json-schema.org/draft-07/schema#",
        $id: "x",
        type: "object",
        definitions: { a: { type: "string" } },
        properties: { a: { $ref: "#/definitions/a" } },
      },
    ],
    [
      {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: { a: { prefixItems: [{ type: "string" }] } },
      },
    ],
    [{ type: "object", properties: { when: { type: "string", format: "made-up" } } }],
    [
      {
        type: "object",
        properties: { when: { type: "string", format: "date-time" }, $ref: { type: "string" } },
      },
    ],
  ])("that people write is taken: %j", (schema) => {
    expect(findSchemaFault(schema as never)).toBeNull();
    // Twice: the same text compiles to the same check.
    expect(findSchemaFault(structuredClone(schema) as never)).toBeNull();
  });

  it("refuses values with the place and the fault", () => {
    const schema = {
      type: "object",
      properties: { city: { type: "string" }, n: { enum: [1, 2] } },
      required: ["city"],
      additionalProperties: false,
    };
    expect(findValueFaults(schema, { city: "Rome" })).toEqual([]);
    expect(findValueFaults(schema, { city: 5, n: 3, x: 1 })).toEqual([
      'has no field "x"',
      "city: must be string",
      "n: must be one of [1,2]",
    ]);
  });

  it("that is hostile is refused quickly", () => {
    const deep = JSON.parse(`${'{"not":'.repeat(100)}{}${"}".repeat(100)}`);
    const big = {
      type: "object",
      properties: { a: { enum: Array.from({ length: 50_000 }, (_, i) => `v${i}`) } },
    };
    for (const schema of [
      deep,
      big,
      { $ref: "#" },
      { allOf: [{ $ref: "#" }] },
      { type: "object", properties: { a: { pattern: "(" } } },
    ]) {
      expect(findSchemaFault(schema)).not.toBeNull();
    }
  });
});

describe("a schema or a pattern that takes for ever", () => {
  const fanOut = () => {
    const $defs: Record<string, JsonValue> = { a40: { type: "string" } };
    for (let i = 0; i < 40; i++)
      $defs[`a${i}`] = { anyOf: [{ $ref: `#/$defs/a${i + 1}` }, { $ref: `#/$defs/a${i + 1}` }] };
    return { type: "object", $defs, properties: { x: { $ref: "#/$defs/a0" } } };
  };

  it.each([
    ["references that double at each level", fanOut(), { x: 5 }],
    ["a pattern with alternatives that overlap", pattern("^(a|a)*$"), { a: `${"a".repeat(60)}!` }],
    ["a pattern that overlaps itself", pattern("^(a|aa)+$"), { a: `${"a".repeat(60)}!` }],
  ])("%s is refused, or its check is ended", (_what, schema, value) => {
    const startedAt = performance.now();
    const faults =
      findSchemaFault(schema as JsonObject)?.msg ?? findValueFaults(schema as JsonObject, value).join();
    expect(faults).toMatch(/took longer|backtrack/);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it.each([
    ["a text that is measured again and again", { s: "x".repeat(4_000_000) }],
    ["a key that each fault names", { ["~/".repeat(500_000)]: "x" }],
  ])("%s is no small value: its check is ended", (_what, value) => {
    const anyOf = Array.from({ length: 200 }, (_, i) => ({ maxLength: i }));
    const allOf = Array.from({ length: 40 }, (_, i) => ({ minLength: i + 2 }));
    const schema = { type: "object", additionalProperties: { anyOf, allOf } };
    expect(findSchemaFault(schema)).toBeNull();
    expect(findValueFaults(schema, value).join().slice(0, 200)).toContain("took longer");
  });

  it("is not asked about at all when it would turn checks off or name itself", () => {
    for (const extra of [{ $async: true }, { properties: { a: { $id: "x" } } }, { $anchor: "x" }]) {
      expect(findSchemaFault({ type: "object", ...extra } as JsonObject)?.msg).toContain("not supported");
    }
    expect(findSchemaFault({ type: "object", properties: { $id: { type: "string" } } })).toBeNull();
  });

  function pattern(text: string) {
    return { type: "object", properties: { a: { type: "string", pattern: text } } };
  }
});

describe("a time limit", () => {
  it("ends a loop and gives back what finished in time", () => {
    expect(withTimeLimit(1_000, () => 5)).toBe(5);
    const endless = () => {
      for (;;);
    };
    expect(() => withTimeLimit(20, endless)).toThrow(TimeLimitError);
    expect(() => withTimeLimit(1_000, () => JSON.parse("{"))).toThrow(SyntaxError);
  });
});

describe("a model id", () => {
  it.each([
    ["openai/gpt-5", "openai", "gpt-5"],
    ["compatible/meta/llama", "compatible", "meta/llama"],
  ])("%s is read", (id, provider, model) => expect(parseModelId(id)).toEqual({ provider, model }));

  it.each([
    ["gpt-5", "provider/model"],
    ["openai/", "provider/model"],
    ["toString/x", "provider/model"],
    ["anthropic/claude", "ANTHROPIC_API_KEY"],
    ["google/gemini", "GOOGLE_GENERATIVE_AI_API_KEY"],
    ["compatible/x", "TANDEM_COMPATIBLE_BASE_URL"],
    ["demo/other", "demo/keyword"],
  ])("%s is refused, naming %s", (id, hint) => expect(findModelFault(id, {})).toContain(hint));
});

describe("the state table", () => {
  it("moves an ended session by a message alone", () => {
    for (const status of Object.keys(TRANSITIONS) as (keyof typeof TRANSITIONS)[]) {
      const moves = Object.entries(TRANSITIONS[status]).filter(([, to]) => to !== "refused");
      if (isTerminal(status))
        expect(moves).toEqual([
          ["message_sent", "pending"],
          ["message_queued", "queued"],
        ]);
      else expect(TRANSITIONS[status].cancelled).toBe("interrupted");
      for (const [, to] of moves) expect([...SESSION_STATUSES, "underneath"]).toContain(to);
    }
  });
});

describe("receipts", () => {
  const known = (id: string, state: KnownCall["state"] = "pending", args = {}): KnownCall => ({
    request: { tool_name: "t", args, id },
    state,
    contentHash: null,
  });
  const posted = (id: string | null, result: JsonValue, args = {}): PostedResult => ({
    kind: "tool_result",
    tool_req: { tool_name: "t", args, id },
    result,
    truncated: false,
    output_artifact_path: null,
  });
  const judge = (entries: PostedResult[], calls: KnownCall[]) =>
    judgeResults(entries, calls, (index) => ["body", index]);

  it("settle each call at most once, whatever is posted in whatever order", () => {
    const entry = fc.tuple(fc.constantFrom("a", "b", "c", "nobody"), fc.nat(2));
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 12 }), (list) => {
        const entries = list.map(([id, value]) => posted(id, value));
        const verdict = judge(entries, [known("a"), known("b"), known("c", "withdrawn")]);
        expect(verdict.receipts).toHaveLength(entries.length);
        const settled = verdict.settlements.map(({ call }) => call.id);
        expect(new Set(settled).size).toBe(settled.length);
        list.forEach(([id], index) => {
          const { status } = verdict.receipts[index] ?? {};
          if (id === "nobody") expect(status).toBe("unknown");
          if (id === "c") expect(status).toBe("late");
          if (id === "a" || id === "b") expect(["accepted", "duplicate", "conflict"]).toContain(status);
        });
      }),
    );
  });

  it("tell an error from a result of the same text", () => {
    const error: PostedResult = {
      kind: "error_event",
      tool_req: { tool_name: "t", args: {}, id: "a" },
      error: "x",
      origin: "client",
    };
    const { receipts } = judge([posted("a", "x"), error], [known("a")]);
    expect(receipts.map((receipt) => receipt.status)).toEqual(["accepted", "conflict"]);
  });

  it("keep the first late result of a call, and no repeat", () => {
    const first = judge([posted("c", 1), posted("c", 1), posted("c", 2)], [known("c", "withdrawn")]);
    expect(first.receipts.map((receipt) => receipt.status)).toEqual(["late", "late", "late"]);
    expect(first.late.map(({ posted: entry }) => entry)).toEqual([posted("c", 1)]);
    const [kept] = first.late;
    const again = { ...known("c", "withdrawn"), contentHash: kept?.contentHash ?? null };
    expect(judge([posted("c", 1)], [again]).late).toEqual([]);
  });

  it("without ids mean, when posted again, the call that has this very answer", () => {
    const settled = judge([posted("a", 1)], [known("a")]).settlements[0];
    const calls = [
      { ...known("a", "answered"), contentHash: settled?.contentHash ?? null },
      known("b", "answered"),
    ];
    expect(judge([posted(null, 1)], calls).receipts).toEqual([{ id: "a", status: "duplicate" }]);
  });

  it("without ids take equal calls only when one of them is pending", () => {
    expect(judge([posted(null, 1)], [known("a"), known("b")]).faults).toHaveLength(1);
    expect(judge([posted(null, 1)], [known("a", "answered"), known("b")]).receipts).toEqual([
      { id: "b", status: "accepted" },
    ]);
    expect(judge([posted(null, 1, { x: 1 })], [known("a")]).receipts).toEqual([
      { id: null, status: "unknown" },
    ]);
  });
});

describe("a call id", () => {
  it("fits what providers take", () => {
    for (let i = 0; i < 100; i++) expect(newCallId()).toMatch(/^[A-Za-z0-9_-]{1,40}$/);
  });
});
