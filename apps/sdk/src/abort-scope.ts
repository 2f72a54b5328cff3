// Cancellation that leaves no listener behind: `AbortSignal.any` keeps one on a long-lived parent for every child.

/** Longest delay that timers take; a longer one would fire at once. */
const maxTimerMs = 2_147_483_647;

/** By signal, what is called when it is aborted. However many these are, the signal has one listener: Node warns of 11. */
const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/** A signal of its own that follows a parent, ends by a timeout, or is aborted by hand. */
export interface AbortScope {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Lets go of the parent and the timer. To be called whatever happened. */
  release(): void;
  /** From now on the timer keeps no process of Node alive. */
  unref(): void;
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
  const letGo = parent ? listen(parent, follow) : () => {};
  const timer =
    timeoutMs === undefined || timeoutMs > maxTimerMs
      ? undefined
      : setTimeout(() => controller.abort(timeoutError?.()), timeoutMs);
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => {
      letGo();
      clearTimeout(timer);
    },
    unref: () => (timer as { unref?(): void } | undefined)?.unref?.(),
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
  });
  const letGo = listen(signal, stop);
  try {
    // In the race even when it is lost already: otherwise nobody would handle what the promise is rejected with.
    return await Promise.race([aborted, promise]);
  } finally {
    letGo();
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

function listen(signal: AbortSignal, listener: () => void): () => void {
  const all = listeners.get(signal) ?? new Set();
  listeners.set(signal, all.add(listener));
  signal.addEventListener("abort", tellAll);
  return () => {
    if (all.delete(listener) && all.size === 0) signal.removeEventListener("abort", tellAll);
  };
}

function tellAll({ target }: Event): void {
  for (const listener of listeners.get(target as AbortSignal) ?? []) listener();
}
