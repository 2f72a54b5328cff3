// Which workers of other processes take steps just now, as far as they have said so lately.

/** A worker of another process. */
export interface RemoteConsumer {
  id: string;
  /** How long it holds a step that is claimed for it, in milliseconds; null when it takes no such steps. */
  leaseMs: number | null;
}

/** The workers that this process knows of. */
export interface Consumers {
  /** Remembers what a worker has said: that it takes steps, or that it is full. */
  heard(consumer: RemoteConsumer, state: "free" | "full"): void;
  /** True when a worker has said something after this moment, by `performance.now()`. */
  isHeardSince(id: string, moment: number): boolean;
  /** Forgets a worker, until it is heard of again. */
  forget(id: string): void;
  /** One that takes steps, each in its turn, or the preferred one; null when there is none. */
  choose(preferred?: string | null): RemoteConsumer | null;
}

interface KnownConsumer extends RemoteConsumer {
  isFree: boolean;
  heardAt: number;
}

/** How long a worker is trusted that says nothing, in milliseconds: it may have died. */
const TRUST_MS = 3_000;

/** Knows of no worker yet. */
export function createConsumers(): Consumers {
  const known = new Map<string, KnownConsumer>();
  const isSilent = ({ heardAt }: KnownConsumer) => heardAt < performance.now() - TRUST_MS;
  return {
    heard(consumer, state) {
      // One that was there before keeps its turn.
      known.set(consumer.id, { ...consumer, isFree: state === "free", heardAt: performance.now() });
    },
    isHeardSince: (id, moment) => (known.get(id)?.heardAt ?? Number.NEGATIVE_INFINITY) > moment,
    forget: (id) => void known.delete(id),
    choose(preferred) {
      const favourite = preferred ? known.get(preferred) : undefined;
      if (favourite?.isFree && !isSilent(favourite)) return favourite;
      for (const [id, entry] of known) {
        if (isSilent(entry)) known.delete(id);
        else if (entry.isFree) {
          known.delete(id);
          known.set(id, entry);
          return entry;
        }
      }
      return null;
    },
  };
}
