// The least that a way from a tool's result to the model's next request has to do by the design: the result is settled
// in one commit, the step hops over the queue, and is claimed in another commit. One of each, once, as on the way
// itself: in a loop of their own they take little more than half the time, with nothing else in the caches. That is
// told too, so that nobody has to take our word for which is the floor. A bare HTTP round trip is measured with them,
// and is no part of it.
import type { Closers } from "../closers.ts";
import { createSamples, type Samples } from "../samples.ts";
import type { Stack } from "../stack.ts";
import type { Stage } from "../stage.ts";
import { openCommitFloor } from "./commits.ts";
import { measureHttp } from "./http.ts";
import { openHopFloor } from "./queue-hop.ts";

/**
 * What bare trips took, in milliseconds: commits and hop together, each of these, a bare HTTP round trip, and commits
 * and hop in a loop of their own.
 */
export type BareTrips = Record<"whole" | "commits" | "hop" | "http" | "loop", Samples>;

/** Starts with none. */
export const createBareTrips = (): BareTrips => ({
  whole: createSamples(),
  http: createSamples(),
  commits: createSamples(),
  hop: createSamples(),
  loop: createSamples(),
});

/** Makes bare trips. */
export interface BareTrip {
  /** Makes one, and adds what it took. */
  measure(into: BareTrips): Promise<void>;
  /** Makes so many in a loop: first all commits, then all hops. */
  measureLoop(into: BareTrips, count: number): Promise<void>;
}

/** Opens what they need, beside a stack and on the same backend. */
export async function openBareTrip(stage: Stage, stack: Stack, closers: Closers): Promise<BareTrip> {
  const commits = await openCommitFloor(stage, closers);
  const hops = await openHopFloor(stage, { redisUrl: stack.redisUrl, closers });
  return {
    async measure(into) {
      let commitsMs = 0;
      let hopMs = 0;
      const addCommit = (ms: number) => {
        commitsMs += ms;
      };
      await measureHttp(stack.api, into.http.add, 1);
      await commits.measure(addCommit, 1);
      await hops.measure((ms) => {
        hopMs = ms;
      }, 1);
      await commits.measure(addCommit, 1);
      into.commits.add(commitsMs);
      into.hop.add(hopMs);
      into.whole.add(commitsMs + hopMs);
    },
    async measureLoop(into, count) {
      const tookMs: number[] = [];
      await commits.measure((ms) => tookMs.push(ms), 2 * count);
      let trip = 0;
      await hops.measure((ms) => into.loop.add(ms + (tookMs[trip++] ?? 0) + (tookMs[trip++] ?? 0)), count);
    },
  };
}
