// Waiting polls: who waits for which session, and from which cursor. A waiter holds no connection; all that one
// costs is an entry here.
import type { Engine } from "@tandem/engine/engine";
import { findAdvanced } from "@tandem/engine/queries/find-advanced";

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

/** The waiting clients of one process. */
export interface Waiters {
  /** Subscribes to a session. Do this before reading its state, so that nothing falls between. */
  wait(sessionId: string, cursor: number, timeoutMs: number): Waiter;
  /** How many clients wait. */
  readonly size: number;
  /** True once every wait ends at once. */
  readonly isShutDown: boolean;
  /** Ends every wait with `shutdown`, now and from now on. */
  shutdown(): void;
}

interface Entry {
  cursor: number;
  wake: () => void;
  end: (reason: WaitEnd) => void;
}

/**
 * Makes the registry. Besides wake-ups it looks, every `sweepMs`, at all waiting sessions with few statements, so
 * that a lost wake-up costs one sweep at most.
 */
export function createWaiters(engine: Engine, options: { sweepMs: number }): Waiters {
  const bySession = new Map<string, Set<Entry>>();
  let size = 0;
  let isShutDown = false;

  const wake = (sessionId: string) => {
    for (const entry of bySession.get(sessionId) ?? []) entry.wake();
  };
  let isLooking = false;
  const startLook = () => {
    // While the database takes longer than a sweep, looks do not pile up.
    if (isLooking) return;
    isLooking = true;
    void look().finally(() => {
      isLooking = false;
    });
  };
  const stops = [engine.wake.subscribe(wake), engine.wake.onReopen(startLook)];
  const timer = setInterval(startLook, options.sweepMs);
  timer.unref();

  const look = async () => {
    const waiting = [...bySession].flatMap(([sessionId, entries]) =>
      [...entries].map(({ cursor }) => ({ sessionId, cursor })),
    );
    if (waiting.length === 0) return;
    const advanced = await findAdvanced(engine, waiting).catch((error: unknown) => {
      engine.log.debug({ err: error }, "waiting sessions could not be looked at");
      return [];
    });
    advanced.forEach(wake);
  };

  return {
    get size() {
      return size;
    },
    get isShutDown() {
      return isShutDown;
    },
    wait(anyCaseId, cursor, timeoutMs) {
      // Wake-ups name sessions as the database writes them.
      const sessionId = anyCaseId.toLowerCase();
      const entries = bySession.get(sessionId) ?? new Set();
      bySession.set(sessionId, entries);
      let over: WaitEnd | null = null;
      let resolve: (reason: WaitEnd) => void = () => undefined;
      const arm = () =>
        new Promise<WaitEnd>((settle) => {
          resolve = settle;
        });
      const end = (reason: WaitEnd) => {
        if (over !== null) return;
        over = reason;
        size--;
        clearTimeout(timeout);
        entries.delete(entry);
        if (entries.size === 0 && bySession.get(sessionId) === entries) bySession.delete(sessionId);
        resolve(reason);
      };
      const timeout = setTimeout(end, timeoutMs, "timeout");
      const entry: Entry = { cursor, wake: () => resolve("woken"), end };
      const waiter = {
        ended: arm(),
        waitOn: () => {
          waiter.ended = over === null ? arm() : Promise.resolve(over);
        },
        end,
      };
      entries.add(entry);
      size++;
      if (isShutDown) end("shutdown");
      return waiter;
    },
    shutdown() {
      isShutDown = true;
      clearInterval(timer);
      for (const stop of stops) stop();
      for (const entries of [...bySession.values()]) for (const entry of [...entries]) entry.end("shutdown");
    },
  };
}
