// How long it takes from a tool's result to the model's next request.
//
// A trip begins when the client sends the post of `tool_results` (so the API has yet to receive it: a fifth of a
// millisecond more than the promise counts) and ends when the head of the next model request reaches the model's
// process. One session at a time, with one call per step, so nothing waits for anything else's turn.
//
// The floor is the sum of what the design has on this path: two bare commits (the result is settled, the step is claimed)
// and one bare queue hop. They are measured in turn with the sessions. Tandem does both in one commit, and gives the step
// away past the queue, so it may come out below.

import { waitFor } from "../../support/wait-for.ts";
import { type Figure, toFigure } from "../figure.ts";
import { openCommitFloor } from "../floors/commits.ts";
import { openHopFloor } from "../floors/queue-hop.ts";
import type { Group, Run } from "../group.ts";
import { playSession } from "../play-session.ts";
import { createSamples, medianOf, type Samples } from "../samples.ts";
import { type Stack, type StackOptions, startStack } from "../stack.ts";
import type { Stage } from "../stage.ts";

/** Trips of one session; its history stays short. */
const TRIPS = 20;
const WARM_UP_SESSIONS = 5;
/** The commits that the path cannot do without. */
const COMMITS = 2;

const roundTripGroup = (
  name: string,
  backend: "postgres" | "redis",
  options: Partial<StackOptions> = {},
): Group => ({
  names: [name, `floor_queue_hop_of_${name}`, `floor_commit_of_${name}`],
  needsRedis: backend === "redis",
  measure: (run) => measure(run, { ...options, name, backend }),
});

/** API and worker as two processes on either backend, and both in one. */
export const roundTripGroups: Group[] = [
  roundTripGroup("round_trip_postgres", "postgres"),
  roundTripGroup("round_trip_redis", "redis"),
  roundTripGroup("round_trip_standalone", "postgres", { isStandalone: true }),
];

async function measure(run: Run, options: StackOptions): Promise<Figure[]> {
  const { stage, closers, quick, tell } = run;
  const stack = await startStack(stage, options);
  closers.push(() => stack.close());
  const commitFloor = await openCommitFloor(stage, closers);
  const hopFloor = await openHopFloor(stage, { redisUrl: stack.redisUrl, closers });
  await warmUp({ stage, stack, hopFloor });
  const trips = createSamples();
  const commits = createSamples();
  const hops = createSamples();
  const sessions = quick ? 4 : 10;
  for (let round = 1; round <= run.rounds; round++) {
    for (let session = 0; session < sessions; session++) {
      await commitFloor.measure(commits.add, TRIPS);
      await hopFloor.measure(hops.add, TRIPS);
      await measureTrips({ stage, stack, key: `trip.${round}.${session}`, trips });
    }
    tell(`${options.name}: round ${round}, ${medianOf(trips).toFixed(2)} ms`);
  }
  const floor = COMMITS * medianOf(commits) + medianOf(hops);
  return [
    toFigure({ name: options.name, unit: "ms", samples: trips, floor }),
    toFigure({ name: `floor_queue_hop_of_${options.name}`, unit: "ms", samples: hops }),
    toFigure({ name: `floor_commit_of_${options.name}`, unit: "ms", samples: commits }),
  ];
}

async function warmUp(parts: {
  stage: Stage;
  stack: Stack;
  hopFloor: { measure(add: (ms: number) => void, count: number): Promise<void> };
}): Promise<void> {
  for (let session = 0; session < WARM_UP_SESSIONS; session++) {
    await parts.hopFloor.measure(() => undefined, TRIPS);
    await measureTrips({ ...parts, key: `warm-up.${session}`, trips: createSamples() });
  }
}

/** Plays one session and adds its trips, in milliseconds. */
export async function measureTrips(session: {
  stage: Stage;
  stack: Stack;
  key: string;
  trips: Samples;
  steps?: number;
  result?: string;
}): Promise<void> {
  const { stage, stack, key, trips, steps = TRIPS, result } = session;
  const sentAt = new Map<number, number>();
  await playSession(
    stack.api,
    { key, steps },
    { onPost: (results, at) => sentAt.set(results, at), ...(result === undefined ? {} : { result }) },
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
