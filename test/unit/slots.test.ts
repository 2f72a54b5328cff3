// Places for work that runs at once.
import { createSlots } from "@tandem/engine/queue/slots";
import fc from "fast-check";
import { expect, it } from "vitest";

type Action = "tryTake" | "take" | "release" | "sendAway";

const action = fc.constantFrom<Action>("tryTake", "take", "take", "release", "release", "sendAway");

it("never more are taken than there are, and those who wait come first, in order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(action, { maxLength: 60 }),
      async (count, actions) => {
        const told: boolean[] = [];
        const slots = createSlots(count, () => told.push(slots.free === 0));
        const resolved: string[] = [];
        const expected: string[] = [];
        const waiting: number[] = [];
        let taken = 0;
        for (const [number, name] of actions.entries()) {
          const wasFree = taken < count;
          if (name === "tryTake") expect(slots.tryTake()).toBe(wasFree);
          if (name === "take") {
            void slots.take().then((isTaken) => resolved.push(`${number} ${isTaken}`));
            if (wasFree) expected.push(`${number} true`);
            else waiting.push(number);
          }
          if ((name === "tryTake" || name === "take") && wasFree) taken++;
          if (name === "release") {
            if (taken === 0) continue;
            slots.release();
            const next = waiting.shift();
            if (next === undefined) taken--;
            else expected.push(`${next} true`);
          }
          if (name === "sendAway") {
            slots.sendAway(2);
            for (const sent of waiting.splice(0, 2)) expected.push(`${sent} false`);
          }
          await new Promise(setImmediate);
          expect(resolved).toEqual(expected);
          expect(slots.free).toBe(count - taken);
          expect(told.at(-1) ?? false, "what was told last of it being full").toBe(taken === count);
        }
        // Told when it changes, and only then.
        expect(told.every((isFull, i) => isFull === (i % 2 === 0))).toBe(true);
      },
    ),
  );
});
