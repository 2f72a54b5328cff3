import type { DueStep } from "../postgres/leases.ts";
import { TAKE_BACK_MS } from "./assignment.ts";
import type { Consumers } from "./consumers.ts";
import { createLooks } from "./looks.ts";

/** Steps that were claimed for workers, and of which nobody knows yet whether they were taken up. */
export interface StandingAssignments {
  /** @param consumer the worker that was told; null when none was */
  add(step: DueStep, consumer: string | null): void;
  /** Looks no more: a worker that was given a step a moment ago holds it, and its lease lapses if it has died. */
  close(): Promise<void>;
}

/** What {@link createStandingAssignments} works with. */
export interface StandingAssignmentsOptions {
  consumers: Pick<Consumers, "forget">;
  /** Sees to those steps that were not taken up, and gives them. Never rejects. */
  takeBack: (steps: DueStep[]) => Promise<DueStep[]>;
}

interface Standing {
  step: DueStep;
  consumer: string | null;
  madeAt: number;
}

/** Looks now and then what became of assignments, by one statement for all, and takes back what was given in vain. */
export function createStandingAssignments(options: StandingAssignmentsOptions): StandingAssignments {
  const { consumers, takeBack } = options;
  let assignments: Standing[] = [];
  const look = async () => {
    const now = performance.now();
    const isOld = ({ madeAt }: Standing) => madeAt <= now - TAKE_BACK_MS;
    const old = assignments.filter(isOld);
    assignments = assignments.filter((one) => !isOld(one));
    if (old.length === 0) return;
    const untaken = new Set((await takeBack(old.map(({ step }) => step))).map(({ sessionId }) => sessionId));
    // Who did not take up what it was given is asked again when it is heard of again.
    for (const { step, consumer } of old)
      if (consumer !== null && untaken.has(step.sessionId)) consumers.forget(consumer);
  };
  const looks = createLooks({ everyMs: LOOK_MS, look, isNeeded: () => assignments.length > 0 });
  return {
    add({ sessionId, fence }, consumer) {
      assignments.push({ step: { sessionId, fence }, consumer, madeAt: performance.now() });
      looks.need();
    },
    close: looks.close,
  };
}

/** How often to look, in milliseconds. */
const LOOK_MS = 500;
