// The text of running model requests, put together from what workers tell. Each session's is here once, however many read
// it: a reader has only a place in it.
import { readStreamNote, type TextNote, toWatchNote } from "@tandem/engine/wake/stream-notes";
import type { Wake } from "@tandem/engine/wake/wake";

/** How often workers are told who is watched, in milliseconds; they remember it for 30 s. */
const WATCH_MS = 10_000;

/** How long after a question for missing text no other is asked, in milliseconds. */
const ASK_AGAIN_MS = 250;

/** Most of one text that is held, in UTF-16 units. No reply of a model is as long. */
const MAX_UNITS = 4_000_000;

/** The text of a model request, from its beginning. */
export interface RunningText {
  /** The number of the step, from 1. */
  step: number;
  /** The claim that made the request: of two the greater one is the later. */
  fence: number;
  text: string;
}

/** One who follows a session's text. */
export interface TextFollower {
  /** The text so far; null when no request is known to run. */
  readonly running: RunningText | null;
  /** So many steps have ended: their text is in events now. */
  settle(steps: number): void;
  stop(): void;
}

/** The texts of all sessions that are followed in this process. */
export interface RunningTexts {
  /** Tells the workers that the session is watched, and calls back whenever there is more text. */
  follow(sessionId: string, onText: () => void): TextFollower;
  close(): void;
}

interface Followed {
  running: RunningText | null;
  /** Requests of this claim and earlier ones are over. */
  settledFence: number;
  askedMs: number;
  listeners: Set<() => void>;
}

/** Begins to listen; knows no text yet. */
export function createRunningTexts(wake: Pick<Wake, "tell" | "hear" | "onReopen">): RunningTexts {
  const followed = new Map<string, Followed>();

  const ask = (sessionId: string, { running }: Followed) => {
    const { fence, text } = running ?? { fence: 0, text: "" };
    wake.tell(toWatchNote({ sessionId, fence, length: text.length }));
  };
  const askForAll = () => {
    for (const [sessionId, entry] of followed) ask(sessionId, entry);
  };
  const take = (note: TextNote) => {
    const entry = followed.get(note.sessionId);
    if (!entry || !isCurrent(entry, note)) return;
    const { step, fence } = note;
    if (entry.running?.fence !== fence) entry.running = { step, fence, text: "" };
    const { running } = entry;
    // A request begins, of a worker that may not know that it is watched.
    if (note.text === "") return ask(note.sessionId, entry);
    const missing = note.offset - running.text.length;
    if (missing > 0) {
      if (performance.now() - entry.askedMs < ASK_AGAIN_MS) return;
      entry.askedMs = performance.now();
      ask(note.sessionId, entry);
      return;
    }
    // What is told twice, or to another process that came late, is here already.
    const news = note.text.slice(-missing);
    if (news === "" || running.text.length + news.length > MAX_UNITS) return;
    running.text += news;
    for (const listener of entry.listeners) listener();
  };
  const stops = [
    wake.hear((text) => {
      const note = text.startsWith("text.") ? readStreamNote(text) : null;
      if (note?.kind === "text") take(note);
    }),
    wake.onReopen(askForAll),
  ];
  const timer = setInterval(askForAll, WATCH_MS);
  timer.unref();

  return {
    follow(anyCaseId, onText) {
      const sessionId = anyCaseId.toLowerCase();
      const entry = followed.get(sessionId) ?? createEntry();
      followed.set(sessionId, entry);
      entry.listeners.add(onText);
      ask(sessionId, entry);
      return {
        get running() {
          return entry.running;
        },
        settle(steps) {
          if (!entry.running || entry.running.step > steps) return;
          entry.settledFence = entry.running.fence;
          entry.running = null;
        },
        stop() {
          entry.listeners.delete(onText);
          if (entry.listeners.size === 0 && followed.get(sessionId) === entry) followed.delete(sessionId);
        },
      };
    },
    close() {
      clearInterval(timer);
      for (const stop of stops) stop();
    },
  };
}

const createEntry = (): Followed => ({
  running: null,
  settledFence: 0,
  askedMs: Number.NEGATIVE_INFINITY,
  listeners: new Set(),
});

/** False for what a worker tells that has lost its claim since, or whose request is over. */
function isCurrent({ running, settledFence }: Followed, { fence }: TextNote): boolean {
  return fence > settledFence && fence >= (running?.fence ?? 0);
}
