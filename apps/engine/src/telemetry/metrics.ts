// Every metric that counts what happens. Labels are of closed lists: no ids, and nothing that a caller names.
import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** What a sweep can find: work that nobody was told of, or could not do when told. */
export const SWEPT = ["timers", "slots", "expired", "content", "steps", "wake_ups"] as const;

/** One of {@link SWEPT}. */
export type Swept = (typeof SWEPT)[number];

/**
 * What becomes of a claimed step: the model asked for tools, must go on by itself, or answered; it or a guard ended the
 * session; its request is tried again later; the step went back at shutdown; or nothing of it was written, since the
 * claim was lost or the database away.
 */
export const STEP_OUTCOMES = ["tools", "again", "answer", "fail", "retry", "returned", "unwritten"] as const;

/** One of {@link STEP_OUTCOMES}. */
export type StepOutcomeLabel = (typeof STEP_OUTCOMES)[number];

/**
 * Why a stream of a session ends: the session has, the client went or took nothing, its credential ended, the server does,
 * or something went wrong.
 */
export const STREAM_ENDS = ["finished", "gone", "slow", "credential", "shutdown", "failed"] as const;

/** One of {@link STREAM_ENDS}. */
export type StreamEnd = (typeof STREAM_ENDS)[number];

/** For what takes milliseconds: Tandem's own work. */
const FAST_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** For what takes seconds: models. */
const SLOW_S = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320];

/** For what takes as long as it takes: the callers' tools. */
const OPEN_S = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800, 7_200];

/** For long polls, which end after 25 s at most. */
const POLL_S = [0.01, 0.1, 0.5, 1, 2.5, 5, 10, 15, 20, 25, 30];

/** The metrics of one engine. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Makes the metrics, in a registry of their own: a process may hold several engines. */
export function createMetrics(registry: Registry) {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = <L extends string>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: readonly L[] = [],
  ) => new Histogram({ name, help, buckets, labelNames, registers });
  const metrics = {
    created: counter("tandem_sessions_created_total", "Sessions that were created."),
    restarted: counter("tandem_sessions_restarted_total", "Ended sessions that a message started again."),
    ended: counter("tandem_sessions_ended_total", "Sessions that ended, by state and reason.", [
      "status",
      "reason",
    ]),
    steps: counter("tandem_steps_total", "Claimed steps, by what became of them.", ["outcome"]),
    stepWait: histogram(
      "tandem_step_wait_seconds",
      "From a step being due to its claim by a worker, by the database's clock.",
      FAST_S,
    ),
    toolWait: histogram(
      "tandem_tool_wait_seconds",
      "From the model asking for tools to the last of its calls being settled: the callers' time.",
      OPEN_S,
    ),
    roundTrip: histogram(
      "tandem_tool_round_trip_seconds",
      "From the last result of a step's calls to the next model request leaving the worker: Tandem's own time.",
      FAST_S,
    ),
    model: histogram(
      "tandem_model_request_duration_seconds",
      "Requests to model providers, by how they ended.",
      SLOW_S,
      ["provider", "outcome"],
    ),
    tokens: counter(
      "tandem_model_tokens_total",
      "Tokens that providers reported. Those of reasoning are part of the output too.",
      ["provider", "kind"],
    ),
    swept: counter("tandem_sweep_found_total", "What sweeps found to do that should have been done before.", [
      "what",
    ]),
    http: histogram(
      "tandem_http_request_duration_seconds",
      "Answered requests, by route; polls that may wait are not among them.",
      FAST_S,
      ["method", "route", "status"],
    ),
    polls: histogram(
      "tandem_http_long_poll_duration_seconds",
      "Answered polls that were ready to wait; 204 is nothing new.",
      POLL_S,
      ["status"],
    ),
    rateLimited: counter("tandem_http_rate_limited_total", "Requests refused by a key's rate limit."),
    waiters: new Gauge({
      name: "tandem_waiters",
      help: "Clients that wait in a poll or a stream.",
      registers,
    }),
    streams: new Gauge({ name: "tandem_streams", help: "Streams of sessions that are open.", registers }),
    streamEnds: counter("tandem_stream_ends_total", "Streams that ended, by why.", ["reason"]),
  };
  // From the start: a rate over a counter that appears with its first event misses that event.
  for (const what of SWEPT) metrics.swept.inc({ what }, 0);
  for (const outcome of STEP_OUTCOMES) metrics.steps.inc({ outcome }, 0);
  for (const reason of STREAM_ENDS) metrics.streamEnds.inc({ reason }, 0);
  return metrics;
}
