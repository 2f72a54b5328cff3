import { TimeLimitError, withTimeLimit } from "@tandem/engine/domain/time-limit";
import { expect, it } from "vitest";

const computeFor = (ms: number) => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};
/** Lets time pass without computing, as a busy machine does. */
const standStillFor = (ms: number) => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
};

it("work that computes for too long is ended", () => {
  expect(() => withTimeLimit(50, () => computeFor(10_000))).toThrow(TimeLimitError);
});

it("work that the machine gave no time to is begun again", () => {
  let attempts = 0;
  const work = () => {
    attempts++;
    if (attempts === 1) standStillFor(2_000);
    return "done";
  };
  expect(withTimeLimit(1_000, work)).toBe("done");
  expect(attempts).toBe(2);
});

it("work that never gets its time is told as a busy server, not as work that takes too long", () => {
  let attempts = 0;
  const work = () => {
    attempts++;
    standStillFor(200 * attempts + 200);
  };
  expect(() => withTimeLimit(200, work)).toThrow("too busy");
  expect(attempts).toBe(3);
});

it("an error of the work itself is thrown on, and the next work runs", () => {
  const fail = () => {
    throw new RangeError("mine");
  };
  expect(() => withTimeLimit(1_000, fail)).toThrow("mine");
  expect(withTimeLimit(1_000, () => withTimeLimit(1_000, () => 7))).toBe(7);
});
