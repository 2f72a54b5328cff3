// Cancellation that leaves no listener behind: `AbortSignal.any` keeps one on a long-lived parent for every child.

/** Longest delay that timers take; a longer one would fire at once. */
const maxTimerMs = 2_147_483_647;

/** A signal of its own that follows a parent, ends by a timeout, or is aborted by hand. */
export interface AbortScope {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Lets go of the parent and the timer. To be called whatever happened. */
  release(): void;
}

/** Opens a scope. `timeoutError` makes the reason with which it ends after `timeoutMs`. */
export function openAbortScope(options: {
  parent?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  timeoutError?: () => Error;
}): AbortScope {
  const { parent, timeoutMs, timeoutError } = options;
  const controller = new AbortController();
  const follow = () => controller.abort(parent?.reason);
  if (parent?.aborted) follow();
  parent?.addEventListener("abort", follow, { once: true });
  const timer =
    timeoutMs === undefined || timeoutMs > maxTimerMs
      ? undefined
      : setTimeout(() => controller.abort(timeoutError?.()), timeoutMs);
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => {
      parent?.removeEventListener("abort", follow);
      clearTimeout(timer);
    },
  };
}

/**
 * Gives what the promise gives, unless the signal is aborted first: then throws the signal's reason, and what becomes of
 * the promise is nobody's concern.
 */
export async function untilAborted<T>(promise: PromiseLike<T> | T, signal: AbortSignal): Promise<T> {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  try {
    // In the race even when it is lost already: otherwise nobody would handle what the promise is rejected with.
    return await Promise.race([aborted, promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Waits `ms`; throws the signal's reason when that is aborted first. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await untilAborted(passed, signal);
  } finally {
    clearTimeout(timer);
  }
}
