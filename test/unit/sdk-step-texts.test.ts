// What a reader makes of its deltas is what the step's event says, whatever was told on the way.
import type { SessionEvent } from "@tandem/sdk";
import fc from "fast-check";
import { expect, it } from "vitest";
import { StepTexts, type StreamDelta } from "../../apps/sdk/src/stream-deltas.ts";

const toReply = (content: string | null) =>
  ({ type: "AgentEvent", data: { kind: "policy_event", content } }) as SessionEvent;
const toMetrics = (steps: number) =>
  ({ type: "MetricsUpdateEvent", data: { metrics: { steps } } }) as SessionEvent;

/** A reader as the README tells of: `offset: 0` begins anew, and anything else goes on where the text ended. */
function createReader() {
  const texts = new StepTexts();
  let text = "";
  const read = (delta: StreamDelta | null) => {
    if (!delta) return;
    if (delta.offset === 0) text = "";
    expect(delta.offset).toBe(text.length);
    text += delta.text;
  };
  return {
    text: () => text,
    /** A piece comes. */
    take: (offset: number, said: string, step = 1) =>
      read(texts.take({ type: "delta", step, offset, text: said })),
    /** The step's reply comes, and the event behind it if there is one yet. */
    end(said: string | null, next?: SessionEvent) {
      read(texts.complete(toReply(said), next));
      const whole = text;
      text = "";
      return whole;
    },
    complete: (event: SessionEvent) => texts.complete(event),
  };
}

it("text that is told again is given once, in whatever pieces", () => {
  const reader = createReader();
  reader.take(0, "Once upon ");
  reader.take(0, "Once");
  reader.take(4, " upon a ti");
  expect(reader.text()).toBe("Once upon a ti");
  reader.take(14, "me");
  expect(reader.end("Once upon a time")).toBe("Once upon a time");
});

it("a request that is made again and begins alike, says less, or nothing, takes the place of the first", () => {
  const reader = createReader();
  for (const [again, said] of [
    [["Hello", " there"], "Hello there"],
    [["Hello"], "Hello"],
    [[""], ""],
    [["Bye"], "Bye"],
  ] as const) {
    reader.take(0, "Hello world");
    let offset = 0;
    for (const piece of again) {
      reader.take(offset, piece);
      offset += piece.length;
    }
    expect(reader.end(said)).toBe(said);
  }
});

it("text that was not told comes with the reply, if the number of its step is known", () => {
  const reader = createReader();
  expect(reader.end("One.", toMetrics(1))).toBe("One.");
  expect(reader.end("Two.")).toBe("");
  expect(reader.end(null, toMetrics(3))).toBe("");
  reader.take(0, "Fo", 4);
  expect(reader.end("Four.")).toBe("Four.");
  expect(reader.complete(toMetrics(4))).toBeNull();
});

it("whatever is told, over however many connections and requests, a reader ends with what was said", () => {
  const word = fc.constantFrom("", "a", "ab", "aba", "abb", "abab", "b");
  const request = fc.array(word, { minLength: 1, maxLength: 4 });
  const step = fc.record({ requests: fc.array(request, { maxLength: 6 }), said: word });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 4 }), (steps) => {
      const reader = createReader();
      for (const [i, { requests, said }] of steps.entries()) {
        for (const pieces of requests) {
          let offset = 0;
          for (const piece of pieces) {
            reader.take(offset, piece, i + 1);
            offset += piece.length;
          }
        }
        expect(reader.end(said, toMetrics(i + 1))).toBe(said);
      }
    }),
    { numRuns: 2_000 },
  );
});
