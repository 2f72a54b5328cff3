// How much there is to do at the moment, as those who watch the service see it.
import type { SessionStatus } from "./session-state.ts";

/** What the database says of the sessions that have not ended. */
export interface SessionLoad {
  /** How many are in each state; states without any are left out. */
  sessions: { status: SessionStatus; count: number }[];
  /** How long the step that has waited longest for a worker has been due, in milliseconds; 0 when none waits. */
  lagMs: number;
}

/** How many jobs the queue holds: to be taken at once, taken, and to be taken later. */
export interface QueueDepth {
  waiting: number;
  active: number;
  delayed: number;
}

/** The connections of a pool, and how many requests wait for one. */
export interface PoolUse {
  idle: number;
  active: number;
  waiting: number;
  max: number;
}
