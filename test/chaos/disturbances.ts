// What happens to the parts of a running stack while chaos reigns: one thing after the other, seeded.
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../support/seeded.ts";
import { LEASE_MS, type Stage } from "./open-stage.ts";

type Scene = Stage & { random: Random };

interface Disturbance {
  /** What is counted. */
  name: string;
  /** How often it happens, against the others. */
  weight: number;
  /** Brings it about; returns what was done, in words. */
  happen(scene: Scene): Promise<string>;
}

const killOne = (list: "apis" | "workers" | "clients") => async (stage: Scene) => {
  const victim = stage.random.pick(stage[list]);
  victim.kill();
  return `SIGKILL of ${victim.name}`;
};

const stopPostgres = (how: "shutdown" | "kill") => async (stage: Scene) => {
  const awayMs = stage.random.integer(0, 800);
  await stage.postgres.stop(how);
  await delay(awayMs);
  await stage.postgres.start();
  return `${how} of Postgres, away for ${awayMs} ms`;
};

const ON_ANY: Disturbance[] = [
  { name: "kills of workers", weight: 30, happen: killOne("workers") },
  { name: "kills of APIs", weight: 20, happen: killOne("apis") },
  { name: "kills of clients", weight: 10, happen: killOne("clients") },
  {
    name: "freezes",
    weight: 12,
    async happen({ random, workers, apis }) {
      const victim = random.pick([...workers, ...workers, ...apis]);
      const forMs = random.integer(LEASE_MS, 2 * LEASE_MS);
      // Others may be killed meanwhile, and so may this one.
      void victim.freeze(forMs);
      return `SIGSTOP of ${victim.name} for ${forMs} ms`;
    },
  },
  { name: "restarts of Postgres", weight: 4, happen: stopPostgres("shutdown") },
  { name: "crashes of Postgres", weight: 4, happen: stopPostgres("kill") },
];

const ON_REDIS: Disturbance[] = [
  {
    name: "flushes of Redis",
    weight: 10,
    async happen({ redis }) {
      await redis?.flush();
      return "FLUSHALL of Redis";
    },
  },
  {
    name: "restarts of Redis",
    weight: 8,
    async happen({ redis, random }) {
      const awayMs = random.integer(0, 1_000);
      await redis?.kill();
      await delay(awayMs);
      await redis?.start();
      return `SIGKILL of Redis, away for ${awayMs} ms`;
    },
  },
];

/**
 * Disturbs for a time, and until each kind has happened once: first these, in a random order, then any. Whatever it
 * takes down is up again when it returns, but for processes, whose supervisors see to them.
 *
 * @returns how often each kind happened, by name
 */
export async function disturb(
  stage: Stage,
  options: { random: Random; seconds: number; signal?: AbortSignal; tell: (line: string) => void },
): Promise<Map<string, number>> {
  const { random } = options;
  const kinds = stage.redis ? [...ON_ANY, ...ON_REDIS] : ON_ANY;
  const counts = new Map(kinds.map(({ name }) => [name, 0]));
  const first = shuffle(kinds, random);
  const lots = kinds.flatMap((kind) => Array.from({ length: kind.weight }, () => kind));
  const end = performance.now() + options.seconds * 1_000;
  while (first.length > 0 || performance.now() < end) {
    await delay(random.integer(200, 1_200), undefined, options).catch(() => undefined);
    if (options.signal?.aborted) break;
    const kind = first.pop() ?? random.pick(lots);
    options.tell(await kind.happen({ ...stage, random }));
    counts.set(kind.name, (counts.get(kind.name) ?? 0) + 1);
  }
  return counts;
}

function shuffle<T>(list: readonly T[], random: Random): T[] {
  return list
    .map((item) => ({ item, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}
