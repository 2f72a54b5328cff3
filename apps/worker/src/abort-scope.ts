// One step's abort signal. It leaves nothing behind on signals that live longer, as AbortSignal.any would.

/** A signal that follows others for a while. */
export interface AbortScope {
  signal: AbortSignal;
  /** True when the time was up before anything else aborted. */
  readonly isTimedOut: boolean;
  /** Follows nothing any more. */
  release(): void;
}

/** Makes a signal that aborts with the first of the given ones, or when the time is up. */
export function createAbortScope(signals: readonly AbortSignal[], timeoutMs?: number): AbortScope {
  const controller = new AbortController();
  let isTimedOut = false;
  const abort = (event: Event) => controller.abort((event.target as AbortSignal).reason);
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          isTimedOut = !controller.signal.aborted;
          controller.abort(new Error(`the time of ${timeoutMs} ms is up`));
        }, timeoutMs);
  for (const signal of signals) {
    if (signal.aborted) controller.abort(signal.reason);
    else signal.addEventListener("abort", abort, { once: true });
  }
  return {
    signal: controller.signal,
    get isTimedOut() {
      return isTimedOut;
    },
    release() {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener("abort", abort);
    },
  };
}
