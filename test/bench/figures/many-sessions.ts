// Whether what one session needs grows with the number of others: with 1,000 and with 1,000,000 sessions in the tables,
// all of the same organization and user. They are copies, made with SQL, of sessions that Tandem wrote: one in a hundred
// waits for its client, the others are completed; of each the first two events are kept.
//
// `create`, `list` (the first page) and `poll` (one event of a session by chance, no wait) are requests, `step` is the
// trip from a tool's result to the model's next request. Each is measured in turn on two databases of the same Postgres;
// the floor of both is the median of `…_1k`. A quick run has fewer than a million, under the same name, and says so.

import { monotonicMs } from "../clock.ts";
import { copySession } from "../copy-session.ts";
import { createWaitingSession } from "../create-waiting-session.ts";
import { type Figure, toFigure } from "../figure.ts";
import type { Group, Run } from "../group.ts";
import { createSession, playOn, playSession } from "../play-session.ts";
import { createSamples, medianOf, type Samples } from "../samples.ts";
import { type Stack, startStack } from "../stack.ts";
import { measureTrips } from "./round-trips.ts";

const OPERATIONS = ["create", "list", "poll", "step"] as const;
const FEW = 1_000;
const MANY = 1_000_000;
const QUICK_MANY = 20_000;
const WAITING_PART = 0.01;
const EVENTS = 2;
const REQUESTS = 50;
const TRIPS = 10;

/** On both databases. */
export const manySessionsGroup: Group = {
  names: OPERATIONS.flatMap((operation) => [`${operation}_1k`, `${operation}_1m`]),
  measure,
};

type Operation = (typeof OPERATIONS)[number];

/** One of the two databases. */
interface Place {
  stack: Stack;
  /** Of the loaded sessions. */
  ids: string[];
  samples: Record<Operation, Samples>;
}

async function measure(run: Run): Promise<Figure[]> {
  const { quick, rounds, tell } = run;
  const few = await openPlace(run, "few", FEW);
  const count = quick ? QUICK_MANY : MANY;
  if (quick) tell(`QUICK: figures that end in _1m have ${count} sessions, not ${MANY}`);
  tell(`loading ${count} sessions`);
  const many = await openPlace(run, "many", count);
  tell("loaded");
  const places = [few, many];
  const requests = quick ? REQUESTS / 2 : REQUESTS;
  for (let round = 0; round <= rounds; round++) {
    // The round before the first warms everything up.
    const into = round === 0 ? places.map((place) => ({ ...place, samples: createPlaceSamples() })) : places;
    for (let i = 0; i < requests; i++) for (const place of into) await measureRequests(place);
    for (const { stack, ids, samples } of into) {
      const key = `step.${round}.${ids.length}`;
      await measureTrips({ stage: run.stage, stack, key, steps: TRIPS, trips: samples.step });
    }
    if (round > 0) tell(`round ${round}: ${toProgress(few)} with few, ${toProgress(many)} with many`);
  }
  return OPERATIONS.flatMap((operation) => {
    const floor = medianOf(few.samples[operation]);
    return [
      toFigure({ name: `${operation}_1k`, unit: "ms", samples: few.samples[operation], floor }),
      toFigure({ name: `${operation}_1m`, unit: "ms", samples: many.samples[operation], floor }),
    ];
  });
}

const createPlaceSamples = (): Record<Operation, Samples> => ({
  create: createSamples(),
  list: createSamples(),
  poll: createSamples(),
  step: createSamples(),
});

const toProgress = ({ samples }: Place): string =>
  OPERATIONS.map((operation) => `${operation} ${medianOf(samples[operation]).toFixed(2)} ms`).join(", ");

async function openPlace({ stage, closers }: Run, name: string, count: number): Promise<Place> {
  const stack = await startStack(stage, { name });
  closers.push(() => stack.close());
  const { api, db } = stack;
  const completed = await playSession(api, { key: "completed", steps: 0 });
  const waiting = await createWaitingSession(api, { key: "waiting", calls: 1 });
  const waitingCount = Math.round(count * WAITING_PART);
  const load = (sessionId: string, copies: number) =>
    copySession({ db, sessionId, count: copies, events: EVENTS });
  const ids = [
    ...(await load(completed.id, count - waitingCount)),
    ...(await load(waiting.id, waitingCount)),
  ];
  await db.query("VACUUM ANALYZE");
  await db.query("CHECKPOINT");
  await stage.model.takeArrivals();
  return { stack, ids, samples: createPlaceSamples() };
}

/** Makes each request once. The created session is played to its end, so that it disturbs nothing. */
async function measureRequests({ stack: { api }, ids, samples }: Place): Promise<void> {
  const id = ids[Math.floor(Math.random() * ids.length)];
  await addTime(samples.list, () => api.call("GET", "/sessions"));
  await addTime(samples.poll, () => api.call("GET", `/sessions/${id}/changes?from_index=${EVENTS - 1}`));
  const created = await addTime(samples.create, () => createSession(api, { key: "created", steps: 0 }));
  await playOn(api, { id: created, cursor: 0, results: 0 });
}

async function addTime<T>(samples: Samples, work: () => Promise<T>): Promise<T> {
  const startedAt = monotonicMs();
  const done = await work();
  samples.add(monotonicMs() - startedAt);
  return done;
}
