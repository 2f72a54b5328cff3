// Offers a due step straight to a worker with a free slot, of this process or another one, and queues what nobody takes.
// Claims decide who runs a step, so an offer may be lost, come late, or come twice.
import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import type { DueStep } from "../postgres/leases.ts";
import type { Wake } from "../wake/wake.ts";
import { createConsumers, PRESENCE_MS } from "./consumers.ts";
import { createSlots } from "./slots.ts";
import type { StepConsumer, StepJob, StepQueue } from "./step-queue.ts";

/** What {@link offerSteps} works with. */
export interface OfferOptions {
  queue: StepQueue;
  /** Carries the offers to other processes. */
  wake: Pick<Wake, "send" | "receive">;
  /** Of these steps, those that are still to be claimed. */
  findUnclaimed: (steps: DueStep[]) => Promise<DueStep[]>;
  log: Logger;
}

/**
 * How long an offer stands before somebody looks what became of it, in milliseconds. A worker takes one within a few;
 * a busy one takes its time, and must not find the same step in the queue as well.
 */
const OFFER_MS = 500;

/** How long a worker that is heard of may take, in milliseconds. Past it the offer counts as lost. */
const MAX_OFFER_MS = 3_000;

/** How often a worker that is full, or no more, says so at most, in milliseconds. */
const STATE_MS = 50;

/**
 * Marks the job of a step that nobody took when it was offered: the job that brought it to whoever offered it may still be
 * active, and another of its id would be none.
 */
const NOT_TAKEN = -1;

/** The workers of this process. */
interface LocalConsumer {
  id: string;
  /** Runs the step if there is a free slot. */
  tryRun(step: DueStep): boolean;
  /** Another worker has so many free slots: it can have as many of the steps that wait here for one. */
  passOn(count: number): void;
}

/** A step that was offered to a worker of another process. */
interface Offer {
  step: DueStep;
  consumer: string;
  madeAt: number;
}

/**
 * The queue with a shorter way for steps that are due now. What is delayed, what was put back, and timers take the
 * queue, and so does a step while no worker is known to have a free slot.
 */
export function offerSteps({ queue, wake, findUnclaimed, log }: OfferOptions): StepQueue {
  const consumers = createConsumers();
  let local: LocalConsumer | null = null;
  let offers: Offer[] = [];
  let timer: NodeJS.Timeout | null = null;
  let looking: Promise<void> = Promise.resolve();

  const enqueue = ({ sessionId, fence }: DueStep) =>
    queue.add({ sessionId, fence, putBack: NOT_TAKEN }).catch((error: unknown) => {
      log.warn({ err: error, session: sessionId }, "a due step was not queued; the sweep will do it");
    });
  const receive = async (note: string) => {
    const [kind, consumer = "", subject = "", fence = ""] = note.split(".");
    if (kind === "free" || kind === "full") {
      consumers.heard(consumer, kind);
      if (kind === "free") local?.passOn(Number(subject));
    } else if (kind === "gone") consumers.forget(consumer);
    else if (kind === "offer" && consumer === local?.id) {
      const step = { sessionId: subject, fence: Number(fence) };
      if (!local.tryRun(step)) await enqueue(step);
    }
  };
  const stopReceiving = wake.receive((note) => void receive(note));
  wake.send("who");

  /** Queues what was offered long enough ago, nobody has claimed, and nobody is about to. */
  const look = async (options: { isLast: boolean }) => {
    const now = performance.now();
    const isOld = ({ madeAt }: Offer) => options.isLast || madeAt <= now - OFFER_MS;
    const old = offers.filter(isOld);
    offers = offers.filter((offer) => !isOld(offer));
    if (old.length === 0) return;
    const steps = old.map((offer) => offer.step);
    const unclaimed = await findUnclaimed(steps).catch(() => steps);
    const isUnclaimed = new Set(unclaimed.map(({ sessionId }) => sessionId));
    for (const offer of old) {
      const { step, consumer, madeAt } = offer;
      if (!isUnclaimed.has(step.sessionId)) continue;
      const isAlive = consumers.isHeardSince(consumer, madeAt) && madeAt > now - MAX_OFFER_MS;
      if (isAlive && !options.isLast) {
        offers.push(offer);
        continue;
      }
      consumers.forget(consumer);
      await enqueue(step);
    }
  };
  const lookLater = () => {
    timer ??= setTimeout(() => {
      timer = null;
      looking = looking
        .then(() => look({ isLast: false }))
        .then(() => {
          if (offers.length > 0) lookLater();
        });
    }, OFFER_MS);
  };

  /** Offers a step to a worker of another process; false when none is known to have a free slot. */
  const offer = ({ sessionId, fence }: DueStep): boolean => {
    const consumer = consumers.choose();
    if (consumer === null) return false;
    wake.send(`offer.${consumer}.${sessionId}.${fence}`);
    offers.push({ step: { sessionId, fence }, consumer, madeAt: performance.now() });
    lookLater();
    return true;
  };

  return {
    ...queue,
    async add(step, options = {}) {
      const isDueNow = !options.delayMs && step.putBack === undefined;
      if (isDueNow && (local?.tryRun(step) || offer(step))) return;
      await queue.add(step, options);
    },
    consume(run, { concurrency }) {
      const consumer = consumeDirectly({ queue, wake, offer, enqueue, log, run, concurrency });
      local = consumer;
      return {
        close: () => {
          local = null;
          return consumer.close();
        },
      };
    },
    async close() {
      if (timer) clearTimeout(timer);
      stopReceiving();
      await looking.then(() => look({ isLast: true }));
      await queue.close();
    },
  };
}

/** Consumes the queue, and runs what is offered, both within the same slots. */
function consumeDirectly(options: {
  queue: StepQueue;
  wake: OfferOptions["wake"];
  offer: (step: DueStep) => boolean;
  enqueue: (step: DueStep) => Promise<void>;
  log: Logger;
  run: (job: StepJob) => Promise<void>;
  concurrency: number;
}): LocalConsumer & StepConsumer {
  const { queue, wake, offer, enqueue, log, run, concurrency } = options;
  const id = randomBytes(6).toString("hex");
  const running = new Set<Promise<void>>();
  const slots = createSlots(concurrency, () => {
    stating ??= setTimeout(state, STATE_MS);
  });
  let stating: NodeJS.Timeout | null = null;
  let isClosed = false;
  const state = () => {
    stating = null;
    if (!isClosed) wake.send(slots.free > 0 ? `free.${id}.${slots.free}` : `full.${id}`);
  };
  const presence = setInterval(state, PRESENCE_MS);
  const stopReceiving = wake.receive((note) => {
    if (note === "who") state();
  });
  state();

  const consumer = queue.consume(
    async (job) => {
      // A look at a clock holds no slot: it is over in a moment, and others' steps may wait for it.
      if (job.kind === "timer") return run(job);
      // What would only wait here goes to whoever has a free slot, now or later.
      while (!slots.tryTake()) {
        if (offer(job)) return;
        if (isClosed) return enqueue(job);
        if (await slots.take()) break;
      }
      await run(job).finally(() => slots.release());
    },
    { concurrency },
  );
  return {
    id,
    tryRun(step) {
      if (isClosed || !slots.tryTake()) {
        // Whoever offered it has not heard yet.
        state();
        return false;
      }
      const done = run({ ...step, kind: "step" })
        .catch((error: unknown) => log.error({ err: error, session: step.sessionId }, "a step failed"))
        .finally(() => {
          running.delete(done);
          slots.release();
        });
      running.add(done);
      return true;
    },
    passOn: (count) => slots.turnAway(count),
    async close() {
      isClosed = true;
      clearInterval(presence);
      if (stating) clearTimeout(stating);
      stopReceiving();
      wake.send(`gone.${id}`);
      slots.turnAway(Number.POSITIVE_INFINITY);
      await Promise.all([consumer.close(), ...running]);
    },
  };
}
