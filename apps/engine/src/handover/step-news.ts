// What whoever makes a step due tells the worker that it gives it to: the session's row and the events that are new.
// With what that worker remembers of the session, it needs no look at the database before it asks the model.

import { countCharacters } from "../domain/count-characters.ts";
import type { NewEvent, StoredEvent } from "../domain/events.ts";
import { parseJson, stringifyJson } from "../domain/json.ts";
import {
  type ClaimedSessionRow,
  type JsonSessionRow,
  type SessionRow,
  toSessionRow,
} from "../postgres/session-row.ts";
import type { ClaimedRow } from "../postgres/update-session.ts";
import type { KnownSession } from "./known-sessions.ts";

/** A session's row as it was written, and the events that were written with it and that a model sees. */
export interface StepNews {
  session: SessionRow;
  /** The version of the row before it was written. */
  fromVersion: string;
  events: StoredEvent[];
  /** When it was told, by the wall clock of whoever told it, in milliseconds. */
  toldAt: number;
}

/** Most bytes of news: more of it goes by the database. With its wrapping it fits into one wake-up. */
const MAX_NEWS_BYTES = 5_000;

/**
 * The news of a step that was claimed by the update that made it due; empty when it is too much for a note.
 *
 * @param claimed the row as it was written
 * @param fromVersion its version before
 * @param appended all the events that were written with it
 */
export function toNews(
  { json, nextIndex }: Pick<ClaimedRow, "json" | "nextIndex">,
  fromVersion: string,
  appended: readonly NewEvent[],
): string {
  if (countCharacters(appended, MAX_NEWS_BYTES) > MAX_NEWS_BYTES) return "";
  const others: Omit<StepNews, "session"> = {
    fromVersion,
    events: toTranscript(nextIndex - appended.length, appended),
    toldAt: Date.now(),
  };
  // The row is passed on as the database has written it.
  const text = `{"session":${json},${stringifyJson(others).slice(1)}`;
  return Buffer.byteLength(text) > MAX_NEWS_BYTES ? "" : text;
}

/** Reads {@link toNews}; null when there are none. */
export function readNews(text: string): StepNews | null {
  if (text === "") return null;
  const news = parseJson(text) as unknown as Omit<StepNews, "session"> & { session: JsonSessionRow };
  return { ...news, session: { ...toSessionRow(news.session), receivedMs: performance.now() } };
}

/**
 * How old news may be, in milliseconds. Older ones were on the way for so long that the claim may be over; the database
 * knows.
 */
const FRESH_MS = 1_000;

/** The step that fresh news and what is known make together; null when something lies between them. */
export function toKnownStep(
  known: KnownSession | null,
  news: StepNews | null,
): { session: ClaimedSessionRow; events: StoredEvent[] } | null {
  if (!known || !news) return null;
  if (known.version !== news.fromVersion) return null;
  const waitedMs = Math.max(0, Date.now() - news.toldAt);
  if (waitedMs > FRESH_MS) return null;
  return {
    session: { ...known.terms, ...news.session, claims: 1, waitedMs },
    events: [...known.events, ...news.events],
  };
}

/** The events that a model sees, with the places that they get. */
export function toTranscript(nextIndex: number, events: readonly NewEvent[]): StoredEvent[] {
  return events
    .map((event, position) => ({ internal: null, ...event, index: nextIndex + position }))
    .filter(({ type }) => type === "AgentEvent");
}
