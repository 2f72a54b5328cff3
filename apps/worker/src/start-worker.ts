import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { hostname } from "node:os";
import { sweep, sweepExpired } from "@tandem/engine/commands/sweep";
import { settleWithin } from "@tandem/engine/domain/time-limit";
import type { Engine } from "@tandem/engine/engine";
import type { WorkerConfig } from "./config.ts";
import { runStep } from "./run-step.ts";

/** A worker that takes steps. */
export interface RunningWorker {
  /** Takes no more steps; those that run may finish, and are handed back when that takes too long. */
  close(): Promise<void>;
}

/** How long steps may go on after a close, in milliseconds, before they are handed back. */
const GRACE_MS = 10_000;

/** How long handing steps back may take after that, in milliseconds. */
const HAND_BACK_MS = 5_000;

/** Starts a worker on an engine whose database is migrated. */
export function startWorker(engine: Engine, config: WorkerConfig): RunningWorker {
  const stopping = new AbortController();
  // Every step that runs listens: that is no leak.
  setMaxListeners(0, stopping.signal);
  const worker = `${hostname()}.${process.pid}.${randomUUID().slice(0, 8)}`;
  const context = { engine, config, worker, stopping: stopping.signal };
  const consumer = engine.queue.consume((step) => runStep(context, step.sessionId), {
    concurrency: config.concurrency,
  });

  let sweeping: Promise<void> | null = null;
  const sweepOnce = async () => {
    try {
      const count = await sweep(engine, { overdueMs: config.sweepMs });
      await sweepExpired(engine);
      if (count > 0) engine.log.info({ count }, "steps were put back by the sweep");
    } catch (error) {
      engine.log.warn({ err: error }, "the sweep failed; the next one tries again");
    }
    sweeping = null;
  };
  const startSweep = () => {
    sweeping ??= sweepOnce();
  };
  const timer = setInterval(startSweep, config.sweepMs);
  startSweep();

  return {
    async close() {
      clearInterval(timer);
      const grace = setTimeout(() => stopping.abort(), GRACE_MS);
      await settleWithin(GRACE_MS + HAND_BACK_MS, consumer.close()).catch((error: Error) => {
        engine.log.warn(
          { reason: error.message },
          "the queue did not let the worker go; its steps are taken over",
        );
      });
      clearTimeout(grace);
      if (sweeping) await settleWithin(HAND_BACK_MS, sweeping).catch(() => undefined);
    },
  };
}
