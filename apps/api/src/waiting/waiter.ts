// One waiting client, whatever it waits for.

/** Why a wait is over. */
export type WaitEnd = "woken" | "timeout" | "gone" | "shutdown";

/** One waiting client. */
export interface Waiter {
  /** Resolves once, with the reason. Armed from the start: a wake-up before this is awaited is not lost. */
  readonly ended: Promise<WaitEnd>;
  /** After a wake-up, arms `ended` anew, until the same time. Do this before reading again. */
  waitOn(): void;
  /** Ends the wait for good; calling it again does nothing. */
  end(reason: WaitEnd): void;
}

/**
 * Makes a waiter that is woken by hand, until its time is up.
 *
 * @param onEnd called once, when the wait is over for good
 */
export function createWaiter(timeoutMs: number, onEnd: () => void): Waiter & { wake(): void } {
  let over: WaitEnd | null = null;
  let resolve: (reason: WaitEnd) => void = () => undefined;
  const arm = () =>
    new Promise<WaitEnd>((settle) => {
      resolve = settle;
    });
  const end = (reason: WaitEnd) => {
    if (over !== null) return;
    over = reason;
    clearTimeout(timeout);
    onEnd();
    resolve(reason);
  };
  const timeout = setTimeout(end, timeoutMs, "timeout");
  const waiter = {
    ended: arm(),
    wake: () => resolve("woken"),
    waitOn() {
      waiter.ended = over === null ? arm() : Promise.resolve(over);
    },
    end,
  };
  return waiter;
}
