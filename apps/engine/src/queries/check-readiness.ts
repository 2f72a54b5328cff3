import type { Engine } from "../engine.ts";
import { checkDatabase } from "../postgres/pool.ts";

/** What a process depends on, by name, with a probe that resolves when it can be reached. */
export function listProbes(engine: Engine): { what: string; probe: () => Promise<void> }[] {
  return [
    { what: "the database", probe: () => checkDatabase(engine.pool) },
    { what: "the queue", probe: () => engine.queue.ready() },
    { what: "the wake-up channel", probe: () => engine.wake.ready() },
  ];
}
