// Whole sessions with one tool call each: how many a second, how long each, and what they cost.
//
// The client is the bench's own process: create, long poll, post, until `completed`, with no pause. So many sessions are
// under way all the time; those that end within a window of some seconds count. `sessions_per_s_C` is with C at once and
// one worker, `…_w2` with two, `…_redis` on Redis, `…_sdk` with the SDK's `runSession` as the client. `session_C_wN` is
// how long each took, in milliseconds, create to end.
//
// The floor of a session alone is what its path must do: six bare commits (create; claim and write of two steps each;
// the result) and two bare queue hops. That of `sessions_per_s_1` is the rate that this allows, and its ratio the part
// of that rate that is reached: there, more is better. Where sessions wait for each other's CPU there is no such floor.
//
// `cpu_s_per_session_…` has the CPU time of API, workers, Postgres with all its children, and Redis, not of client and
// model. `written_commits_per_session_…` counts transactions that changed something, by their ids;
// `commits_per_session` all that Postgres counts, reads included, over the one-worker windows.
import { type Figure, toFigure, toSingleFigure } from "../figure.ts";
import { type CommitFloor, openCommitFloor } from "../floors/commits.ts";
import { type HopFloor, openHopFloor } from "../floors/queue-hop.ts";
import type { Group, Run } from "../group.ts";
import { playSession } from "../play-session.ts";
import { playWindow } from "../play-window.ts";
import { createSdkPlayer } from "../play-with-sdk.ts";
import { hasProc } from "../proc.ts";
import { createSamples, medianOf, type Samples } from "../samples.ts";
import { readCommits, readStackCpuMs, readWrittenCommits } from "../session-cost.ts";
import { type Stack, startStack } from "../stack.ts";

const COMMITS = 6;
const HOPS = 2;
const FLOOR_SAMPLES = 60;
const WARM_UP_MS = 500;
const WINDOW_MS = 3_000;
const QUICK_WINDOW_MS = 800;
/** Many at once end in waves, which a short window would count by chance: so many waves are seen. */
const WAVES = 3;

/** One way to load the stack. */
interface Load {
  concurrency: number;
  workers: 1 | 2;
  isSdk?: boolean;
}

/** Finer than a thousandth: a session takes few milliseconds of CPU. */
const CPU_PARTS = 1_000_000;

/** What was seen of a load. */
interface Seen {
  rates: Samples;
  latencies: Samples;
  cpu: Samples;
  writtenCommits: Samples;
}

const POSTGRES_LOADS: Load[] = [
  { concurrency: 1, workers: 1 },
  { concurrency: 8, workers: 1 },
  { concurrency: 64, workers: 1 },
  { concurrency: 8, workers: 1, isSdk: true },
  { concurrency: 1, workers: 2 },
  { concurrency: 8, workers: 2 },
  { concurrency: 64, workers: 2 },
];
const REDIS_LOADS: Load[] = [
  { concurrency: 64, workers: 1 },
  { concurrency: 64, workers: 2 },
];

const sessionsGroup = (backend: "postgres" | "redis", loads: Load[]): Group => {
  const suffix = backend === "redis" ? "_redis" : "";
  const perLoad = loads.flatMap((load) => Object.values(namesOf(load, suffix)));
  return {
    names: [...perLoad, ...(backend === "postgres" ? ["commits_per_session"] : [])],
    needsRedis: backend === "redis",
    measure: (run) => measure(run, { backend, suffix, loads }),
  };
};

/** On either backend. */
export const sessionGroups: Group[] = [
  sessionsGroup("postgres", POSTGRES_LOADS),
  sessionsGroup("redis", REDIS_LOADS),
];

function namesOf({ concurrency, workers, isSdk }: Load, suffix: string) {
  const by = isSdk ? "_sdk" : "";
  const at = `${concurrency}_w${workers}${by}${suffix}`;
  return {
    rate: `sessions_per_s_${concurrency}${workers === 1 ? "" : `_w${workers}`}${by}${suffix}`,
    latency: `session_${at}`,
    cpu: `cpu_s_per_session_${at}`,
    writtenCommits: `written_commits_per_session_${at}`,
  };
}

async function measure(
  run: Run,
  options: { backend: "postgres" | "redis"; suffix: string; loads: Load[] },
): Promise<Figure[]> {
  const { closers, stage } = run;
  const { backend, suffix } = options;
  const loads = options.loads.filter(
    (load) => run.wants("commits_per_session") || Object.values(namesOf(load, suffix)).some(run.wants),
  );
  const stack = await startStack(stage, { name: `sessions_${backend}`, backend });
  closers.push(() => stack.close());
  const commitFloor = await openCommitFloor(stage, closers);
  const hopFloor = await openHopFloor(stage, { redisUrl: stack.redisUrl, closers });
  const figures: Figure[] = [];
  for (const workers of [1, 2] as const) {
    const mine = loads.filter((load) => load.workers === workers);
    if (mine.length === 0) continue;
    if (workers === 2) await stack.addWorker();
    const commitsBefore = await readCommits(stack);
    const seen = mine.map((load) => ({ load, ...createSeen() }));
    const floors = { commits: createSamples(), hops: createSamples() };
    let sessions = 0;
    for (let round = 0; round <= run.rounds; round++) {
      for (const of of seen) {
        // The round before the first warms everything up.
        const into = round === 0 ? createSeen() : of;
        await measureFloors(floors, { commitFloor, hopFloor });
        sessions += await measureLoad({ run, stack, load: of.load, into, round });
      }
      if (round > 0) tell(run, seen, suffix, round);
    }
    const floorMs = COMMITS * medianOf(floors.commits) + HOPS * medianOf(floors.hops);
    figures.push(...seen.flatMap((of) => toFigures(of, { suffix, floorMs })));
    if (workers === 1 && backend === "postgres" && run.wants("commits_per_session")) {
      const commits = (await readCommits(stack, { afterFlush: true })) - commitsBefore;
      figures.push(
        toSingleFigure({ name: "commits_per_session", unit: "commits", value: commits / sessions }),
      );
    }
  }
  return figures;
}

const createSeen = (): Seen => ({
  rates: createSamples(),
  latencies: createSamples(),
  cpu: createSamples(CPU_PARTS),
  writtenCommits: createSamples(),
});

async function measureFloors(
  floors: { commits: Samples; hops: Samples },
  { commitFloor, hopFloor }: { commitFloor: CommitFloor; hopFloor: HopFloor },
): Promise<void> {
  await commitFloor.measure(floors.commits.add, FLOOR_SAMPLES);
  await hopFloor.measure(floors.hops.add, FLOOR_SAMPLES);
}

/** Loads the stack once; gives how many sessions were played. */
async function measureLoad(options: {
  run: Run;
  stack: Stack;
  load: Load;
  into: Seen;
  round: number;
}): Promise<number> {
  const { run, stack, load, into, round } = options;
  const { concurrency, workers, isSdk = false } = load;
  const isShort = run.quick || round === 0;
  const at = `${concurrency}.w${workers}.${isSdk ? "sdk." : ""}${round}`;
  const readCost = async () => ({
    cpuMs: readStackCpuMs(run.stage, stack),
    written: await readWrittenCommits(stack),
  });
  const sdk = createSdkPlayer(stack);
  const costs: Awaited<ReturnType<typeof readCost>>[] = [];
  const { latenciesMs, seconds, played } = await playWindow({
    concurrency,
    warmUpMs: WARM_UP_MS,
    windowMs: isShort ? QUICK_WINDOW_MS : WINDOW_MS,
    minSessions: (isShort ? 1 : WAVES) * concurrency,
    play: (number) => {
      const plan = { key: `${at}.${number}`, steps: 1 };
      return isSdk ? sdk(plan) : playSession(stack.api, plan);
    },
    onEdge: async () => void costs.push(await readCost()),
  });
  await run.stage.model.takeArrivals();
  const [before, after] = costs;
  const count = latenciesMs.length;
  if (!before || !after || count === 0) throw new Error(`No session ended in a window of ${seconds} s`);
  into.rates.add(count / seconds);
  latenciesMs.forEach(into.latencies.add);
  if (hasProc) into.cpu.add((after.cpuMs - before.cpuMs) / 1_000 / count);
  into.writtenCommits.add((after.written - before.written) / count);
  return played;
}

function tell(run: Run, seen: readonly (Seen & { load: Load })[], suffix: string, round: number): void {
  const rates = seen.map(({ load, rates }) => `${namesOf(load, suffix).rate} ${medianOf(rates).toFixed(1)}`);
  run.tell(`round ${round}: ${rates.join(", ")}`);
}

function toFigures(
  { load, rates, latencies, cpu, writtenCommits }: Seen & { load: Load },
  { suffix, floorMs }: { suffix: string; floorMs: number },
): Figure[] {
  const names = namesOf(load, suffix);
  const isAlone = load.concurrency === 1;
  return [
    toFigure({
      ...{ name: names.rate, unit: "sessions/s", samples: rates },
      floor: isAlone ? 1_000 / floorMs : null,
    }),
    toFigure({ name: names.latency, unit: "ms", samples: latencies, floor: isAlone ? floorMs : null }),
    ...(cpu.count > 0 ? [toFigure({ name: names.cpu, unit: "CPU s", samples: cpu })] : []),
    toFigure({ name: names.writtenCommits, unit: "commits", samples: writtenCommits }),
  ];
}
