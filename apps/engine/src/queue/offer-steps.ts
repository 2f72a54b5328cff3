// Offers a due step straight to a worker with a free slot, of this process or another one, and queues what nobody takes.
// Claims decide who runs a step, so an offer may be lost, come late, or come twice.
import type { Logger } from "pino";
import type { DueStep } from "../postgres/leases.ts";
import type { Wake } from "../wake/wake.ts";
import { createConsumers } from "./consumers.ts";
import { showPresence } from "./show-presence.ts";
import { createSlots } from "./slots.ts";
import type { StepConsumer, StepJob, StepQueue } from "./step-queue.ts";

/** What {@link offerSteps} works with. */
export interface OfferOptions {
  queue: StepQueue;
  /** Carries the offers to other processes. */
  wake: Pick<Wake, "send" | "receive" | "ready">;
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

/** How long to wait before asking again who is there, while the channel is not open, in milliseconds. */
const ASK_MS = 50;

/** The worker of this process. */
interface LocalConsumer {
  id: string;
  /** Runs the step if there is a free slot. */
  tryRun(step: DueStep): boolean;
  /** Hands on so many of the jobs that wait for a slot. */
  handOn(count: number): void;
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
  let isClosed = false;
  let handedOn = 0;

  const enqueue = (step: DueStep) =>
    queue.add(step).catch((error: unknown) => {
      log.warn({ err: error, session: step.sessionId }, "a due step was not queued; the sweep will do it");
    });
  const receive = async (note: string) => {
    const [kind, consumer = "", ...rest] = note.split(".");
    if (kind === "free" || kind === "full") consumers.heard(consumer, kind);
    if (kind === "free") local?.handOn(Number(rest[0]));
    else if (kind === "gone") consumers.forget(consumer);
    else if (kind === "offer" && consumer === local?.id) {
      const [sessionId = "", fence, putBack] = rest;
      const step = { sessionId, fence: Number(fence), ...(putBack ? { putBack: Number(putBack) } : {}) };
      if (!local.tryRun(step)) await enqueue(step);
    }
  };
  const stopReceiving = wake.receive((note) => void receive(note));
  const ask = () => {
    if (isClosed) return;
    wake.ready().then(
      () => wake.send("who"),
      () => setTimeout(ask, ASK_MS).unref(),
    );
  };
  ask();

  const offer = (step: DueStep, consumer: string) => {
    const putBack = step.putBack === undefined ? "" : `.${step.putBack}`;
    wake.send(`offer.${consumer}.${step.sessionId}.${step.fence}${putBack}`);
    offers.push({ step, consumer, madeAt: performance.now() });
    lookLater();
  };
  /** Gives a job away that found no slot here: to a worker that has one, else back to the queue. */
  const handOn = async ({ sessionId, fence }: DueStep) => {
    // Its job is not over yet, so that another one needs another id. The sweep's are not negative.
    const step = { sessionId, fence, putBack: --handedOn };
    const consumer = consumers.choose();
    if (consumer === null) await enqueue(step);
    else offer(step, consumer);
  };

  /** Queues what was offered long enough ago, nobody has claimed, and nobody is about to. */
  const look = async (options: { isLast: boolean }) => {
    const now = performance.now();
    const isOld = ({ madeAt }: Offer) => options.isLast || madeAt <= now - OFFER_MS;
    const old = offers.filter(isOld);
    offers = offers.filter((offer) => !isOld(offer));
    if (old.length === 0) return;
    const steps = old.map((offer) => offer.step);
    const unclaimed = await findUnclaimed(steps).catch(() => steps);
    const keyOf = ({ sessionId, fence }: DueStep) => `${sessionId}.${fence}`;
    const isUnclaimed = new Set(unclaimed.map(keyOf));
    const lost = old.filter((offer) => {
      const { step, consumer, madeAt } = offer;
      if (!isUnclaimed.has(keyOf(step))) return false;
      const isAlive = consumers.isHeardSince(consumer, madeAt) && madeAt > now - MAX_OFFER_MS;
      if (isAlive && !options.isLast) {
        offers.push(offer);
        return false;
      }
      consumers.forget(consumer);
      return true;
    });
    // At once: a queue that hangs must not hold each of them for as long as it may take.
    await Promise.all(lost.map(({ step }) => enqueue(step)));
  };
  const lookLater = () => {
    if (isClosed) return;
    timer ??= setTimeout(() => {
      timer = null;
      looking = looking
        .then(() => look({ isLast: false }))
        .then(() => {
          if (offers.length > 0) lookLater();
        });
    }, OFFER_MS);
  };

  return {
    ...queue,
    async add(step, options = {}) {
      const isDueNow = !options.delayMs && step.putBack === undefined;
      if (isDueNow && local?.tryRun(step)) return;
      const consumer = isDueNow && !isClosed ? consumers.choose() : null;
      if (consumer === null) return queue.add(step, options);
      offer(step, consumer);
    },
    consume(run, { concurrency }) {
      const consumer = consumeDirectly({ queue, wake, log, run, concurrency, handOn });
      // It stays when it has closed: what is still offered to it is queued at once.
      local = consumer;
      return consumer;
    },
    async close() {
      isClosed = true;
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
  log: Logger;
  run: (job: StepJob) => Promise<void>;
  concurrency: number;
  handOn: (step: DueStep) => Promise<void>;
}): LocalConsumer & StepConsumer {
  const { queue, log, run, concurrency, handOn } = options;
  const running = new Set<Promise<void>>();
  const slots = createSlots(concurrency, () => presence.change());
  const presence = showPresence(options.wake, () => slots.free);
  let isClosed = false;

  const consumer = queue.consume(
    async (job) => {
      // A look at a clock holds no slot: it is over in a moment, and others' steps may wait for it.
      if (job.kind === "timer") return run(job);
      if (isClosed || !(await slots.take())) return handOn(job);
      await run(job).finally(() => slots.release());
    },
    { concurrency },
  );
  return {
    id: presence.id,
    tryRun(step) {
      if (isClosed || !slots.tryTake()) return false;
      const done = run({ ...step, kind: "step" })
        .catch((error: unknown) => log.error({ err: error, session: step.sessionId }, "a step failed"))
        .finally(() => {
          running.delete(done);
          slots.release();
        });
      running.add(done);
      return true;
    },
    handOn: (count) => slots.sendAway(count),
    async close() {
      isClosed = true;
      presence.end();
      slots.sendAway(Number.POSITIVE_INFINITY);
      await Promise.all([consumer.close(), ...running]);
    },
  };
}
