// The sessions that somebody watches at the moment, as the API processes tell.
import { readStreamNote } from "@tandem/engine/wake/stream-notes";
import type { Wake } from "@tandem/engine/wake/wake";

/** How long a watch is remembered, in milliseconds. It is told again every 10 s. */
const REMEMBER_MS = 30_000;

/** What a watcher knows of the text of a session's running request. */
export interface WatcherState {
  /** The claim whose request it knows; 0 for none. */
  fence: number;
  length: number;
}

/** Who watches what. */
export interface WatchedSessions {
  /** True when somebody watches the session. */
  isWatched(sessionId: string): boolean;
  /** Calls back whenever a watch of the session is told. Returns the way to stop. */
  follow(sessionId: string, onWatch: (state: WatcherState) => void): () => void;
  close(): void;
}

/** Listens from now on. */
export function createWatchedSessions(wake: Pick<Wake, "hear">): WatchedSessions {
  // The order of the entries is that of their ends, since the newest is put last.
  const endsMs = new Map<string, number>();
  const followers = new Map<string, Set<(state: WatcherState) => void>>();

  const forgetEnded = () => {
    for (const [sessionId, endMs] of endsMs) {
      if (endMs > performance.now()) return;
      endsMs.delete(sessionId);
    }
  };
  const stop = wake.hear((text) => {
    const note = text.startsWith("watch.") ? readStreamNote(text) : null;
    if (note?.kind !== "watch") return;
    forgetEnded();
    endsMs.delete(note.sessionId);
    endsMs.set(note.sessionId, performance.now() + REMEMBER_MS);
    for (const onWatch of followers.get(note.sessionId) ?? []) onWatch(note);
  });
  return {
    isWatched: (sessionId) => (endsMs.get(sessionId) ?? 0) > performance.now(),
    follow(sessionId, onWatch) {
      const others = followers.get(sessionId) ?? new Set();
      followers.set(sessionId, others.add(onWatch));
      return () => {
        others.delete(onWatch);
        if (others.size === 0 && followers.get(sessionId) === others) followers.delete(sessionId);
      };
    },
    close: stop,
  };
}
