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
import { createSeen, type Load, measureLoad, type Seen } from "../measure-load.ts";
import { createSamples, medianOf, type Samples } from "../samples.ts";
import { readCommits } from "../session-cost.ts";
import { type Stack, startStack } from "../stack.ts";

const COMMITS = 6;
const HOPS = 2;
const FLOOR_SAMPLES = 60;
const COMMITS_FIGURE = "commits_per_session";

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
  return {
    names: [
      ...loads.flatMap((load) => Object.values(namesOf(load, suffix))),
      ...(backend === "postgres" ? [COMMITS_FIGURE] : []),
    ],
    needsRedis: backend === "redis",
    isLong: backend === "redis",
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

/** What all loads of a backend are measured with. */
interface Scene {
  run: Run;
  stack: Stack;
  suffix: string;
  commitFloor: CommitFloor;
  hopFloor: HopFloor;
}

async function measure(
  run: Run,
  { backend, suffix, loads }: { backend: "postgres" | "redis"; suffix: string; loads: Load[] },
): Promise<Figure[]> {
  const { closers, stage, wants } = run;
  const stack = await startStack(stage, { name: `sessions_${backend}`, backend });
  closers.push(() => stack.close());
  const commitFloor = await openCommitFloor(stage, closers);
  const hopFloor = await openHopFloor(stage, { redisUrl: stack.redisUrl, closers });
  const scene = { run, stack, suffix, commitFloor, hopFloor };
  const wantsCommits = backend === "postgres" && wants(COMMITS_FIGURE);
  const figures: Figure[] = [];
  for (const workers of [1, 2]) {
    const countsCommits = wantsCommits && workers === 1;
    const isWanted = (load: Load) => countsCommits || Object.values(namesOf(load, suffix)).some(wants);
    const mine = loads.filter((load) => load.workers === workers && isWanted(load));
    if (mine.length === 0) continue;
    if (workers === 2) await stack.addWorker();
    const commitsBefore = await readCommits(stack);
    const { ofLoads, played } = await measureLoads(scene, mine);
    figures.push(...ofLoads);
    if (!countsCommits) continue;
    const commits = (await readCommits(stack, { afterFlush: true })) - commitsBefore;
    figures.push(toSingleFigure({ name: COMMITS_FIGURE, unit: "commits", value: commits / played }));
  }
  return figures;
}

/** Measures loads in turn, round by round, with their floors. */
async function measureLoads(scene: Scene, loads: Load[]): Promise<{ ofLoads: Figure[]; played: number }> {
  const { run, stack, suffix } = scene;
  const seen = loads.map((load) => ({ load, ...createSeen() }));
  const floors = { commits: createSamples(), hops: createSamples() };
  let played = 0;
  for (let round = 0; round <= run.rounds; round++) {
    // The round before the first warms everything up.
    const isWarmUp = round === 0;
    for (const of of seen) {
      await measureFloors(scene, isWarmUp ? { commits: createSamples(), hops: createSamples() } : floors);
      const into = isWarmUp ? createSeen() : of;
      const isShort = run.quick || isWarmUp;
      played += await measureLoad({ stage: run.stage, stack, load: of.load, into, round, isShort });
    }
    if (isWarmUp) continue;
    const rates = seen.map(
      ({ load, rates }) => `${namesOf(load, suffix).rate} ${medianOf(rates).toFixed(1)}`,
    );
    run.tell(`round ${round}: ${rates.join(", ")}`);
  }
  const floorMs = COMMITS * medianOf(floors.commits) + HOPS * medianOf(floors.hops);
  return { ofLoads: seen.flatMap((of) => toFigures(of, { suffix, floorMs })), played };
}

async function measureFloors(
  { commitFloor, hopFloor }: Scene,
  { commits, hops }: { commits: Samples; hops: Samples },
): Promise<void> {
  await commitFloor.measure(commits.add, FLOOR_SAMPLES);
  await hopFloor.measure(hops.add, FLOOR_SAMPLES);
}

function toFigures(
  { load, rates, latencies, cpu, writtenCommits }: Seen & { load: Load },
  { suffix, floorMs }: { suffix: string; floorMs: number },
): Figure[] {
  const names = namesOf(load, suffix);
  const isAlone = load.concurrency === 1;
  const rateFloor = isAlone ? 1_000 / floorMs : null;
  return [
    toFigure({ name: names.rate, unit: "sessions/s", samples: rates, floor: rateFloor }),
    toFigure({ name: names.latency, unit: "ms", samples: latencies, floor: isAlone ? floorMs : null }),
    ...(cpu.count > 0 ? [toFigure({ name: names.cpu, unit: "CPU s", samples: cpu })] : []),
    toFigure({ name: names.writtenCommits, unit: "commits", samples: writtenCommits }),
  ];
}
