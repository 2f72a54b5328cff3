import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { hostname } from "node:os";
import { expireSession } from "@tandem/engine/commands/expire-session";
import { settleWithin } from "@tandem/engine/domain/time-limit";
import type { Engine } from "@tandem/engine/engine";
import type { WorkerConfig } from "./config.ts";
import { createModels } from "./models/create-model.ts";
import { runStep } from "./run-step.ts";
import { createWatchedSessions } from "./streaming/watched-sessions.ts";
import { startSweeper } from "./sweeper.ts";

/** A worker that takes steps. */
export interface RunningWorker {
  /** Takes no more steps; those that run may finish, and are handed back when that takes too long. */
  close(): Promise<void>;
}

/** How long steps may go on after a close, in milliseconds, before they are handed back. */
const GRACE_MS = 10_000;

/** Most characters of the machine's name in a worker's. */
const MAX_HOST_LENGTH = 64;

/** How long handing steps back may take after that, in milliseconds. */
const HAND_BACK_MS = 5_000;

/** Starts a worker on an engine whose database is migrated. */
export function startWorker(engine: Engine, config: WorkerConfig): RunningWorker {
  const stopping = new AbortController();
  // Every running step listens, which is no leak.
  setMaxListeners(0, stopping.signal);
  const host = hostname()
    .replaceAll(/[^\w-]/g, "-")
    .slice(0, MAX_HOST_LENGTH);
  const worker = `${host}-${process.pid}-${randomUUID().slice(0, 8)}`;
  const modelOf = createModels(config.models);
  const watched = createWatchedSessions(engine.wake);
  const context = { engine, config, modelOf, watched, worker, stopping: stopping.signal };
  const consumer = engine.queue.consume(
    (job) => (job.kind === "timer" ? expireSession(engine, job.sessionId) : runStep(context, job)),
    { id: worker, concurrency: config.concurrency, leaseMs: config.leaseMs },
  );

  const sweeper = startSweeper(engine, config);

  return {
    async close() {
      const swept = sweeper.close();
      const grace = setTimeout(() => stopping.abort(), GRACE_MS);
      await settleWithin(GRACE_MS + HAND_BACK_MS, consumer.close()).catch((error: Error) => {
        engine.log.warn(
          { reason: error.message },
          "the queue did not let the worker go; its steps are taken over",
        );
      });
      clearTimeout(grace);
      watched.close();
      await swept;
    },
  };
}
