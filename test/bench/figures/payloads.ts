// What a result's size costs: from the post of a result of so many bytes to the model's next request, which holds it.
// The text has no pattern, so nothing compresses it.
//
// The floor is what any such path must do: a bare post of the same size to a server that throws it away, and one commit
// that stores the same text, both measured in turn with the trips.

import { randomBytes } from "node:crypto";
import pg from "pg";
import { createApiClient } from "../api-client.ts";
import { monotonicMs } from "../clock.ts";
import { type Figure, toFigure } from "../figure.ts";
import type { Group, Run } from "../group.ts";
import { startProgram } from "../program.ts";
import { createSamples, medianOf, type Samples } from "../samples.ts";
import { startStack } from "../stack.ts";
import { measureTrips } from "./round-trips.ts";

/** How often each is measured in a round. */
const SIZES = [
  { name: "payload_1k", bytes: 1_000, times: 20 },
  { name: "payload_100k", bytes: 100_000, times: 20 },
  { name: "payload_5m", bytes: 5_000_000, times: 4 },
];

/** Results of all sizes. */
export const payloadGroup: Group = { names: SIZES.map(({ name }) => name), measure };

/** What a result of one size is compared with. */
interface PayloadFloor {
  measure(text: string, into: { posts: Samples; stores: Samples }): Promise<void>;
}

async function measure(run: Run): Promise<Figure[]> {
  const { stage, closers } = run;
  const stack = await startStack(stage, { name: "payloads" });
  closers.push(() => stack.close());
  const floor = await openFloor(run);
  const sizes = SIZES.filter(({ name }) => run.wants(name)).map((size) => ({
    ...size,
    text: randomBytes(size.bytes).toString("base64").slice(0, size.bytes),
    trips: createSamples(),
    posts: createSamples(),
    stores: createSamples(),
  }));
  for (let round = 0; round <= run.rounds; round++) {
    for (const size of sizes) {
      // The round before the first warms everything up.
      const into =
        round === 0 ? { trips: createSamples(), posts: createSamples(), stores: createSamples() } : size;
      for (let time = 0; time < (run.quick ? Math.ceil(size.times / 4) : size.times); time++) {
        await floor.measure(size.text, into);
        const key = `${size.name}.${round}.${time}`;
        await measureTrips({ stage, stack, key, steps: 1, result: size.text, trips: into.trips });
      }
    }
    if (round > 0)
      run.tell(sizes.map(({ name, trips }) => `${name} ${medianOf(trips).toFixed(1)} ms`).join(", "));
  }
  return sizes.map(({ name, trips, posts, stores }) =>
    toFigure({ name, unit: "ms", samples: trips, floor: medianOf(posts) + medianOf(stores) }),
  );
}

async function openFloor({ stage, closers }: Run): Promise<PayloadFloor> {
  const sink = startProgram({ name: "sink", path: stage.paths.sink, folder: stage.folder, talks: true });
  closers.push(() => sink.close());
  const { port } = await sink.receive<{ port: number }>();
  const client = createApiClient(`http://127.0.0.1:${port}`, "no key");
  closers.push(() => client.close());
  const db = new pg.Client({ connectionString: await stage.createDatabase("bench_payloads") });
  db.on("error", () => undefined);
  await db.connect();
  closers.push(() => db.end());
  await db.query("CREATE TABLE results (body text NOT NULL)");
  return {
    async measure(text, { posts, stores }) {
      const startedAt = monotonicMs();
      await client.send("POST", "/", text);
      const postedAt = monotonicMs();
      await db.query("INSERT INTO results (body) VALUES ($1)", [text]);
      stores.add(monotonicMs() - postedAt);
      posts.add(postedAt - startedAt);
    },
  };
}
