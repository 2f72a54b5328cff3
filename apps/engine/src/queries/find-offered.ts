import type { Engine } from "../engine.ts";
import { type CallFeed, findOfferedFeeds } from "../postgres/read-offered-calls.ts";
import { noteSwept } from "../telemetry/note-swept.ts";

/** Most feeds that one statement looks at: a few milliseconds of the database's time. */
const MAX_LOOKED_AT = 200;

/** Which of the waiting feeds have a call that may be taken. */
export async function findOffered<Feed extends CallFeed>(
  engine: Engine,
  feeds: readonly Feed[],
): Promise<Feed[]> {
  const offered: Feed[] = [];
  for (let start = 0; start < feeds.length; start += MAX_LOOKED_AT) {
    const some = feeds.slice(start, start + MAX_LOOKED_AT);
    const places = new Set(await findOfferedFeeds(engine.pool, some));
    offered.push(...some.filter((_, place) => places.has(place)));
  }
  noteSwept(engine.telemetry, "wake_ups", offered.length);
  return offered;
}
