// The soak's load: sessions of all kinds at a constant rate, and reads beside. On a machine that is too busy with other
// things, what is late is made up for later: a pile of sessions would tell about the machine.
import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../api-client.ts";
import { pickKind } from "./session-kinds.ts";

/** A load that goes on. */
export interface Load {
  readonly started: number;
  readonly ended: number;
  /** What went wrong, in words. */
  readonly faults: readonly string[];
  /** Starts nothing more, and waits until what has started has ended, or for so long. */
  stop(patienceMs: number): Promise<void>;
}

/** A session every two seconds for half an hour, ten times as fast. */
export const SESSIONS_PER_S = 5;
const READ_EVERY_MS = 250;
/** Sessions, and reads, that may be under way; more wait. */
const MAX_SESSIONS = 16;
const MAX_READS = 8;

/**
 * Starts it.
 *
 * @param idleSession one that nothing happens to, for polls that wait in vain
 */
export function startLoad(api: ApiClient, idleSession: { id: string; cursor: number }): Load {
  const sessions = new Set<Promise<unknown>>();
  const readsUnderWay = new Set<Promise<unknown>>();
  const faults: string[] = [];
  const stopping = new AbortController();
  let started = 0;
  let ended = 0;

  const follow = (what: string, work: Promise<unknown>, underWay: Set<Promise<unknown>>) => {
    const followed = work
      .catch((error: Error) => faults.push(`${what}: ${error.message}`))
      .finally(() => underWay.delete(followed));
    underWay.add(followed);
  };
  const startSession = () => {
    if (sessions.size >= MAX_SESSIONS) return false;
    const number = started++;
    const { name, play } = pickKind(number);
    const played = play(api, `soak.${number}`).finally(() => ended++);
    follow(`session ${number}, ${name}`, played, sessions);
    return true;
  };
  const reads: (() => Promise<unknown>)[] = [
    () => api.call("GET", "/sessions?size=20"),
    () => api.call("GET", `/sessions/${idleSession.id}`),
    () => api.call("GET", `/sessions/${idleSession.id}/status`),
    // Answers 204 after a second.
    () =>
      api.call(
        "GET",
        `/sessions/${idleSession.id}/changes?from_index=${idleSession.cursor}&wait_for_seconds=1`,
      ),
    () => api.call("GET", `/sessions/${idleSession.id}/events?size=5`),
  ];
  let read = 0;
  const startRead = () => {
    if (readsUnderWay.size >= MAX_READS) return false;
    follow("a read", reads[read++ % reads.length]?.() ?? Promise.resolve(), readsUnderWay);
    return true;
  };
  const pacers = [
    pace(1_000 / SESSIONS_PER_S, startSession, stopping.signal),
    pace(READ_EVERY_MS, startRead, stopping.signal),
  ];
  return {
    get started() {
      return started;
    },
    get ended() {
      return ended;
    },
    faults,
    async stop(patienceMs) {
      stopping.abort();
      await Promise.all(pacers);
      const all = Promise.all([...sessions, ...readsUnderWay]);
      await Promise.race([all, delay(patienceMs, undefined, { ref: false })]);
      if (sessions.size > 0) faults.push(`${sessions.size} sessions did not end within ${patienceMs} ms`);
      if (readsUnderWay.size > 0) faults.push(`${readsUnderWay.size} reads were not answered`);
    },
  };
}

/** How long a start that had no room waits until it is tried again, in milliseconds. */
const ROOM_MS = 20;

/** Starts something every so often; what had no room is made up for. */
async function pace(everyMs: number, start: () => boolean, signal: AbortSignal): Promise<void> {
  const wait = (ms: number) => delay(Math.max(0, ms), undefined, { signal }).catch(() => undefined);
  for (let at = performance.now(); !signal.aborted; at += everyMs) {
    await wait(at - performance.now());
    while (!signal.aborted && !start()) await wait(ROOM_MS);
  }
}
