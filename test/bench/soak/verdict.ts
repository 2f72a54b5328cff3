// Whether anything grew: the first quarter of a soak, after its warm-up, against the last.
import type { Sample } from "./sample.ts";

/** One quantity that may not grow. */
export interface Check {
  name: string;
  /** The median of the first quarter, and of the last. */
  first: number;
  last: number;
  /** The most that the last may be. */
  allowed: number;
  ok: boolean;
}

/** Part of the samples that is left out: processes compile their code, pools open their connections. */
const WARM_UP = 0.2;

type Quantity = Exclude<keyof Sample, "at" | "under_way" | "ended">;

/**
 * What each may grow by, as a part of what it was and as a number beside it. Memory in RAM follows the heap's highest
 * point; what is in use after a collection is what a leak would raise. Jobs come and go with
 * the sessions of the moment, which are sixteen at most. So do connections: the pools of both processes open ten each when
 * much comes at once, and close them when they are idle. Both are handles too.
 */
const ALLOWED: Record<Quantity, { part: number; plus: number }> = {
  api_rss: { part: 0.15, plus: 16 },
  worker_rss: { part: 0.15, plus: 16 },
  api_heap: { part: 0.05, plus: 3 },
  worker_heap: { part: 0.05, plus: 3 },
  api_handles: { part: 0, plus: 32 },
  worker_handles: { part: 0, plus: 32 },
  connections: { part: 0, plus: 20 },
  jobs: { part: 0, plus: 16 },
};

/** Compares. @throws when there are too few samples */
export function judge(samples: readonly Sample[]): Check[] {
  const warm = samples.slice(Math.ceil(samples.length * WARM_UP));
  const quarter = Math.floor(warm.length / 4);
  if (quarter === 0) throw new Error(`${samples.length} samples are too few to compare`);
  return (Object.keys(ALLOWED) as Quantity[]).map((name) => {
    const first = median(warm.slice(0, quarter).map((sample) => sample[name]));
    const last = median(warm.slice(-quarter).map((sample) => sample[name]));
    const { part, plus } = ALLOWED[name];
    const allowed = Math.round((first * (1 + part) + plus) * 10) / 10;
    return { name, first, last, allowed, ok: last <= allowed };
  });
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
