// How long it takes from a tool's result to the model's next request.
//
// A trip begins when the API has received the post of `tool_results` and ends when the head of the next model request
// leaves the worker, as Node tells it in these processes. One session at a time, with one call per step, so nothing
// waits for anything else's turn. The processes have run for a while: code that runs for the first hundred times takes
// twice as long.
//
// The floor is a bare trip, which is what the design has on this path and nothing around it: two commits (the result is
// settled, the step is claimed) and a queue hop. One is made before each result is posted: that is the tool. Tandem
// does both commits in one, and gives the step away past the queue, so it may come out below.
//
// `…_over_http` is the same trip as client and model see it, from the one's post to the other's request, with a bare
// HTTP round trip to the same API more in its floor: half of one brings the result, half of another takes the request
// away. All parts of the floors are told as figures of their own, and beside them what a bare trip takes in a loop.

import { waitFor } from "../../support/wait-for.ts";
import { type Figure, toFigure } from "../figure.ts";
import { type BareTrips, createBareTrips, openBareTrip } from "../floors/bare-trip.ts";
import type { Group, Run } from "../group.ts";
import { openMoments } from "../moments.ts";
import { playSession } from "../play-session.ts";
import { createSamples, medianOf, type Samples } from "../samples.ts";
import { type Stack, type StackOptions, startStack } from "../stack.ts";
import type { Stage } from "../stage.ts";

/** Trips of one session; its history stays short. */
const TRIPS = 20;
/** Enough for what the processes do on the way to be compiled to the end. */
const WARM_UP_SESSIONS = 60;

const namesOf = (name: string) => ({
  inside: name,
  outside: `${name}_over_http`,
  http: `floor_http_of_${name}`,
  commits: `floor_commits_of_${name}`,
  hop: `floor_queue_hop_of_${name}`,
  loop: `floor_in_a_loop_of_${name}`,
});

const roundTripGroup = (
  name: string,
  backend: "postgres" | "redis",
  options: Partial<StackOptions> = {},
): Group => ({
  names: Object.values(namesOf(name)),
  needsRedis: backend === "redis",
  measure: (run) => measure(run, { ...options, name, backend }),
});

/** API and worker as two processes on either backend, and both in one. */
export const roundTripGroups: Group[] = [
  roundTripGroup("round_trip_postgres", "postgres"),
  roundTripGroup("round_trip_redis", "redis"),
  roundTripGroup("round_trip_standalone", "postgres", { isStandalone: true }),
];

/** Trips as Tandem's processes see them and as others do, and bare ones. */
interface Trips {
  inside: Samples;
  outside: Samples;
  bare: BareTrips;
}

const createTrips = (): Trips => ({
  inside: createSamples(),
  outside: createSamples(),
  bare: createBareTrips(),
});

async function measure(run: Run, options: StackOptions): Promise<Figure[]> {
  const { stage, closers, quick, tell } = run;
  const { name } = options;
  const moments = openMoments(stage, name);
  const stack = await startStack(stage, { ...options, ...moments.options });
  closers.push(() => stack.close());
  const bareTrip = await openBareTrip(stage, stack, closers);
  const play = async (key: string, { inside, outside, bare }: Trips) => {
    await measureTrips({ stage, stack, key, trips: outside, tool: () => bareTrip.measure(bare) });
    for (const trip of await moments.takeTrips(TRIPS)) inside.add(trip);
    await bareTrip.measureLoop(bare, TRIPS);
  };
  for (let session = 0; session < WARM_UP_SESSIONS; session++)
    await play(`warm-up.${session}`, createTrips());
  const trips = createTrips();
  for (let round = 1; round <= run.rounds; round++) {
    for (let session = 0; session < (quick ? 4 : 10); session++)
      await play(`trip.${round}.${session}`, trips);
    tell(`${name}: round ${round}, ${medianOf(trips.inside).toFixed(2)} ms`);
  }
  return toFigures(name, trips);
}

function toFigures(name: string, { inside, outside, bare }: Trips): Figure[] {
  const names = namesOf(name);
  const unit = "ms";
  const floor = medianOf(bare.whole);
  return [
    toFigure({ name: names.inside, unit, samples: inside, floor }),
    toFigure({ name: names.outside, unit, samples: outside, floor: floor + medianOf(bare.http) }),
    toFigure({ name: names.http, unit, samples: bare.http }),
    toFigure({ name: names.commits, unit, samples: bare.commits }),
    toFigure({ name: names.hop, unit, samples: bare.hop }),
    toFigure({ name: names.loop, unit, samples: bare.loop }),
  ];
}

/** Plays one session and adds its trips, in milliseconds. */
export async function measureTrips(session: {
  stage: Stage;
  stack: Stack;
  key: string;
  trips: Samples;
  steps?: number;
  result?: string;
  /** What is done before each post. */
  tool?: () => Promise<void>;
}): Promise<void> {
  const { stage, stack, key, trips, steps = TRIPS, result, tool } = session;
  const sentAt = new Map<number, number>();
  await playSession(
    stack.api,
    { key, steps },
    {
      onPost: (results, at) => sentAt.set(results, at),
      ...(result === undefined ? {} : { result }),
      ...(tool === undefined ? {} : { beforePost: tool }),
    },
  );
  await addTrips({ stage, key, sentAt, trips });
}

/** Adds the trips whose posts were sent at these moments, by the number of results that each made it. */
export async function addTrips(session: {
  stage: Stage;
  key: string;
  sentAt: ReadonlyMap<number, number>;
  trips: Samples;
}): Promise<void> {
  const { stage, key, sentAt, trips } = session;
  const arrivedAt = new Map<number, number>();
  // A session that is left in its midst may have its last request under way.
  const isComplete = async () => {
    for (const arrival of await stage.model.takeArrivals())
      if (arrival.key === key) arrivedAt.set(arrival.results, arrival.at);
    return [...sentAt.keys()].every((results) => arrivedAt.has(results));
  };
  await waitFor(isComplete, { what: `the model requests of ${key}` });
  for (const [results, from] of sentAt) trips.add((arrivedAt.get(results) ?? Number.NaN) - from);
}
