// Whether a poll and a step grow with the length of their own session's history.
//
// `changes_end_N`: `GET …/changes` for the last event of a history of N events, with no wait. The histories are loaded
// with SQL: the last event of a session that Tandem wrote, again and again. The floor is the same at 10 events, which
// the ratio is to stay near.
//
// `step_N`: from a tool's result to the model's next request, as `round_trip_postgres`, with N earlier steps, which were
// really played. It ends when the head of the request arrives, so what the model needs to read its longer prompt is left
// out, and what the worker needs to read, write and send it is not: it is the nature of such models that it grows. The
// floor is the same at 10 steps.
import type { ApiClient } from "../api-client.ts";
import { monotonicMs } from "../clock.ts";
import { copySession } from "../copy-session.ts";
import { createWaitingSession } from "../create-waiting-session.ts";
import { type Figure, toFigure } from "../figure.ts";
import type { Group, Run } from "../group.ts";
import { type Played, playOn, playSession } from "../play-session.ts";
import { createSamples, medianOf, type Samples } from "../samples.ts";
import { type Stack, startStack } from "../stack.ts";
import { addTrips } from "./round-trips.ts";

const EVENTS = [10, 1_000, 100_000];
const FEW_STEPS = 10;
const MANY_STEPS = 500;
const TRIPS = 10;

/** Polls at the end of histories. */
export const changesGroup: Group = {
  names: EVENTS.map((count) => `changes_end_${count}`),
  async measure(run) {
    const stack = await startStack(run.stage, { name: "changes" });
    run.closers.push(() => stack.close());
    const template = await createWaitingSession(stack.api, { key: "template", calls: 1 });
    const histories: { events: number; id: string; samples: Samples }[] = [];
    for (const events of EVENTS) {
      const [id = ""] = await copySession({ db: stack.db, sessionId: template.id, count: 1 });
      await lengthenHistory(stack, id, events);
      histories.push({ events, id, samples: createSamples() });
    }
    await stack.db.query("VACUUM ANALYZE");
    for (let round = 0; round <= run.rounds; round++) {
      for (let poll = 0; poll < (run.quick ? 50 : 200); poll++) {
        for (const { events, id, samples } of histories) {
          // The round before the first warms everything up.
          await addPollTime(stack.api, {
            id,
            last: events - 1,
            samples: round === 0 ? createSamples() : samples,
          });
        }
      }
    }
    const [shortest] = histories;
    const floor = shortest ? medianOf(shortest.samples) : null;
    run.tell(`changes_end: ${histories.map(({ samples }) => medianOf(samples).toFixed(2)).join(", ")} ms`);
    return histories.map(({ events, samples }) =>
      toFigure({ name: `changes_end_${events}`, unit: "ms", samples, floor }),
    );
  },
};

async function addPollTime(
  api: ApiClient,
  { id, last, samples }: { id: string; last: number; samples: Samples },
): Promise<void> {
  const startedAt = monotonicMs();
  const { status } = await api.send("GET", `/api/v2/sessions/${id}/changes?from_index=${last}`);
  samples.add(monotonicMs() - startedAt);
  if (status !== 200) throw new Error(`A poll at event ${last} answered ${status}`);
}

/** Repeats a session's last event until there are so many. */
async function lengthenHistory({ db }: Stack, id: string, events: number): Promise<void> {
  await db.query(
    `INSERT INTO events (session_id, index, type, data)
     SELECT session_id, number, type, data
       FROM sessions JOIN events ON session_id = id AND index = next_index - 1,
            generate_series(next_index, $2::int - 1) AS number
      WHERE id = $1`,
    [id, events],
  );
  await db.query("UPDATE sessions SET next_index = $2 WHERE id = $1", [id, events]);
}

/** Steps after few and after many. */
export const stepsGroup: Group = {
  names: [`step_${FEW_STEPS}`, `step_${MANY_STEPS}`],
  isLong: true,
  measure: measureSteps,
};

async function measureSteps(run: Run): Promise<Figure[]> {
  const stack = await startStack(run.stage, { name: "steps" });
  run.closers.push(() => stack.close());
  const few = createSamples();
  const many = createSamples();
  const key = "many";
  const steps = MANY_STEPS + TRIPS * run.rounds;
  run.tell(`playing ${MANY_STEPS} steps`);
  let long = await playSession(stack.api, { key, steps }, { until: MANY_STEPS });
  await run.stage.model.takeArrivals();
  for (let round = 1; round <= run.rounds; round++) {
    const keyOfFew = `few.${round}`;
    const short = await playSession(
      stack.api,
      { key: keyOfFew, steps: FEW_STEPS + TRIPS },
      { until: FEW_STEPS },
    );
    await measureTripsOf(run, stack, { key: keyOfFew, from: short, trips: few });
    long = await measureTripsOf(run, stack, { key, from: long, trips: many });
    run.tell(
      `step_${FEW_STEPS}, step_${MANY_STEPS}: ${medianOf(few).toFixed(2)}, ${medianOf(many).toFixed(2)} ms`,
    );
  }
  const floor = medianOf(few);
  return [
    toFigure({ name: `step_${FEW_STEPS}`, unit: "ms", samples: few, floor }),
    toFigure({ name: `step_${MANY_STEPS}`, unit: "ms", samples: many, floor }),
  ];
}

/** Plays some steps on and adds their trips. */
async function measureTripsOf(
  run: Run,
  stack: Stack,
  { key, from, trips }: { key: string; from: Played; trips: Samples },
): Promise<Played> {
  const sentAt = new Map<number, number>();
  const left = await playOn(stack.api, from, {
    until: from.results + TRIPS,
    onPost: (results, at) => sentAt.set(results, at),
  });
  await addTrips({ stage: run.stage, key, sentAt, trips });
  return left;
}
