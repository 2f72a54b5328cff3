// Processes that offer steps to each other, over a queue and a wake channel in memory. Whoever claims a step runs it.
import { randomUUID } from "node:crypto";
import type { DueStep } from "@tandem/engine/postgres/leases";
import type { Assignment } from "@tandem/engine/queue/assignment";
import { type DirectQueue, offerSteps } from "@tandem/engine/queue/offer-steps";
import type { StepConsumer, StepJob } from "@tandem/engine/queue/step-queue";
import type { Wake } from "@tandem/engine/wake/wake";
import pino from "pino";
import { createFakeQueue, type FakeQueue } from "./fake-queue.ts";
import { waitFor } from "./wait-for.ts";

/** A process that makes steps due, runs them, or both. */
export interface FakeProcess {
  queue: DirectQueue;
  /** What it has claimed and runs or ran, in order. */
  ran: StepJob[];
  logged: { level: number; msg: string }[];
  /** The notes that it has received, in order. */
  heard: string[];
  work(options: WorkOptions): StepConsumer;
  /** Nothing that it sends arrives any more, and nothing reaches it, as if it were killed. */
  kill(): void;
}

export interface WorkOptions {
  concurrency: number;
  /** What comes before the claim: a busy process, or a slow database. */
  beforeClaim?: () => Promise<void>;
  run?: (job: StepJob) => Promise<void>;
}

/** The processes, and what lies between them. */
export interface FakeSteps {
  shared: FakeQueue;
  addProcess(): FakeProcess;
  /** The offers that were sent, in order. */
  offers: string[];
  /** How often somebody has looked what became of its offers. */
  readonly looks: number;
  /** How often somebody has looked what became of steps that were given to workers. */
  readonly looksBack: number;
  /** Tells all processes something, as if another one had. */
  say(note: string): void;
  /** A step that has just become due. */
  makeStep(): DueStep;
  /** Claims a step for the worker of a place, as a commit does, and gives what it is given. */
  claimFor(step: DueStep): Assignment;
  close(): Promise<void>;
}

/** How long workers hold what is claimed for them; nothing lapses here. */
const LEASE_MS = 30_000;

export function createFakeSteps(): FakeSteps {
  const shared = createFakeQueue();
  const offers: string[] = [];
  const connect = createFakeChannel((note) => note.startsWith("offer.") && offers.push(note));
  let [looks, looksBack] = [0, 0];
  const claimed = new Set<string>();
  /** Claimed for workers that have not taken them up. */
  const given = new Set<string>();
  const closers: (() => Promise<void>)[] = [];
  const keyOf = (step: DueStep) => `${step.sessionId}.${step.fence}`;
  const isUnclaimed = (step: DueStep) => !claimed.has(keyOf(step));

  const addProcess = (): FakeProcess => {
    const [ran, logged, heard]: [StepJob[], FakeProcess["logged"], string[]] = [[], [], []];
    const { wake, cut } = connect();
    wake.receive((note) => heard.push(note));
    const queue = offerSteps({
      queue: shared,
      wake,
      findUnclaimed: async (steps) => {
        looks++;
        return steps.filter(isUnclaimed);
      },
      takeBack: async (steps) => {
        looksBack++;
        const untaken = steps.filter((step) => given.delete(keyOf(step)));
        return untaken.map(({ sessionId, fence }) => ({ sessionId, fence: fence + 1 }));
      },
      log: pino({ level: "warn" }, { write: (line: string) => void logged.push(JSON.parse(line)) }),
    });
    closers.push(() => queue.close());
    const work = ({ concurrency, beforeClaim, run }: WorkOptions) => {
      const consumer = queue.consume(
        async (job) => {
          await beforeClaim?.();
          if (job.news !== undefined) {
            if (!given.delete(keyOf(job))) return;
          } else if (job.kind === "step") {
            if (!isUnclaimed(job)) return;
            claimed.add(keyOf(job));
          }
          ran.push(job);
          await run?.(job);
        },
        { id: randomUUID(), concurrency, leaseMs: LEASE_MS },
      );
      closers.push(() => consumer.close());
      return consumer;
    };
    return { queue, ran, logged, heard, work, kill: cut };
  };
  return {
    shared,
    addProcess,
    offers,
    get looks() {
      return looks;
    },
    get looksBack() {
      return looksBack;
    },
    say: (note) => connect().wake.send(note),
    makeStep: () => ({ sessionId: randomUUID(), fence: 0 }),
    claimFor({ sessionId, fence }) {
      const assignment = { sessionId, fence: fence + 1, news: "" };
      given.add(keyOf(assignment));
      return assignment;
    },
    async close() {
      for (const close of closers.reverse()) await close();
    },
  };
}

/** Waits until a process has been told so by so many workers. */
export const untilHeard = (process: FakeProcess, state: "free" | "full" | "gone", workers = 1) =>
  waitFor(() => new Set(process.heard.filter((note) => note.startsWith(state)).map(idOf)).size === workers, {
    what: `${workers} workers to say that they are ${state}`,
  });

/** The worker that a note is of. */
export const idOf = (note: string): string => note.split(".")[1] ?? "";

/** Waits until a process has run so many steps. */
export const untilRan = (process: FakeProcess, count: number) =>
  waitFor(() => process.ran.length === count, { what: `${count} steps to run` });

/** Carries notes to every other process. */
function createFakeChannel(onSend: (note: string) => void) {
  const processes = new Set<Set<(note: string) => void>>();
  return () => {
    const listeners = new Set<(note: string) => void>();
    processes.add(listeners);
    const wake: Pick<Wake, "send" | "receive" | "ready"> = {
      send(note) {
        if (!processes.has(listeners)) return;
        onSend(note);
        setImmediate(() => {
          for (const others of processes)
            if (others !== listeners) for (const listener of others) listener(note);
        });
      },
      receive(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      ready: async () => undefined,
    };
    return { wake, cut: () => void processes.delete(listeners) };
  };
}
