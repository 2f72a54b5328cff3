// A whole stack of processes under kills, freezes and outages, with clients that die too; then the count of what was
// lost, done twice, or put in the wrong place.
import { setTimeout as delay } from "node:timers/promises";
import { makePlans } from "../support/planned-sessions.ts";
import { seeded } from "../support/seeded.ts";
import { disturb } from "./disturbances.ts";
import { type ChaosPrograms, type Closers, openStage, type Stage } from "./open-stage.ts";
import { type ChaosReport, report } from "./report.ts";

export interface ChaosOptions {
  backend: "postgres" | "redis";
  sessions: number;
  /** How long the disturbances go on, in seconds. The sessions start within that time. */
  seconds: number;
  /** The same seed gives the same sessions and the same order of disturbances, at about the same times. */
  seed: number;
  /** The processes' programs. Default: they are bundled for the run. */
  programs?: ChaosPrograms;
  /** Takes each disturbance, a line each. */
  tell: (line: string) => void;
  /** Ends the run early; what has started is closed. */
  signal?: AbortSignal;
}

/** How long nothing may happen before a run is given up, once nobody disturbs it any more, in milliseconds. */
const STANDSTILL_MS = 45_000;
/** How long sessions may take to end then at most, in milliseconds: a busy machine is slow. */
const CALM_MS = 150_000;

/** Runs it: for `seconds`, and until the sessions have ended, which is bounded too. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { seed, seconds, tell, signal } = options;
  const plans = makePlans(options.sessions, seeded(seed)).map((plan) => ({
    ...plan,
    isGuarded: plan.number % 5 < 2,
  }));
  const closers: Closers = [];
  try {
    const stage = await openStage({ ...options, seed: seed + 1, plans, closers });
    const disturbances = await disturb(stage, {
      ...{ random: seeded(seed + 2), seconds, tell },
      ...(signal ? { signal } : {}),
    });
    if (!signal?.aborted) {
      tell("calm");
      await untilEnded(stage);
      tell("the clients are done, or nothing happens any more");
    }
    return await report({ stage, plans, disturbances });
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** Waits until all clients are done, while something still happens. */
async function untilEnded({ clients, model, ledger, lines }: Stage): Promise<void> {
  const ended = new AbortController();
  void Promise.all(clients.map(({ done }) => done)).then(() => ended.abort());
  const startedAt = performance.now();
  let seen = "";
  let movedAt = startedAt;
  while (!ended.signal.aborted) {
    const moved = `${model.requests.length} ${ledger.runs} ${lines.filter((line) => /^(receipt|created)/.test(line)).length}`;
    const now = performance.now();
    if (moved !== seen) movedAt = now;
    seen = moved;
    if (now - movedAt > STANDSTILL_MS || now - startedAt > CALM_MS) return;
    await delay(250, undefined, { signal: ended.signal }).catch(() => undefined);
  }
}
