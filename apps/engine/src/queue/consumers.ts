// Which workers of other processes take steps just now, as far as they have said so lately.

/** A worker of another process, as it was heard last. */
export interface RemoteConsumer {
  id: string;
  /** How many slots it has. */
  free: number;
  /** How long it holds a step that is claimed for it, in milliseconds; null when it takes no such steps. */
  leaseMs: number | null;
}

/** Workers that a step can be claimed for. */
export interface Candidates {
  /** The one whose turn it is. */
  worker: string;
  /** Those that may keep a session whose last step they ran. */
  preferred: string[];
  /** How long any of them holds a step that is claimed for it, in milliseconds. */
  leaseMs: number;
}

/** The workers that this process knows of. */
export interface Consumers {
  /** Remembers what a worker has said. */
  heard(consumer: RemoteConsumer): void;
  /** True when a worker has said something after this moment, by `performance.now()`. */
  isHeardSince(id: string, moment: number): boolean;
  /** Forgets a worker, until it is heard of again. */
  forget(id: string): void;
  /** One that takes steps, each in its turn; null when there is none. */
  choose(): RemoteConsumer | null;
  /**
   * Those that a step can be claimed for: they were heard of just now and have not been full lately. A session may stay
   * where it was, unless another worker is much less busy, since what has run on one would never move to those that
   * come to its help. Null when there is none. What was chosen comes last from then on, wherever the session stays.
   */
  chooseForGiving(): Candidates | null;
}

interface KnownConsumer extends RemoteConsumer {
  heardAt: number;
  fullAt: number;
}

type CalmConsumer = KnownConsumer & { leaseMs: number };

/** How long a worker is trusted that says nothing, in milliseconds: it may have died. It speaks every 400. */
const TRUST_MS = 3_000;

/** The same when a step is to be claimed for it: that is taken back later than an offer. */
const GIVING_TRUST_MS = 1_000;

/** How long a worker that was full is given nothing, in milliseconds: what it cannot take has to be taken back. */
const CALM_MS = 1_000;

/** How many more free slots another worker may have before the preferred one is passed over. */
const MOST_MORE_FREE = 8;

/** Knows of no worker yet. */
export function createConsumers(): Consumers {
  const known = new Map<string, KnownConsumer>();
  const isHeardWithin = ({ heardAt }: KnownConsumer, ms: number) => heardAt >= performance.now() - ms;
  /** The first that is good, which comes last from then on. */
  const takeTurn = <C extends KnownConsumer>(isGood: (consumer: KnownConsumer) => consumer is C) => {
    for (const [id, entry] of known) {
      if (!isHeardWithin(entry, TRUST_MS)) known.delete(id);
      else if (isGood(entry)) {
        known.delete(id);
        known.set(id, entry);
        return entry;
      }
    }
    return null;
  };
  const isFree = (entry: KnownConsumer): entry is KnownConsumer => entry.free > 0;
  const isCalm = (entry: KnownConsumer): entry is CalmConsumer =>
    isFree(entry) &&
    entry.leaseMs !== null &&
    isHeardWithin(entry, GIVING_TRUST_MS) &&
    entry.fullAt < performance.now() - CALM_MS;
  return {
    heard(consumer) {
      const heardAt = performance.now();
      const before = known.get(consumer.id)?.fullAt ?? Number.NEGATIVE_INFINITY;
      // One that was there before keeps its turn.
      known.set(consumer.id, { ...consumer, heardAt, fullAt: consumer.free === 0 ? heardAt : before });
    },
    isHeardSince: (id, moment) => (known.get(id)?.heardAt ?? Number.NEGATIVE_INFINITY) > moment,
    forget: (id) => void known.delete(id),
    choose: () => takeTurn(isFree),
    chooseForGiving() {
      const next = takeTurn(isCalm);
      if (!next) return null;
      const mostFree = Math.max(...[...known.values()].map(({ free }) => free));
      const isLight = ({ free }: KnownConsumer) => mostFree - free <= MOST_MORE_FREE;
      const light = [...known.values()].filter(isCalm).filter(isLight);
      const leaseMs = Math.min(next.leaseMs, ...light.map((entry) => entry.leaseMs));
      return { worker: next.id, preferred: light.map(({ id }) => id), leaseMs };
    },
  };
}
