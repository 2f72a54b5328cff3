// What a reader makes of its deltas is what the step's event says, also when its connection broke on the way.
import fc from "fast-check";
import { expect, it } from "vitest";
import { DeltaFilter, type StreamDelta } from "../../apps/sdk/src/stream-deltas.ts";

/** A reader as the README tells of: `offset: 0` begins anew, and anything else goes on where the text ended. */
function createReader() {
  const filter = new DeltaFilter();
  let text = "";
  return {
    filter,
    take(offset: number, said: string) {
      const delta = filter.take({ type: "delta", step: 1, offset, text: said } satisfies StreamDelta);
      if (!delta) return;
      if (delta.offset === 0) text = "";
      expect(delta.offset, `after ${JSON.stringify(text)}`).toBe(text.length);
      text += delta.text;
    },
    /** The step's reply has come. */
    end(said: string) {
      const rest = filter.complete(said);
      if (rest) text = (rest.offset === 0 ? "" : text) + rest.text;
      expect(text).toBe(said);
    },
  };
}

it("a request made again that begins alike, in pieces, after a reconnect", () => {
  const reader = createReader();
  reader.take(0, "Hello world");
  reader.filter.reconnect();
  reader.take(0, "Hello");
  reader.take(5, " there");
  reader.end("Hello there");
});

it("a request made again that says less, after a reconnect", () => {
  const reader = createReader();
  reader.take(0, "Hello world");
  reader.filter.reconnect();
  reader.take(0, "Hello");
  reader.end("Hello");
});

it("a request made again that says nothing, after a reconnect", () => {
  const reader = createReader();
  reader.take(0, "Hello world");
  reader.filter.reconnect();
  reader.take(0, "Hello world");
  reader.take(0, "");
  reader.end("");
});

it("whatever is told over however many connections", () => {
  const word = fc.constantFrom("", "a", "ab", "aba", "abb", "abab", "b");
  const tell = fc.record({ isBroken: fc.boolean(), pieces: fc.array(word, { minLength: 1, maxLength: 4 }) });
  fc.assert(
    fc.property(fc.array(tell, { maxLength: 6 }), word, (tells, said) => {
      const reader = createReader();
      for (const { isBroken, pieces } of tells) {
        if (isBroken) reader.filter.reconnect();
        let offset = 0;
        for (const piece of pieces) {
          reader.take(offset, piece);
          offset += piece.length;
        }
      }
      if (tells.length > 0) reader.end(said);
    }),
    { numRuns: 2000 },
  );
});
