// What a worker remembers of sessions whose steps it has written: the next step of one needs to be told only what is new.
import type { StoredEvent } from "../domain/events.ts";
import { stringifyJson } from "../domain/json.ts";
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

/** Most characters of JSON that are remembered of all sessions, and of one. */
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
      const size = countCharacters(known, limits.one);
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

/** The characters of its JSON, or more than so many: of a history that is too long most is not looked at. */
function countCharacters({ terms, events }: KnownSession, most: number): number {
  let characters = stringifyJson(terms).length;
  for (const event of events) {
    if (characters > most) break;
    characters += stringifyJson(event).length;
  }
  return characters;
}
