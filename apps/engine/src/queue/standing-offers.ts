import type { DueStep } from "../postgres/leases.ts";
import type { Consumers } from "./consumers.ts";
import { createLooks } from "./looks.ts";

/** Steps that were offered to workers of other processes, and that nobody is known to have claimed. */
export interface StandingOffers {
  add(step: DueStep, consumer: string): void;
  /** Queues what nobody has claimed yet. */
  close(): Promise<void>;
}

/** What {@link createStandingOffers} works with. */
export interface StandingOffersOptions {
  consumers: Consumers;
  /** Of these steps, those that are still to be claimed. */
  findUnclaimed: (steps: DueStep[]) => Promise<DueStep[]>;
  /** Never rejects. */
  enqueue: (step: DueStep) => Promise<void>;
}

/**
 * How long an offer stands before somebody looks what became of it, in milliseconds. A worker takes one within a few;
 * a busy one takes its time, and must not find the same step in the queue as well.
 */
const OFFER_MS = 500;

/** How long a worker that is heard of may take, in milliseconds. Past it the offer counts as lost. */
const MAX_OFFER_MS = 3_000;

interface Offer {
  step: DueStep;
  consumer: string;
  madeAt: number;
}

/** Looks now and then what became of offers, by one statement for all, and queues what was offered in vain. */
export function createStandingOffers(options: StandingOffersOptions): StandingOffers {
  const { consumers, findUnclaimed, enqueue } = options;
  let offers: Offer[] = [];
  let isClosed = false;

  const look = async () => {
    const now = performance.now();
    const isOld = ({ madeAt }: Offer) => isClosed || madeAt <= now - OFFER_MS;
    const old = offers.filter(isOld);
    offers = offers.filter((offer) => !isOld(offer));
    if (old.length === 0) return;
    const steps = old.map(({ step }) => step);
    const unclaimed = new Set((await findUnclaimed(steps).catch(() => steps)).map(toKey));
    const open = old.filter(({ step }) => unclaimed.has(toKey(step)));
    const mayTakeTime = ({ consumer, madeAt }: Offer) =>
      !isClosed && consumers.isHeardSince(consumer, madeAt) && madeAt > now - MAX_OFFER_MS;
    offers.push(...open.filter(mayTakeTime));
    const lost = open.filter((offer) => !mayTakeTime(offer));
    for (const { consumer } of lost) consumers.forget(consumer);
    // At once: a queue that hangs must not hold each of them for as long as it may take.
    await Promise.all(lost.map(({ step }) => enqueue(step)));
  };
  const looks = createLooks({ everyMs: OFFER_MS, look, isNeeded: () => offers.length > 0 });

  return {
    add(step, consumer) {
      offers.push({ step, consumer, madeAt: performance.now() });
      looks.need();
    },
    async close() {
      isClosed = true;
      await looks.close();
      await look();
    },
  };
}

function toKey({ sessionId, fence }: DueStep): string {
  return `${sessionId}.${fence}`;
}
