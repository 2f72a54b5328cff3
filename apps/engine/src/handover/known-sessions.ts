// What a worker remembers of sessions whose steps it has written: the next step of one needs to be told only what is
// new.

import { countCharacters } from "../domain/count-characters.ts";
import type { StoredEvent } from "../domain/events.ts";
import type { ClaimedSessionRow } from "../postgres/session-row.ts";

/** What a worker needs of a session beside its state. */
export type SessionTerms = Pick<
  ClaimedSessionRow,
  "agent" | "tools" | "maxSteps" | "repeatLimit" | "errorLimit" | "tokenBudget"
>;

/** A session as it was when a step was written. */
export interface KnownSession {
  terms: SessionTerms;
  /** The version of its row: of another one, more may have changed than its events. */
  version: string;
  /** The events that a model sees, as the database gives them. */
  events: readonly StoredEvent[];
}

/** The sessions that this process remembers. Forgetting one costs a read. */
export interface KnownSessions {
  remember(sessionId: string, known: KnownSession): void;
  /** Gives what is known of a session and forgets it; null when nothing is. */
  take(sessionId: string): KnownSession | null;
}

/** Most characters that are remembered of all sessions, and of one, and for how long, in milliseconds. */
const LIMITS = { all: 16 * 1024 * 1024, one: 512 * 1024, ageMs: 60_000 };

/** Remembers nothing yet. What was remembered first is forgotten when it is old, or when there is no more room. */
export function createKnownSessions(limits = LIMITS): KnownSessions {
  const sessions = new Map<string, { known: KnownSession; characters: number; at: number }>();
  let characters = 0;
  let timer: NodeJS.Timeout | null = null;
  const forget = (sessionId: string) => {
    characters -= sessions.get(sessionId)?.characters ?? 0;
    sessions.delete(sessionId);
  };
  const forgetOld = () => {
    const latest = performance.now() - limits.ageMs;
    for (const [sessionId, { at }] of sessions) {
      if (at > latest && characters <= limits.all) break;
      forget(sessionId);
    }
  };
  // Content that nobody asks for again must not stay because its worker has nothing to do.
  const forgetLater = () => {
    timer ??= setTimeout(() => {
      timer = null;
      forgetOld();
      if (sessions.size > 0) forgetLater();
    }, limits.ageMs);
    timer.unref();
  };
  return {
    remember(sessionId, known) {
      forget(sessionId);
      const size = measure(known, limits.one);
      if (size > limits.one) return;
      sessions.set(sessionId, { known, characters: size, at: performance.now() });
      characters += size;
      forgetOld();
      forgetLater();
    },
    take(sessionId) {
      const known = sessions.get(sessionId)?.known ?? null;
      forget(sessionId);
      return known;
    },
  };
}

/** The sizes of definitions and events: they stay the same objects from one step of a session to the next. */
const sizes = new WeakMap<object, number>();

/** About as many characters as a session has in JSON, or more than `most` when it is more than that. */
function measure({ terms, events }: KnownSession, most: number): number {
  let size = 0;
  for (const part of [terms.agent, terms.tools, ...events]) {
    let partSize = sizes.get(part);
    if (partSize === undefined) {
      partSize = countCharacters(part, most);
      sizes.set(part, partSize);
    }
    size += partSize;
    if (size > most) break;
  }
  return size;
}
