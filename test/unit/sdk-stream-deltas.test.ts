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
    text: () => text,
  };
}

it("a request made again that begins alike, in pieces, after a reconnect", () => {
  const reader = createReader();
  reader.take(0, "Hello world");
  reader.filter.reconnect();
  reader.take(0, "Hello");
  reader.take(5, " there");
  expect(reader.text()).toBe("Hello there");
});

it("a request made again that says less, after a reconnect", () => {
  const reader = createReader();
  reader.take(0, "Hello world");
  reader.filter.reconnect();
  reader.take(0, "Hello");
  expect(reader.text()).toBe("Hello");
});

it("a request made again that says nothing, after a reconnect", () => {
  const reader = createReader();
  reader.take(0, "Hello world");
  reader.filter.reconnect();
  reader.take(0, "Hello world");
  reader.take(0, "");
  expect(reader.text()).toBe("");
});
