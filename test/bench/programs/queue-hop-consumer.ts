// The far end of a bare queue hop: takes jobs that do nothing, in a process of its own as a worker is one, and tells
// when each was handed to it.
import { monotonicMs } from "../clock.ts";
import { openHopWorker } from "../floors/hop-queue.ts";

/** What the near end is told of each job. */
export interface Hopped {
  id: string;
  /** By `monotonicMs`. */
  at: number;
}

const [url = ""] = process.argv.slice(2);
await openHopWorker(url, (id) => {
  process.send?.({ id, at: monotonicMs() } satisfies Hopped);
});
process.send?.({ ready: true });
process.once("disconnect", () => process.exit(0));
