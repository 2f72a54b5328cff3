import type { Engine } from "../engine.ts";
import { type CallFeed, type OfferedCalls, readOfferedCalls } from "../postgres/read-offered-calls.ts";
import { createBatches } from "./batches.ts";

/** Most statements under way at once for all feeds: what wakes many must not take all connections. */
const MAX_STATEMENTS = 2;

/** Reads what feeds ask for. */
export interface OfferedCallsReader {
  /**
   * The oldest calls of a feed, as of a moment that is not before the call. Whoever asks for the same at the same moment
   * gets the same object.
   *
   * @throws {TandemError} `unavailable` when too many ask
   */
  read(feed: CallFeed, limit: number): Promise<OfferedCalls>;
}

/** Makes the one reader of a process: feeds that ask for the same at the same moment share a statement. */
export function createOfferedCallsReader(engine: Engine): OfferedCallsReader {
  const ask = createBatches<{ feed: CallFeed; limit: number }, OfferedCalls>({
    maxItems: 1,
    maxBatches: MAX_STATEMENTS,
    fetch: (items) => Promise.all(items.map(({ feed, limit }) => readOfferedCalls(engine.pool, feed, limit))),
  });
  return { read: (feed, limit) => ask(`${limit} ${toFeedKey(feed)}`, { feed, limit }) };
}

/** The same text for feeds that ask for the same. */
export function toFeedKey({ organizationId, toolNames, agentNames, userName }: CallFeed): string {
  return JSON.stringify([organizationId, toolNames, agentNames, userName]);
}
