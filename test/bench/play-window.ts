// A load that is as high all the time, and what it comes to within a window of it.
import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { waitFor } from "../support/wait-for.ts";

/** How long the sessions of a window may take, in milliseconds. */
const PATIENCE_MS = 120_000;

/** How to load. */
export interface WindowOptions {
  /** Sessions that are under way at once. */
  concurrency: number;
  /** How long the load goes on before it is measured, in milliseconds. */
  warmUpMs: number;
  /** How long it is measured at least, in milliseconds. */
  windowMs: number;
  /** Sessions that have to end within the window: it stays open until they have. */
  minSessions: number;
  /** Plays one session to its end; the number is unique within the window. */
  play: (number: number) => Promise<unknown>;
  /** Called when the window opens and when it closes, under load. */
  onEdge?: (edge: "open" | "close") => Promise<void>;
}

/** What a window saw. */
export interface WindowResult {
  /** How long each of the sessions took that ended within it, in milliseconds. */
  latenciesMs: number[];
  seconds: number;
  /** Sessions that were played in all, in the window and around it. */
  played: number;
}

/** Keeps so many sessions under way; those that are when the window closes are played to their end and not counted. */
export async function playWindow(options: WindowOptions): Promise<WindowResult> {
  const { concurrency, play, onEdge } = options;
  let latenciesMs: number[] = [];
  let number = 0;
  const over = new AbortController();
  // Every loop listens, which is no leak.
  setMaxListeners(0, over.signal);
  const wait = (ms: number) => delay(ms, undefined, { signal: over.signal }).catch(() => undefined);
  const loop = async (_: unknown, position: number) => {
    // All at once would stay in step, and end all at once.
    await wait((position / concurrency) * options.warmUpMs);
    while (!over.signal.aborted) {
      const startedAt = performance.now();
      await play(number++);
      latenciesMs.push(performance.now() - startedAt);
    }
  };
  const untilEnded = (count: number) =>
    waitFor(() => over.signal.aborted || latenciesMs.length >= count, {
      what: `${count} sessions to end`,
      timeoutMs: PATIENCE_MS,
    });
  const measure = async () => {
    await Promise.all([wait(options.warmUpMs), untilEnded(concurrency)]);
    await onEdge?.("open");
    latenciesMs = [];
    const openedAt = performance.now();
    await Promise.all([wait(options.windowMs), untilEnded(options.minSessions)]);
    const seen = [...latenciesMs];
    const seconds = (performance.now() - openedAt) / 1_000;
    await onEdge?.("close");
    return { latenciesMs: seen, seconds };
  };
  // A session that fails ends the window at once, and a window that is over ends the load.
  const end = () => over.abort();
  const loops = Promise.all(Array.from({ length: concurrency }, loop)).finally(end);
  const [result] = await Promise.all([measure().finally(end), loops]);
  return { ...result, played: number };
}
