// A session's events and the model's text as they come, by server-sent events. Where there is no stream, by long polls.
import { type AbortScope, openAbortScope, pause, untilAborted } from "./abort-scope.ts";
import { APIError, ConnectionError, isOutage } from "./errors.ts";
import { type EventFrame, readFrames } from "./event-frames.ts";
import type { SessionChanges, SessionEvent } from "./generated/types.gen.ts";
import type { Operation } from "./operations.ts";
import { type News, type ReadOptions, readChanges, tryToReadEnd } from "./read-changes.ts";
import { retryDelayMs } from "./retry.ts";
import type { StepTexts, StreamDelta } from "./stream-deltas.ts";

/** Two heartbeats of the server, and some: a line that is silent for so long is dead, or a proxy holds everything back. */
const longestSilenceMs = 32_000;
/** After so many connections in a row that brought nothing it is left to polls, which tell what is wrong. */
const maxFailures = 6;
/** A connection that held for so long was a good one, though the session was quiet. */
const goodConnectionMs = 5_000;

/** Where and how to read. */
export interface StreamOptions extends ReadOptions {
  /** Opens a reply that is read piece by piece. */
  openReply: (operation: Operation) => Promise<Response>;
  /** What is known of the session's text. */
  texts: StepTexts;
  /** Default: two heartbeats. */
  silenceMs?: number;
}

/** There is no stream to be had here. */
class NoStream extends Error {}

/** One connection, and what is told over it. */
interface Connection {
  scope: AbortScope;
  cursor: number;
  /** True when anything came over it, be it a heartbeat. */
  isAlive: boolean;
  /** True when it brought events, or text. */
  isUseful: boolean;
}

/**
 * Gives each piece of news and each delta, without end; the same events as {@link readChanges}, none twice. It connects
 * again where the stream ended, and goes over to long polls for good when the server, or a proxy, does not stream.
 *
 * @throws {TandemError} when the server refuses, or stays out of reach
 */
export async function* readStream(options: StreamOptions): AsyncGenerator<News | StreamDelta, never> {
  let cursor = options.fromIndex;
  for (let failures = 0; failures < maxFailures; ) {
    const startedAt = performance.now();
    const connection: Connection = {
      scope: openAbortScope({ parent: options.signal }),
      cursor,
      isAlive: false,
      isUseful: false,
    };
    let failure: unknown = null;
    try {
      yield* readConnection(options, connection);
    } catch (error) {
      options.signal.throwIfAborted();
      if (error instanceof NoStream) break;
      if (!isOutage(error)) throw error;
      failure = error;
    } finally {
      cursor = connection.cursor;
      connection.scope.abort();
      connection.scope.release();
    }
    const isGood = connection.isUseful || performance.now() - startedAt > goodConnectionMs;
    failures = isGood ? 0 : failures + 1;
    if (isGood) continue;
    // One that ended by itself and brought nothing: the session has ended, or the server goes down.
    const news = failure === null ? await tryToReadEnd(options, cursor) : null;
    if (news) {
      cursor = news.nextIndex;
      yield news;
    }
    await pause(retryDelayMs(failures, failure), options.signal);
  }
  return yield* readChanges({ ...options, fromIndex: cursor });
}

async function* readConnection(
  options: StreamOptions,
  connection: Connection,
): AsyncGenerator<News | StreamDelta, void> {
  const { scope } = connection;
  const watch = watchSilence(scope, options.silenceMs ?? longestSilenceMs);
  try {
    const response = await untilAborted(open(options, connection), scope.signal);
    if (response.status === 204) return;
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    if (!isStream || !response.body) throw new NoStream();
    for await (const frame of readFrames(response.body, scope.signal)) {
      connection.isAlive = true;
      watch.stop();
      const item = frame && toItem(frame, connection, options.texts);
      if (item) yield item;
      watch.touch();
    }
  } catch (error) {
    throw toFailure(error, options, connection);
  } finally {
    watch.stop();
  }
}

async function open(
  { sessionId, openReply }: StreamOptions,
  { scope, cursor }: Connection,
): Promise<Response> {
  return openReply({
    url: "/api/v2/sessions/{id}/stream",
    path: { id: sessionId },
    query: { from_index: cursor },
    headers: { accept: "text/event-stream" },
    signal: scope.signal,
  });
}

/** What the end of a connection means. */
function toFailure(error: unknown, options: StreamOptions, { scope, isAlive }: Connection): unknown {
  if (options.signal.aborted) return options.signal.reason;
  if (scope.signal.aborted) return isAlive ? scope.signal.reason : new NoStream();
  if (error instanceof NoStream) return error;
  if (!(error instanceof APIError)) return toConnectionError(error);
  const isMissing = [404, 405, 406, 501].includes(error.status) && error.code !== "session_not_found";
  return isMissing ? new NoStream() : error;
}

function toConnectionError(error: unknown): ConnectionError {
  if (error instanceof ConnectionError) return error;
  return new ConnectionError("The stream broke off", { cause: error });
}

function watchSilence(scope: AbortScope, silenceMs: number) {
  const end = () => scope.abort(new ConnectionError("The stream was silent for too long"));
  let timer = setTimeout(end, silenceMs);
  return {
    touch: () => {
      clearTimeout(timer);
      timer = setTimeout(end, silenceMs);
    },
    stop: () => clearTimeout(timer),
  };
}

function toItem(frame: EventFrame, connection: Connection, texts: StepTexts): News | StreamDelta | null {
  const data: unknown = JSON.parse(frame.data);
  if (frame.event === "delta") {
    const delta = texts.take(data as StreamDelta);
    connection.isUseful ||= delta !== null;
    return delta;
  }
  if (frame.event === "state") return toState(data as SessionChanges, connection);
  return frame.event === "message" ? toNews(Number(frame.id), data as SessionEvent, connection) : null;
}

/** An event that is known is left out; one that leaves a gap makes the reader connect again. */
function toNews(index: number, event: SessionEvent, connection: Connection): News | null {
  if (index < connection.cursor) return null;
  if (index !== connection.cursor) throw new ConnectionError("An event of the stream is missing");
  connection.cursor += 1;
  connection.isUseful = true;
  return { events: [event], nextIndex: connection.cursor, state: null };
}

/** The state counts when it is that of the events read. */
function toState(state: SessionChanges, connection: Connection): News | null {
  if (state.has_more || state.next_index !== connection.cursor) return null;
  return { events: [], nextIndex: connection.cursor, state: { ...state, new_events: [] } };
}
