// A session's changes as they happen: the cursor, the long polls, and patience with what lies between.
import { pause, withAbortScope } from "./abort-scope.ts";
import { isOutage } from "./errors.ts";
import type { TandemApi } from "./generated/sdk.gen.ts";
import type { SessionChanges } from "./generated/types.gen.ts";
import { retryDelayMs } from "./retry.ts";
import { isSettled } from "./session-result.ts";

/** After so many polls in a row without news the status is asked for: that tells a quiet session from a dead server. */
const pollsPerStatusCheck = 6;
/** An empty poll that came back sooner than this did not wait. */
const shortestPollMs = 500;

/** Where and how to read. */
export interface ReadOptions {
  api: TandemApi;
  sessionId: string;
  /** The number of events already seen. */
  fromIndex: number;
  waitForSeconds: number;
  signal: AbortSignal;
}

/**
 * Gives each piece of news, without end. A poll that fails on the way, or at a proxy, is an empty poll.
 *
 * @throws {TandemError} when the server refuses, or stays out of reach
 */
export async function* readChanges(options: ReadOptions): AsyncGenerator<SessionChanges, never> {
  const { signal } = options;
  let cursor = options.fromIndex;
  for (let emptyPolls = 0; ; ) {
    const startedAt = performance.now();
    const { changes, error } = await poll(options, cursor);
    if (changes && (changes.new_events.length > 0 || isSettled(changes.status))) {
      emptyPolls = 0;
      cursor = changes.next_index ?? cursor + changes.new_events.length;
      yield changes;
      continue;
    }
    emptyPolls += 1;
    if (emptyPolls % pollsPerStatusCheck === 0) {
      const end = await readEnd(options);
      if (end) yield { ...end, new_events: [], next_index: cursor };
    }
    // A server that does not wait, since it is down or going down, must not be asked again at once.
    const isEarly = performance.now() - startedAt < shortestPollMs;
    if (isEarly) await pause(retryDelayMs(emptyPolls, error), signal);
  }
}

async function poll(
  { api, sessionId, waitForSeconds, signal: waitSignal }: ReadOptions,
  cursor: number,
): Promise<{ changes: SessionChanges | null; error: unknown }> {
  const path = { id: sessionId };
  const query = { from_index: cursor, wait_for_seconds: waitForSeconds };
  try {
    const changes = await withAbortScope(waitSignal, (signal) =>
      api.getSessionChanges({ path, query, signal }),
    );
    return { changes: changes ?? null, error: null };
  } catch (error) {
    if (waitSignal.aborted || !isOutage(error)) throw error;
    return { changes: null, error };
  }
}

/** The state of a session that has settled without a poll that said so; null while it goes on. */
async function readEnd({ api, sessionId, signal: waitSignal }: ReadOptions): Promise<SessionChanges | null> {
  const path = { id: sessionId };
  return withAbortScope(waitSignal, async (signal) => {
    const { status } = await api.getSessionStatus({ path, signal });
    if (!isSettled(status)) return null;
    return (await api.getSessionChanges({ path, query: { include_events: false }, signal })) ?? null;
  });
}
