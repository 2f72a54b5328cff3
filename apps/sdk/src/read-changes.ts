// A session's changes as they happen: the cursor, the long polls, and patience with what lies between.
import { pause } from "./abort-scope.ts";
import { isOutage } from "./errors.ts";
import type { TandemApi } from "./generated/sdk.gen.ts";
import type { SessionChanges, SessionEvent } from "./generated/types.gen.ts";
import { retryDelayMs } from "./retry.ts";
import { isSettled } from "./session-result.ts";

/** After so many polls in a row without news the status is asked for: that tells a quiet session from a dead server. */
const pollsPerStatusCheck = 6;
/** An empty poll that came back sooner than this did not wait. */
const shortestPollMs = 500;

/** What a reader gives: events that are new, in order, and the state when the reader is up to date. */
export interface News {
  events: readonly SessionEvent[];
  /** The number of events of the session up to here. */
  nextIndex: number;
  /** Null while there is more to read: then the state is later than the events, and not to be acted on. */
  state: SessionChanges | null;
}

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
 * Gives each piece of news, without end. A poll that fails on the way, or at a proxy, is an empty poll. One that the
 * server cut short may mean that the session has ended, so its status is asked for.
 *
 * @throws {TandemError} when the server refuses, or stays out of reach
 */
export async function* readChanges(options: ReadOptions): AsyncGenerator<News, never> {
  let cursor = options.fromIndex;
  for (let emptyPolls = 0, hastyPolls = 0; ; ) {
    const startedAt = performance.now();
    const { changes, error } = await poll(options, cursor);
    const tookMs = performance.now() - startedAt;
    let news = changes && isNews(changes) ? toNews(changes, cursor) : null;
    if (!news) {
      emptyPolls += 1;
      if (emptyPolls % pollsPerStatusCheck === 0) news = await readEnd(options, cursor);
      else if (error === null && isCutShort(tookMs, options)) news = await tryToReadEnd(options, cursor);
    }
    if (news) {
      emptyPolls = 0;
      hastyPolls = 0;
      cursor = news.nextIndex;
      yield news;
      continue;
    }
    // A server that does not wait, since it is down or going down, must not be asked again at once.
    hastyPolls = tookMs < shortestPollMs ? hastyPolls + 1 : 0;
    if (hastyPolls > 0) await pause(retryDelayMs(hastyPolls, error), options.signal);
  }
}

function isNews({ new_events, status }: SessionChanges): boolean {
  return new_events.length > 0 || isSettled(status);
}

/** What is new in a reply. Null for one that is not of this cursor: a proxy may answer with an earlier reply. */
function toNews(changes: SessionChanges, cursor: number): News | null {
  const { new_events, has_more, next_index: nextIndex = cursor + new_events.length } = changes;
  const known = cursor - (nextIndex - new_events.length);
  if (known < 0 || nextIndex < cursor) return null;
  return { events: new_events.slice(known), nextIndex, state: has_more ? null : changes };
}

/** True for an empty poll that came back clearly before its time. One that was not to wait at all is always one. */
function isCutShort(tookMs: number, { waitForSeconds }: ReadOptions): boolean {
  return tookMs < Math.max(shortestPollMs, (waitForSeconds * 1_000) / 2);
}

async function poll(
  { api, sessionId, waitForSeconds, signal }: ReadOptions,
  cursor: number,
): Promise<{ changes: SessionChanges | null; error: unknown }> {
  const path = { id: sessionId };
  const query = { from_index: cursor, wait_for_seconds: waitForSeconds };
  try {
    const changes = await api.getSessionChanges({ path, query, signal });
    return { changes: changes ?? null, error: null };
  } catch (error) {
    if (signal.aborted || !isOutage(error)) throw error;
    return { changes: null, error };
  }
}

/** {@link readEnd}, but null too when the server is out of reach: one that goes down first cuts its polls short. */
export async function tryToReadEnd(options: ReadOptions, cursor: number): Promise<News | null> {
  try {
    return await readEnd(options, cursor);
  } catch (error) {
    if (options.signal.aborted || !isOutage(error)) throw error;
    return null;
  }
}

/**
 * The news of a session that has settled without a poll that said so; null while it goes on. It may have settled after
 * the last poll, so its events come first; the state alone is asked for when there are none, or none can be had.
 */
async function readEnd(options: ReadOptions, cursor: number): Promise<News | null> {
  const { api, sessionId, signal } = options;
  const path = { id: sessionId };
  const { status } = await api.getSessionStatus({ path, signal });
  if (!isSettled(status)) return null;
  const { changes } = await poll({ ...options, waitForSeconds: 0 }, cursor);
  const news = changes && isNews(changes) ? toNews(changes, cursor) : null;
  if (news) return news;
  const query = { include_events: false };
  const state = await api.getSessionChanges({ path, query, signal });
  return state ? { events: [], nextIndex: cursor, state } : null;
}
