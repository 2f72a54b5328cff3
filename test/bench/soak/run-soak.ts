// One soak: a constant mixed load on an API and a worker, and the count of what grew or went wrong.
import { setTimeout as delay } from "node:timers/promises";
import { hasRedis } from "../../support/redis.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type Closers, closeAll } from "../closers.ts";
import { copySession } from "../copy-session.ts";
import { createWaitingSession, type WaitingSession } from "../create-waiting-session.ts";
import { describeMachine, type Machine } from "../machine.ts";
import { ERROR, readComplaints } from "../read-complaints.ts";
import { type Stack, startStack } from "../stack.ts";
import { openStage, type Stage } from "../stage.ts";
import { startWaiters } from "../waiters.ts";
import type { SoakOptions } from "./arguments.ts";
import { SESSIONS_PER_S, startLoad } from "./load.ts";
import { type Sample, takeSample } from "./sample.ts";
import { openQueueDepth, type QueueDepth } from "./step-queue-depth.ts";
import { type Check, judge } from "./verdict.ts";

/** What a soak gives. */
export interface SoakResult {
  machine: Machine;
  backend: SoakOptions["backend"];
  seconds: number;
  samples: Sample[];
  checks: Check[];
  /** Everything else that should not be, in words. */
  faults: string[];
  ok: boolean;
}

/** A soak that may be given up. */
export interface SoakRun {
  result: Promise<SoakResult>;
  /** Gives it up: closes whatever is open. */
  close(): Promise<void>;
}

/** What time does by itself happens ten times as often: half an hour of it in three minutes. */
const COMPRESSED = { TANDEM_SWEEP_MS: "500", TANDEM_LEASE_MS: "3000" };
const WAITERS = 200;
const SAMPLES = 48;
/** The part of the load that has to be played at least, on a machine that others use too. */
const LEAST_PART = 0.3;
/** How long sessions may take to end when nothing more is started, in milliseconds. */
const PATIENCE_MS = 30_000;

/** Soaks. `tell` takes the progress, a line each. */
export function runSoak(
  options: Pick<SoakOptions, "backend" | "seconds"> & { tell: (line: string) => void },
): SoakRun {
  const closers: Closers = [];
  let closed: Promise<void> | null = null;
  const close = () => {
    closed ??= closeAll(closers);
    return closed;
  };
  return { result: soak(options, closers).finally(close), close };
}

async function soak(options: Parameters<typeof runSoak>[0], closers: Closers): Promise<SoakResult> {
  const { backend, seconds, tell } = options;
  const stage = await openStage(closers);
  const nodeFlags = ["--expose-gc", "--import", stage.paths.garbage];
  const stack = await startStack(stage, { name: "soak", backend, env: COMPRESSED, nodeFlags });
  closers.push(() => stack.close());
  const standing = await holdWaiters(stage, stack, closers);
  const depth = openQueueDepth(stack);
  closers.push(() => depth.close());
  tell(`${WAITERS} clients wait; the load goes on for ${seconds} s`);
  const load = startLoad(stack.api, standing);
  const samples: Sample[] = [];
  const startedAt = performance.now();
  for (let number = 1; number <= SAMPLES; number++) {
    const dueAt = (number / SAMPLES) * seconds * 1_000;
    await delay(Math.max(0, startedAt + dueAt - performance.now()));
    const sample = await takeSample((performance.now() - startedAt) / 1_000, { stack, load, depth });
    samples.push(sample);
    // Of the requests that the model noted, nobody asks here.
    await stage.model.takeArrivals();
    if (number % 6 === 0) tell(`${sample.ended} sessions have ended, ${sample.under_way} are under way`);
  }
  await load.stop(PATIENCE_MS);
  const checks = judge(samples);
  const expected = seconds * SESSIONS_PER_S;
  const faults = [
    ...(load.ended < LEAST_PART * expected ? [`Only ${load.ended} of ${expected} sessions were played`] : []),
    ...load.faults,
    ...(await findLeftovers(stack, depth)),
    ...findErrors(stage),
  ];
  return {
    machine: describeMachine({ postgres: stage.postgres, hasRedis }),
    ...{ backend, seconds, samples, checks, faults },
    ok: faults.length === 0 && checks.every(({ ok }) => ok),
  };
}

/** Lets clients wait for sessions to which nothing happens; gives the one they are copies of. */
async function holdWaiters(stage: Stage, stack: Stack, closers: Closers): Promise<WaitingSession> {
  const waiters = await startWaiters(stage, closers);
  const template = await createWaitingSession(stack.api, { key: "standing", calls: 1 });
  const ids = await copySession({ db: stack.db, sessionId: template.id, count: WAITERS });
  await waiters.hold(
    stack,
    ids.map((sessionId) => ({ sessionId, cursor: template.cursor })),
  );
  return template;
}

/** Sessions that did not end, and jobs that nobody took. */
async function findLeftovers({ db }: Stack, depth: QueueDepth): Promise<string[]> {
  const { rows } = await db.query<{ status: string; count: number }>(
    `SELECT status, count(*)::int AS count FROM sessions WHERE first_text LIKE 'Session soak.%'
        AND status NOT IN ('completed', 'interrupted') GROUP BY status`,
  );
  // The last job is taken out of the queue a moment after its session has ended.
  const isEmpty = async () => (await depth.read()) === 0;
  await waitFor(isEmpty, { what: "the queue to be empty" }).catch(() => undefined);
  const jobs = await depth.read();
  return [
    ...rows.map(({ status, count }) => `${count} sessions are ${status} at the end`),
    ...(jobs > 0 ? [`${jobs} jobs are left in the queue`] : []),
  ];
}

const findErrors = (stage: Stage): string[] =>
  readComplaints(stage.folder)
    .filter(({ level }) => level >= ERROR)
    .map(({ log, line }) => `${log}: ${line}`);
