import { ExactNumber, toDecimal } from "@tandem/engine/domain/exact-number";
import {
  copyJson,
  isJsonObject,
  JSON_BOUNDS,
  JsonFault,
  type JsonValue,
  parseJson,
  stringifyJson,
  toCanonicalJson,
  toDigitText,
  toOrdinaryJson,
} from "@tandem/engine/domain/json";
import { findValueFaults } from "@tandem/engine/domain/json-schema";
import { toProviderSchema } from "@tandem/engine/domain/lower-schema";
import { findRepeatedKey, scanJson } from "@tandem/engine/domain/scan-json";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonText, numberText } from "../support/json-text.ts";

const faultOf = (text: string, bounds = JSON_BOUNDS): JsonFault => {
  try {
    parseJson(text, bounds);
  } catch (error) {
    if (error instanceof JsonFault) return error;
    throw error;
  }
  throw new Error("No fault was found");
};

describe("JSON that is read and written", () => {
  it("means the same, whatever its numbers, keys and strings", () => {
    fc.assert(
      fc.property(jsonText(), (text) => {
        const value = parseJson(text, JSON_BOUNDS);
        expect(toCanonicalJson(parseJson(stringifyJson(value)))).toBe(toCanonicalJson(value));
        // Doubles see the same as the native parser does.
        expect(JSON.stringify(JSON.parse(stringifyJson(value)))).toBe(JSON.stringify(JSON.parse(text)));
        expect(toCanonicalJson(copyJson(value))).toBe(toCanonicalJson(value));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    "12345678901234567890",
    "-9007199254740993",
    "0.1234567890123456789012",
    "1e400",
    "-1E+400",
    "1e-400",
    "-0",
    "-0.0",
    `1${"0".repeat(400)}`,
    `1e${"9".repeat(5_000)}`,
  ])("keeps the digits of %.40s", (text) => {
    expect(parseJson(text)).toEqual(new ExactNumber(text));
    expect(stringifyJson(parseJson(`{"a":[${text},{"b": ${text} }]}`))).toBe(`{"a":[${text},{"b":${text}}]}`);
  });

  it.each([
    "0",
    "1.0",
    "1e0",
    "1E5",
    "0.1",
    "9007199254740991",
    "0.30000000000000004",
    "5e-324",
    "1e300",
    "1e-07",
  ])("reads %s as an ordinary number", (text) => {
    expect(parseJson(text)).toBe(Number(text));
  });

  it("keeps a key named __proto__ as data, with an exact number in it", () => {
    const text = '{"__proto__":12345678901234567890,"constructor":{"prototype":-0},"2":1,"1":1e400}';
    const value = parseJson(text);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    const sorted = '{"1":1e400,"2":1,"__proto__":12345678901234567890,"constructor":{"prototype":-0}}';
    expect(stringifyJson(value)).toBe(sorted);
    expect(stringifyJson(copyJson(value))).toBe(sorted);
    expect(Object.keys(toOrdinaryJson(value) as object)).toContain("__proto__");
  });

  it("does not take digits in a string or a key for a number", () => {
    const text = '{"12345678901234567890":"12345678901234567890","\\"":"\\\\","1e400":"\\"-0"}';
    expect(stringifyJson(parseJson(text))).toBe(text);
  });

  it.each([
    "{12345678901234567890:1}",
    '{"a":1,12345678901234567890:1}',
    "012345678901234567890",
    "1234567890123456789.",
    "12345678901234567890 1",
    "-",
    "1e",
    '"abc',
    "[1,]",
    "",
  ])("refuses %s, which is no JSON", (text) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(faultOf(text).path).toEqual([]);
  });

  it("refuses text that is nested too deep, or full of numbers that take long to read", () => {
    expect(faultOf("[".repeat(10_000)).message).toContain("256");
    expect(faultOf(`[${"-0,".repeat(100_000)}-0]`).message).toContain("100000");
  });
});

describe("a repeated key", () => {
  it.each([
    ['{"a":1,"a":1}', ["a"]],
    ['{"a":1,"\\u0061":2}', ["a"]],
    ['{"x":[0,{"b":{"c":1,"d":"}","c":2}}]}', ["x", 1, "b", "c"]],
    ['{"__proto__":1,"__proto__":2}', ["__proto__"]],
    ['{"":1,"b":12345678901234567890,"":2}', [""]],
    ['{"a" :1,\n"a"\t:2}', ["a"]],
    [`{"${"k".repeat(300)}":1,"${"k".repeat(300)}":1}`, ["k".repeat(100)]],
  ])("is refused with its place: %.60s", (text, path) => {
    expect(faultOf(text)).toMatchObject({ path, message: expect.stringContaining("twice") });
  });

  it("is not seen where there is none", () => {
    fc.assert(
      fc.property(jsonText(), (text) => {
        expect(findRepeatedKey(text)).toBeNull();
      }),
    );
  });
});

describe("the depth of JSON text", () => {
  it.each([
    ["1", 0],
    ["[]", 1],
    ['{"a":[{}]}', 3],
    ['"[[["', 0],
    ['["\\"[[", [1]]', 2],
  ])("of %s is %i", (text, depth) => {
    expect(scanJson(text).depth).toBe(depth);
  });
});

describe("numbers that no double holds", () => {
  it("are the same in canonical JSON when their values are, however they are spelled", () => {
    const canonical = (text: string) => toCanonicalJson(parseJson(text));
    expect(new Set(["1", "1.0", "1e0", "10E-1"].map(canonical)).size).toBe(1);
    expect(new Set(["0", "-0", "-0.0e5"].map(canonical)).size).toBe(1);
    expect(
      new Set(["12345678901234567890", "12345678901234567890.0", "1234567890123456789e1"].map(canonical))
        .size,
    ).toBe(1);
    expect(new Set(["1e400", "10e399", "0.1E+401"].map(canonical)).size).toBe(1);
    expect(canonical("12345678901234567890")).not.toBe(canonical("12345678901234567891"));
    expect(canonical("1e400")).not.toBe(canonical("-1e400"));
  });

  it("have one decimal text for each value", () => {
    fc.assert(
      fc.property(numberText(), fc.nat(5), (text, zeros) => {
        const [mantissa = "", power = "0"] = text.split(/e/i);
        const padded = `${mantissa.includes(".") ? mantissa : `${mantissa}.`}${"0".repeat(zeros + 1)}e${power}`;
        expect(toDecimal(padded)).toBe(toDecimal(text));
      }),
    );
  });

  it("are no objects, and numbers to a schema", () => {
    const schema = {
      type: "object",
      properties: { n: { type: "integer", minimum: 5 }, x: { type: "number" } },
    };
    const check = (text: string) => findValueFaults(schema, parseJson(text));
    expect(isJsonObject(parseJson("1e400"))).toBe(false);
    expect(check('{"n":12345678901234567890,"x":0.1234567890123456789012}')).toEqual([]);
    expect(check('{"n":1e400,"x":-1e400}')).toEqual([]);
    expect(check('{"n":-12345678901234567890}')).toEqual(["n: must be >= 5"]);
    expect(check('{"n":6.00000000000000000000001}')).toEqual(["n: must be integer"]);
    expect(check('{"n":"12345678901234567890"}')).toEqual(["n: must be integer"]);
  });

  it("can bound a schema, and are left out of what a provider is told", () => {
    const schema = parseJson(
      '{"type":"object","properties":{"default":{"type":"integer","maximum":12345678901234567890},' +
        '"id":{"enum":[12345678901234567890,1]},"n":{"type":"integer","maximum":5}}}',
    );
    if (!isJsonObject(schema)) throw new Error("It is an object");
    expect(findValueFaults(schema, parseJson('{"id":12345678901234567890}'))).toEqual([]);
    expect(findValueFaults(schema, { id: 2 })).toHaveLength(1);
    expect(toProviderSchema(schema)).toEqual({
      type: "object",
      properties: { default: { type: "integer" }, id: {}, n: { type: "integer", maximum: 5 } },
    });
  });

  it("are digits as text for writers of JSON that are not ours", () => {
    const value: JsonValue = parseJson('{"id":12345678901234567890,"zero":-0}');
    expect(JSON.stringify(value)).toBe('{"id":"12345678901234567890","zero":0}');
    expect(toDigitText(value)).toEqual({ id: "12345678901234567890", zero: 0 });
  });
});

describe("9 MB of JSON", () => {
  const repeat = (text: string) =>
    `[${Array(Math.floor(9_000_000 / (text.length + 1)))
      .fill(text)
      .join()}]`;

  // Loose bounds: what a slip to quadratic time would break by far.
  it.each([
    ["one string and one long number", `{"a":"${"\\\\".repeat(4_500_000)}","b":12345678901234567890}`],
    ["long numbers", `[${Array(100_000).fill("1".repeat(89)).join()}]`],
    ["floats", repeat("0.30000000000000004")],
    ["small objects", repeat('{"a":1}')],
    ["one number of zeros", `0.${"0".repeat(9_000_000)}1`],
    ["one power of ten", `1e${"9".repeat(9_000_000)}`],
  ])("is read, compared and written in seconds at most: %s", (_what, text) => {
    const startedAt = performance.now();
    const value = parseJson(text, JSON_BOUNDS);
    toCanonicalJson(value);
    toOrdinaryJson(value);
    expect(stringifyJson(value)).toHaveLength(text.length);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});
