// Waiting polls: who waits for which session, and from which cursor. A waiter holds no connection; all that one
// costs is an entry here.
import type { Engine } from "@tandem/engine/engine";
import { findAdvanced } from "@tandem/engine/queries/find-advanced";
import { createWaiter, type WaitEnd, type Waiter } from "./waiter.ts";

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
      const waiter = createWaiter(timeoutMs, () => {
        size--;
        entries.delete(entry);
        if (entries.size === 0 && bySession.get(sessionId) === entries) bySession.delete(sessionId);
      });
      const entry: Entry = { cursor, wake: waiter.wake, end: waiter.end };
      entries.add(entry);
      size++;
      if (isShutDown) waiter.end("shutdown");
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
