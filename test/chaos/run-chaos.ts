// A whole stack of processes under kills, freezes and outages, with clients that die too; then the count of what was
// lost, done twice, or put in the wrong place.
import { setTimeout as delay } from "node:timers/promises";
import { makePlans } from "../support/planned-sessions.ts";
import { seeded } from "../support/seeded.ts";
import { disturb } from "./disturbances.ts";
import { type Closers, openStage } from "./open-stage.ts";
import { type ChaosReport, report } from "./report.ts";

export interface ChaosOptions {
  backend: "postgres" | "redis";
  sessions: number;
  /** How long the disturbances go on, in seconds. The sessions start within that time. */
  seconds: number;
  /** The same seed gives the same sessions and the same order of disturbances, at about the same times. */
  seed: number;
  /** Takes each disturbance, a line each. */
  tell: (line: string) => void;
  /** Ends the run early; what has started is closed. */
  signal?: AbortSignal;
}

/** How long sessions may take to end once nobody disturbs them any more, in milliseconds. */
const CALM_MS = 45_000;

/** Runs it, for `seconds` and at most a minute more. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { seed, seconds, tell, signal } = options;
  const plans = makePlans(options.sessions, seeded(seed));
  const closers: Closers = [];
  try {
    const stage = await openStage({ ...options, seed: seed + 1, plans, closers });
    const scope = AbortSignal.any([AbortSignal.timeout(seconds * 1_000), ...(signal ? [signal] : [])]);
    const disturbances = await disturb(stage, { random: seeded(seed + 2), signal: scope, tell });
    tell(`calm: the sessions have ${CALM_MS} ms to end`);
    const allDone = Promise.all(stage.clients.map(({ done }) => done));
    const tooLate = new AbortController();
    await Promise.race([
      allDone,
      delay(CALM_MS, undefined, { signal: tooLate.signal }).catch(() => undefined),
    ]);
    tooLate.abort();
    return await report({ stage, plans, disturbances });
  } finally {
    for (const close of closers.reverse()) await close();
  }
}
