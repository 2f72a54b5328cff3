// The least that a way from a tool's result to the model's next request has to do by the design: the result is settled
// in one commit, the step hops over the queue, and is claimed in another commit. One of each, once, as on the way
// itself: in a loop of their own commits take half the time, with nothing else in the caches. A bare HTTP round trip is
// measured with them, and is no part of the floor.
import type { Closers } from "../closers.ts";
import { createSamples, type Samples } from "../samples.ts";
import type { Stack } from "../stack.ts";
import type { Stage } from "../stage.ts";
import { measureHttp } from "./http.ts";
import { openHopFloor } from "./queue-hop.ts";
import { openTripCommits } from "./trip-commits.ts";

/** What bare trips took, in milliseconds: commits and hop together, each of these, and a bare HTTP round trip. */
export type BareTrips = Record<"whole" | "commits" | "hop" | "http", Samples>;

/** Starts with none. */
export const createBareTrips = (): BareTrips => ({
  whole: createSamples(),
  http: createSamples(),
  commits: createSamples(),
  hop: createSamples(),
});

/** Makes bare trips. */
export interface BareTrip {
  /** Makes one, and adds what it took. */
  measure(into: BareTrips): Promise<void>;
}

/** Opens what they need, beside a stack and on the same backend. */
export async function openBareTrip(stage: Stage, stack: Stack, closers: Closers): Promise<BareTrip> {
  const commits = await openTripCommits(stage, closers);
  const hops = await openHopFloor(stage, { redisUrl: stack.redisUrl, closers });
  return {
    async measure(into) {
      await commits.prepare();
      const took = { http: 0, hop: 0 };
      await measureHttp(stack.api, (ms) => (took.http = ms), 1);
      const settleMs = await timed(commits.settle);
      await hops.measure((ms) => (took.hop = ms), 1);
      const commitsMs = settleMs + (await timed(commits.claim));
      into.http.add(took.http);
      into.commits.add(commitsMs);
      into.hop.add(took.hop);
      into.whole.add(commitsMs + took.hop);
    },
  };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
