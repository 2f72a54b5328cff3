/** A number of places for work that runs at once. Whoever waits for one comes first. */
export interface Slots {
  readonly isFull: boolean;
  /** Takes a free place that nobody waits for; false when there is none. */
  tryTake(): boolean;
  /** Resolves when a place is taken, in the order of the calls. */
  take(): Promise<void>;
  /** Gives a place back. */
  release(): void;
}

/** Makes so many places; `onChange` is told when the last one was taken, and when one is free again. */
export function createSlots(count: number, onChange: () => void = () => undefined): Slots {
  const waiting: (() => void)[] = [];
  let taken = 0;
  const takeFree = () => {
    if (taken === count) return false;
    taken++;
    if (taken === count) onChange();
    return true;
  };
  return {
    get isFull() {
      return taken === count;
    },
    tryTake: takeFree,
    async take() {
      if (!takeFree()) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    release() {
      const next = waiting.shift();
      // The place goes from hand to hand, so that nobody comes in between.
      if (next) return next();
      taken--;
      if (taken === count - 1) onChange();
    },
  };
}
