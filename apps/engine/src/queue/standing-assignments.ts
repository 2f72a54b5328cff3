import type { DueStep } from "../postgres/leases.ts";
import { TAKE_BACK_MS } from "./assignment.ts";

/** Steps that were claimed for workers, and of which nobody knows yet whether they were taken up. */
export interface StandingAssignments {
  add(step: DueStep): void;
  /** Looks no more: a worker that was given a step a moment ago holds it, and its lease lapses if it has died. */
  close(): Promise<void>;
}

/** Looks now and then what became of assignments, by one statement for all, and takes back what was given in vain. */
export function createStandingAssignments(
  takeBack: (steps: DueStep[]) => Promise<void>,
): StandingAssignments {
  let assignments: { step: DueStep; madeAt: number }[] = [];
  let timer: NodeJS.Timeout | null = null;
  let looking: Promise<void> = Promise.resolve();
  let isClosed = false;

  const look = async () => {
    const now = performance.now();
    const isOld = ({ madeAt }: { madeAt: number }) => madeAt <= now - TAKE_BACK_MS;
    const old = assignments.filter(isOld);
    assignments = assignments.filter((one) => !isOld(one));
    if (old.length > 0) await takeBack(old.map(({ step }) => step));
  };
  const lookLater = () => {
    if (isClosed) return;
    timer ??= setTimeout(() => {
      timer = null;
      looking = looking.then(look).then(() => {
        if (assignments.length > 0) lookLater();
      });
    }, LOOK_MS);
  };
  return {
    add(step) {
      assignments.push({ step, madeAt: performance.now() });
      lookLater();
    },
    async close() {
      isClosed = true;
      if (timer) clearTimeout(timer);
      await looking;
    },
  };
}

/** How often to look, in milliseconds. */
const LOOK_MS = 500;
