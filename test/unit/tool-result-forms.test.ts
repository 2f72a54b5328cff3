import {
  cutText,
  isCut,
  isFailure,
  listImages,
  toModelResult,
} from "@tandem/engine/domain/tool-result-forms";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const FAMILY = "👨‍👩‍👧‍👦";

describe("a result", () => {
  it.each([
    ["a string as it is", "Sunny", "Sunny"],
    ["other JSON as JSON text", { degrees: 21 }, '{"degrees":21}'],
    ["null as JSON text", null, "null"],
    ["an empty object as JSON text", {}, "{}"],
    ["an object with any other key whole", { text: "x", degrees: 21 }, '{"text":"x","degrees":21}'],
    ["a list whole", [{ text: "x" }], '[{"text":"x"}]'],
    ["the text of a form", { text: "Sunny", details: { raw: 1 } }, "Sunny"],
    ["a form's text that is JSON as JSON text", { text: { a: 1 } }, '{"a":1}'],
    ["nothing of details", { details: "secret" }, ""],
  ])("is told: %s", (_, result, text) => {
    expect(toModelResult(result)).toEqual({ text, images: [], isError: false });
    expect(isFailure(result)).toBe(false);
  });

  it.each([
    ["a text", { error: "No such city" }, "No such city"],
    ["true", { error: true }, "The call failed."],
    ["isError", { isError: true, text: "No such city" }, "No such city"],
    ["both texts", { error: "Timeout", text: "Half of it" }, "Timeout\n\nHalf of it"],
    ["other JSON", { error: { code: 5 } }, '{"code":5}'],
  ])("failed when error is there: %s", (_, result, text) => {
    expect(toModelResult(result)).toEqual({ text, images: [], isError: true });
    expect(isFailure(result)).toBe(true);
  });

  it.each([
    { error: null, text: "x" },
    { error: false, text: "x" },
    { error: "", text: "x" },
    { isError: false, text: "x" },
  ])("did not fail when error says nothing: %j", (result) => expect(isFailure(result)).toBe(false));

  it("did not fail when an error stands beside keys of its own", () => {
    expect(isFailure({ error: "x", code: 5 })).toBe(false);
  });

  it("has its images apart, one or many", () => {
    expect(listImages({ images: ["a", "b"], text: "x" })).toEqual(["a", "b"]);
    expect(listImages({ images: "a" })).toEqual(["a"]);
    expect(listImages({ images: ["a"], other: 1 })).toEqual([]);
    expect(toModelResult({ images: ["a"] })).toEqual({ text: "", images: ["a"], isError: false });
  });
});

describe("a cut", () => {
  it("keeps four characters for a token, and says how many are missing", () => {
    expect(cutText("x".repeat(20_000), 1_000)).toBe(
      `${"x".repeat(4_000)}\n[… 16,000 characters of 20,000 were left out]`,
    );
  });

  it("leaves alone what fits to the last character, and everything without a limit", () => {
    expect(cutText("x".repeat(8), 2)).toBe("x".repeat(8));
    expect(cutText("x".repeat(9), null)).toBe("x".repeat(9));
    expect(isCut("x".repeat(8), 2)).toBe(false);
    expect(isCut("x".repeat(9), 2)).toBe(true);
    expect(isCut("x".repeat(9), undefined)).toBe(false);
  });

  it("is measured by what the model is told, not by what the host keeps", () => {
    expect(isCut({ text: "short", details: "x".repeat(1_000) }, 2)).toBe(false);
    expect(isCut({ degrees: 21 }, 2)).toBe(true);
  });

  it.each([
    ["a surrogate pair", "abc", "😀"],
    ["an emoji of several parts", "ab", FAMILY],
    ["a letter with its accent", "abc", "e\u0301"],
    ["a flag", "ab", "🇫🇷"],
  ])("goes before %s that stands on the border", (_, before, character) => {
    const text = `${before}${character}${"x".repeat(50)}`;
    const [kept] = cutText(text, 1).split("\n");
    expect(kept).toBe(before);
    expect(cutText(text, 1)).toContain(`[… ${text.length - before.length} characters of ${text.length}`);
  });

  it("finds the border far into a text of such characters", () => {
    const [kept = ""] = cutText(FAMILY.repeat(1_000), 1_001).split("\n");
    expect(kept.length % FAMILY.length).toBe(0);
    expect(kept.length).toBeGreaterThan(4_004 - FAMILY.length);
  });

  it("keeps flags whole in a long row of them, wherever the row begins", () => {
    for (const before of ["", "a", "ab", "abc", "😀"]) {
      const [kept = ""] = cutText(`${before}${"🇫🇷".repeat(300)}`, 200).split("\n");
      expect(kept).toMatch(/🇫🇷$/u);
      expect((kept.length - before.length) % "🇫🇷".length).toBe(0);
    }
  });

  it("goes between code points inside a character that has no end", () => {
    const [kept = ""] = cutText(`e${"\u0301".repeat(10_000)}`, 1_000).split("\n");
    expect(kept).toHaveLength(4_000);
  });

  it("never makes half a surrogate pair, and never keeps more than the limit", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "😀", FAMILY, "🇫🇷", "\u0301"), maxLength: 100 });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 50 }), (value, tokens) => {
        const cut = cutText(value, tokens);
        const kept = isCut(value, tokens) ? cut.slice(0, cut.lastIndexOf("\n[…")) : cut;
        expect(value.startsWith(kept)).toBe(true);
        expect(kept.length).toBeLessThanOrEqual(tokens * 4);
        expect(/\p{Cs}/u.test(kept)).toBe(false);
      }),
    );
  });
});
