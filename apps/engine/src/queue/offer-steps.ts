// Gives a due step straight to a worker with a free slot, of this process or another one, and queues what nobody takes.
// Claims decide who runs a step, so an offer may be lost, come late, or come twice. Whoever makes a step due may also
// claim it for a worker in the same commit: it reserves a place before, and gives the step after.
import type { Logger } from "pino";
import type { DueStep } from "../postgres/leases.ts";
import type { Wake } from "../wake/wake.ts";
import { GIVEN_LEASE_MS, type Place, readTakeNote, toTakeNote } from "./assignment.ts";
import { consumeDirectly, type LocalConsumer } from "./consume-directly.ts";
import { createConsumers } from "./consumers.ts";
import { createStandingAssignments } from "./standing-assignments.ts";
import { createStandingOffers } from "./standing-offers.ts";
import type { StepQueue } from "./step-queue.ts";

/** A queue past which steps can be given to workers. */
export interface DirectQueue extends StepQueue {
  /**
   * Finds workers with a free slot that can be given a step; null when none is known.
   *
   * @param options.isSparing for a place that may not be used: while this process' worker has no more than half of its
   *   slots left, there is none
   */
  reserve(options?: { isSparing: boolean }): Place | null;
}

/** What {@link offerSteps} works with. */
export interface OfferOptions {
  queue: StepQueue;
  /** Carries the offers to other processes. */
  wake: Pick<Wake, "send" | "receive" | "ready">;
  /** Of these steps, those that are still to be claimed. */
  findUnclaimed: (steps: DueStep[]) => Promise<DueStep[]>;
  /** Ends the claims of those steps that their workers did not take up, and gives them as they are then. */
  takeBack: (steps: DueStep[]) => Promise<DueStep[]>;
  log: Logger;
}

/** How long to wait before asking again who is there, while the channel is not open, in milliseconds. */
const ASK_MS = 50;

/**
 * The queue with a shorter way for steps that are due now. What is delayed, what was put back, and timers take the
 * queue, and so does a step while no worker is known to have a free slot.
 */
export function offerSteps({ queue, wake, findUnclaimed, takeBack, log }: OfferOptions): DirectQueue {
  const consumers = createConsumers();
  const enqueue = (step: DueStep) =>
    queue.add(step).catch((error: unknown) => {
      log.warn({ err: error, session: step.sessionId }, "a due step was not queued; the sweep will do it");
    });
  const standing = createStandingOffers({ consumers, findUnclaimed, enqueue });
  /** What cannot be taken back now is found by the sweep, once its lease has lapsed. */
  const enqueueUntaken = async (steps: DueStep[]): Promise<DueStep[]> => {
    const untaken = await takeBack(steps).catch((error: unknown) => {
      log.warn(
        { err: error },
        "it could not be seen whether steps were taken up; the sweep will see to them",
      );
      return [];
    });
    await Promise.all(untaken.map(enqueue));
    return untaken;
  };
  const assignments = createStandingAssignments({ consumers, takeBack: enqueueUntaken });
  let local: LocalConsumer | null = null;
  let isClosed = false;
  let handedOn = 0;

  /** Offers a step to a worker of another process; false when none is known to have a free slot. */
  const offer = (step: DueStep): boolean => {
    const consumer = isClosed ? null : consumers.choose();
    if (consumer === null) return false;
    wake.send(toOffer(consumer.id, step));
    standing.add(step, consumer.id);
    return true;
  };
  /** Nobody was told of such a step. */
  const abandon = (step: DueStep) => assignments.add(step, null);
  const reserveHere = (isSparing: boolean): Place | null => {
    const slot = local?.reserve(isSparing);
    if (!local || !slot) return null;
    return {
      claim: { worker: local.id, preferred: [], leaseMs: Math.min(local.leaseMs, GIVEN_LEASE_MS) },
      give: slot.run,
      release: slot.release,
      abandon(step) {
        slot.release();
        abandon(step);
      },
    };
  };
  const reserveElsewhere = (): Place | null => {
    const candidates = isClosed ? null : consumers.chooseForGiving();
    if (!candidates) return null;
    return {
      claim: { ...candidates, leaseMs: Math.min(candidates.leaseMs, GIVEN_LEASE_MS) },
      give(assignment, worker) {
        wake.send(toTakeNote(worker, assignment));
        assignments.add(assignment, worker);
      },
      release: () => undefined,
      abandon,
    };
  };
  /** A step whose job is not over yet, so that another one needs another id. The sweep's are not negative. */
  const toAgain = ({ sessionId, fence }: DueStep) => ({ sessionId, fence, putBack: --handedOn });
  const handOn = async (job: DueStep) => {
    const step = toAgain(job);
    if (!offer(step)) await enqueue(step);
  };
  const stopReceiving = wake.receive((note) => {
    const [kind, consumer = "", count, leaseMs] = note.split(".");
    if (kind === "free" || kind === "full") {
      const free = kind === "free" ? Number(count) : 0;
      // A worker of the version before says nothing of leases, and takes offers only.
      consumers.heard({ id: consumer, free, leaseMs: leaseMs === undefined ? null : Number(leaseMs) });
    }
    if (kind === "free") local?.handOn(Number(count));
    else if (kind === "gone") consumers.forget(consumer);
    else if (kind === "offer" && local && consumer === local.id) {
      const step = readOffer(note);
      if (!local.tryRun(step)) void enqueue(step);
    } else if (kind === "take" && local && consumer === local.id) {
      const assignment = readTakeNote(note);
      if (!local.tryRun(assignment)) void enqueueUntaken([assignment]);
    }
  });
  const ask = () => {
    if (isClosed) return;
    wake.ready().then(
      () => wake.send("who"),
      () => setTimeout(ask, ASK_MS).unref(),
    );
  };
  ask();

  return {
    ...queue,
    async add(step, options = {}) {
      const isDueNow = !options.delayMs && step.putBack === undefined;
      if (isDueNow && (local?.tryRun(step) || offer(step))) return;
      await queue.add(step, options);
    },
    reserve({ isSparing } = { isSparing: false }) {
      if (isSparing && local) return reserveHere(true);
      return reserveHere(false) ?? reserveElsewhere();
    },
    consume(run, worker) {
      // It stays when it has closed: what is still offered to it is queued at once.
      local = consumeDirectly({
        queue,
        wake,
        log,
        run,
        worker,
        offer: (job) => offer(toAgain(job)),
        handOn,
      });
      return local;
    },
    async close() {
      isClosed = true;
      stopReceiving();
      await assignments.close();
      await standing.close();
      await queue.close();
    },
  };
}

function toOffer(consumer: string, { sessionId, fence, putBack }: DueStep): string {
  return ["offer", consumer, sessionId, fence, ...(putBack === undefined ? [] : [putBack])].join(".");
}

function readOffer(note: string): DueStep {
  const [, , sessionId = "", fence, putBack] = note.split(".");
  const step = { sessionId, fence: Number(fence) };
  return putBack === undefined ? step : { ...step, putBack: Number(putBack) };
}
