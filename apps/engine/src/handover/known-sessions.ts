// What a worker remembers of sessions whose steps it has written: the next step of one needs to be told only what is new.
import type { StoredEvent } from "../domain/events.ts";
import type { ClaimedSessionRow } from "../postgres/session-row.ts";

/** What never changes in a session, or only together with the version of its tools. */
export type SessionTerms = Pick<
  ClaimedSessionRow,
  "agent" | "tools" | "toolsVersion" | "maxSteps" | "repeatLimit" | "errorLimit" | "tokenBudget"
>;

/** A session up to an event. */
export interface KnownSession {
  terms: SessionTerms;
  /** The place after the last event that is known. */
  nextIndex: number;
  /** The events that a model sees, as the database gives them. */
  events: readonly StoredEvent[];
}

/** The sessions that this process remembers. Forgetting one costs a read. */
export interface KnownSessions {
  remember(sessionId: string, known: KnownSession): void;
  /** Gives what is known of a session and forgets it; null when nothing is. */
  take(sessionId: string): KnownSession | null;
}

/** Most characters that are remembered of all sessions, and of one. */
const MAX_CHARACTERS = 16 * 1024 * 1024;
const MAX_SESSION_CHARACTERS = 512 * 1024;

/** Remembers nothing yet. Of more than there is room for, what was remembered first is forgotten. */
export function createKnownSessions(
  limits = { all: MAX_CHARACTERS, one: MAX_SESSION_CHARACTERS },
): KnownSessions {
  const sessions = new Map<string, { known: KnownSession; characters: number }>();
  let characters = 0;
  const forget = (sessionId: string) => {
    characters -= sessions.get(sessionId)?.characters ?? 0;
    sessions.delete(sessionId);
  };
  return {
    remember(sessionId, known) {
      forget(sessionId);
      const size = measure(known, limits.one);
      if (size > limits.one) return;
      sessions.set(sessionId, { known, characters: size });
      characters += size;
      for (const oldest of sessions.keys()) {
        if (characters <= limits.all) break;
        forget(oldest);
      }
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

/** The characters of a value, counted no further than a little over `most`: texts can be large. */
function countCharacters(value: unknown, most: number): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  let count = 0;
  for (const [key, part] of Object.entries(value)) {
    count += key.length + countCharacters(part, most - count);
    if (count > most) break;
  }
  return count;
}
