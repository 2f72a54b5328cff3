// Which workers of other processes take steps just now, as far as they have said so lately.

/** A worker of another process. */
export interface RemoteConsumer {
  id: string;
  /** How many slots it had when it was heard last. */
  free: number;
  /** How long it holds a step that is claimed for it, in milliseconds; null when it takes no such steps. */
  leaseMs: number | null;
}

/** The workers that this process knows of. */
export interface Consumers {
  /** Remembers what a worker has said. */
  heard(consumer: RemoteConsumer): void;
  /** True when a worker has said something after this moment, by `performance.now()`. */
  isHeardSince(id: string, moment: number): boolean;
  /** Forgets a worker, until it is heard of again. */
  forget(id: string): void;
  /**
   * One that takes steps, each in its turn; null when there is none. The preferred one instead, unless another is much less
   * busy: what has run on one worker would never move to those that come to its help.
   */
  choose(preferred?: string | null): RemoteConsumer | null;
}

interface KnownConsumer extends RemoteConsumer {
  heardAt: number;
}

/** How many more free slots another worker may have before the preferred one is passed over. */
const MOST_MORE_FREE = 8;

/** How long a worker is trusted that says nothing, in milliseconds: it may have died. */
const TRUST_MS = 3_000;

/** Knows of no worker yet. */
export function createConsumers(): Consumers {
  const known = new Map<string, KnownConsumer>();
  const isSilent = ({ heardAt }: KnownConsumer) => heardAt < performance.now() - TRUST_MS;
  const isGood = (favourite: KnownConsumer) => {
    if (favourite.free === 0 || isSilent(favourite)) return false;
    return [...known.values()].every(({ free }) => free - favourite.free <= MOST_MORE_FREE);
  };
  return {
    heard(consumer) {
      // One that was there before keeps its turn.
      known.set(consumer.id, { ...consumer, heardAt: performance.now() });
    },
    isHeardSince: (id, moment) => (known.get(id)?.heardAt ?? Number.NEGATIVE_INFINITY) > moment,
    forget: (id) => void known.delete(id),
    choose(preferred) {
      const favourite = preferred ? known.get(preferred) : undefined;
      if (favourite && isGood(favourite)) return favourite;
      for (const [id, entry] of known) {
        if (isSilent(entry)) known.delete(id);
        else if (entry.free > 0) {
          known.delete(id);
          known.set(id, entry);
          return entry;
        }
      }
      return null;
    },
  };
}
