import { admitEverywhere } from "@tandem/engine/commands/admit-sessions";
import { sweepExpired, sweepSteps, sweepTimers } from "@tandem/engine/commands/sweep";
import { settleWithin } from "@tandem/engine/domain/time-limit";
import type { Engine } from "@tandem/engine/engine";

/** Looks again and again for what should have happened. */
export interface Sweeper {
  /** Starts no more sweeps, and waits a while for the one that runs. */
  close(): Promise<void>;
}

/** How long a sweep that runs is waited for at the end, in milliseconds. */
const CLOSE_MS = 5_000;

/** Sweeps at once and every `sweepMs`, one sweep at a time. */
export function startSweeper(engine: Engine, { sweepMs }: { sweepMs: number }): Sweeper {
  // Each by itself: a queue that is away must not keep the clocks from being looked at. The queue comes last: it may
  // take its time to fail.
  const parts: [what: string, run: () => Promise<void>][] = [
    ["timers", () => sweepTimers(engine)],
    ["slots", () => admitEverywhere(engine)],
    ["expired things", () => sweepExpired(engine)],
    ["steps", () => sweepSteps(engine, { overdueMs: sweepMs })],
  ];
  const sweep = async () => {
    for (const [what, run] of parts) {
      await run().catch((error: unknown) => {
        engine.log.warn({ err: error }, `the sweep of ${what} failed; the next one tries again`);
      });
    }
    sweeping = null;
  };
  let sweeping: Promise<void> | null = null;
  const start = () => {
    sweeping ??= sweep();
  };
  const timer = setInterval(start, sweepMs);
  start();
  return {
    async close() {
      clearInterval(timer);
      if (sweeping) await settleWithin(CLOSE_MS, sweeping).catch(() => undefined);
    },
  };
}
