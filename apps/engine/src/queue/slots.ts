/** A number of places for work that runs at once. Whoever waits for one comes first. */
export interface Slots {
  /** How many places are free. */
  readonly free: number;
  /** Takes a free place that nobody waits for; false when there is none. */
  tryTake(): boolean;
  /** Resolves with true when a place is taken, in the order of the calls, and with false when turned away. */
  take(): Promise<boolean>;
  /** Turns away so many of those that wait, the first ones first. */
  turnAway(count: number): void;
  /** Gives a place back. */
  release(): void;
}

/** Makes so many places; `onChange` is told when the last one was taken, and when one is free again. */
export function createSlots(count: number, onChange: () => void = () => undefined): Slots {
  const waiting: ((isTaken: boolean) => void)[] = [];
  let taken = 0;
  const takeFree = () => {
    if (taken === count) return false;
    taken++;
    if (taken === count) onChange();
    return true;
  };
  return {
    get free() {
      return count - taken;
    },
    tryTake: takeFree,
    take: async () => takeFree() || new Promise<boolean>((resolve) => waiting.push(resolve)),
    turnAway(count) {
      for (const resolve of waiting.splice(0, count)) resolve(false);
    },
    release() {
      const next = waiting.shift();
      // The place goes from hand to hand, so that nobody comes in between.
      if (next) return next(true);
      taken--;
      if (taken === count - 1) onChange();
    },
  };
}
