/** A number of places for work that runs at once. Whoever waits for one comes first. */
export interface Slots {
  /** How many are not taken. While somebody waits it is none. */
  readonly free: number;
  /** Takes a free place; false when there is none. */
  tryTake(): boolean;
  /** Resolves to true when a place is taken, in the order of the calls, and to false when it was sent away. */
  take(): Promise<boolean>;
  /** Sends away so many of those who wait, who have waited longest. */
  sendAway(count: number): void;
  /** Gives a place back. */
  release(): void;
}

/** Makes so many places; `onChange` is told when the last one was taken, and when one is free again. */
export function createSlots(count: number, onChange: () => void = () => undefined): Slots {
  const waiting: ((isTaken: boolean) => void)[] = [];
  let free = count;
  const tryTake = () => {
    if (free === 0) return false;
    free--;
    if (free === 0) onChange();
    return true;
  };
  return {
    get free() {
      return free;
    },
    tryTake,
    take: async () => tryTake() || new Promise<boolean>((resolve) => waiting.push(resolve)),
    sendAway(most) {
      for (const resolve of waiting.splice(0, most)) resolve(false);
    },
    release() {
      const next = waiting.shift();
      // The place goes from hand to hand, so that nobody comes in between.
      if (next) return next(true);
      free++;
      if (free === 1) onChange();
    },
  };
}
