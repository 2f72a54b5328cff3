// Which workers of other processes take steps just now, as far as they have said so lately.

/** The workers that this process knows of. */
export interface Consumers {
  /** Remembers what a worker has said: that it takes steps, or that it is full. */
  heard(id: string, state: "free" | "full"): void;
  /** True when a worker has said something after this moment, by `performance.now()`. */
  isHeardSince(id: string, moment: number): boolean;
  /** Forgets a worker, until it is heard of again. */
  forget(id: string): void;
  /** One that takes steps, each in its turn; null when there is none. */
  choose(): string | null;
}

/** How long a worker is trusted that says nothing, in milliseconds: it may have died. */
const TRUST_MS = 3_000;

/** Knows of no worker yet. */
export function createConsumers(): Consumers {
  const known = new Map<string, { isFree: boolean; heardAt: number }>();
  return {
    heard(id, state) {
      // One that was there before keeps its turn.
      known.set(id, { isFree: state === "free", heardAt: performance.now() });
    },
    isHeardSince: (id, moment) => (known.get(id)?.heardAt ?? Number.NEGATIVE_INFINITY) > moment,
    forget: (id) => void known.delete(id),
    choose() {
      const silent = performance.now() - TRUST_MS;
      for (const [id, entry] of known) {
        if (entry.heardAt < silent) known.delete(id);
        else if (entry.isFree) {
          known.delete(id);
          known.set(id, entry);
          return id;
        }
      }
      return null;
    },
  };
}
