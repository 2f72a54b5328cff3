// Tells the text of a model request to whoever watches its session, while it comes. Text that cannot be told they get
// when the step has ended: its events hold all of it.
import { isHighSurrogate, toCut, toTextNotes } from "@tandem/engine/wake/stream-notes";
import type { Wake } from "@tandem/engine/wake/wake";
import type { WatchedSessions } from "./watched-sessions.ts";

/** How long text is gathered before it is told, in milliseconds. */
const GATHER_MS = 50;

/** Most UTF-16 units that are told at once: one who comes late must not hold up the wake-ups of others. */
const MAX_UNITS = 32_000;

/** The text of one model request. */
export interface ToldText {
  /** Adds what the model has said. */
  add(delta: string): void;
  /** The request is over: the rest is told now. */
  end(): void;
}

/** Which request a text is of. */
export interface TextSource {
  sessionId: string;
  /** The number of the step, from 1. */
  step: number;
  /** The fencing token of its claim. */
  fence: number;
}

/**
 * Begins with no text, and tells so: a watcher that this process has not heard of answers. All of it is kept until its
 * end, for those who come late.
 */
export function tellText(
  { wake, watched }: { wake: Pick<Wake, "tell">; watched: WatchedSessions },
  source: TextSource,
): ToldText {
  let text = "";
  let told = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  const tell = () => {
    clearTimeout(timer);
    timer = undefined;
    // The second half of a pair may be on its way.
    const whole = isHighSurrogate(text, text.length - 1) ? text.length - 1 : text.length;
    if (whole <= told || !watched.isWatched(source.sessionId)) return;
    const end = whole - told > MAX_UNITS ? toCut(text, told + MAX_UNITS) : whole;
    const notes = toTextNotes({ ...source, offset: told, text: text.slice(told, end) });
    // Before they are heard: a reader in this process may ask for more while it hears them.
    told = end;
    lastMs = performance.now();
    for (const note of notes) wake.tell(note);
    if (told < whole) tellSoon();
  };
  const tellSoon = () => {
    timer ??= setTimeout(tell, Math.max(0, lastMs + GATHER_MS - performance.now()));
  };
  const stop = watched.follow(source.sessionId, ({ fence, length }) => {
    told = Math.min(told, fence === source.fence ? length : 0);
    tellSoon();
  });
  for (const note of toTextNotes({ ...source, offset: 0, text: "" })) wake.tell(note);
  return {
    add(delta) {
      text += delta;
      tellSoon();
    },
    end() {
      stop();
      tell();
      clearTimeout(timer);
    },
  };
}
