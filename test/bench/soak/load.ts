// The soak's load: sessions of all kinds at a constant rate, whether those before have ended or not, and reads beside.
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
const SESSIONS_PER_S = 5;
/** Sessions that may be under way: with more, Tandem is not keeping up with a load that it should carry. */
const MAX_UNDER_WAY = 200;
const READ_EVERY_MS = 250;

/**
 * Starts it.
 *
 * @param idleSession one that nothing happens to, for polls that wait in vain
 */
export function startLoad(api: ApiClient, idleSession: { id: string; cursor: number }): Load {
  const underWay = new Set<Promise<unknown>>();
  const faults: string[] = [];
  const stopping = new AbortController();
  let started = 0;
  let ended = 0;

  const follow = (what: string, work: Promise<unknown>) => {
    const followed = work
      .catch((error: Error) => faults.push(`${what}: ${error.message}`))
      .finally(() => underWay.delete(followed));
    underWay.add(followed);
  };
  const startSession = () => {
    if (started - ended >= MAX_UNDER_WAY) {
      faults.push(`${MAX_UNDER_WAY} sessions are under way: the load is not kept up with`);
      return stopping.abort();
    }
    const number = started++;
    const { name, play } = pickKind(number);
    follow(
      `session ${number}, ${name}`,
      play(api, `soak.${number}`).finally(() => ended++),
    );
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
  const pacers = [
    pace(1_000 / SESSIONS_PER_S, startSession, stopping.signal),
    pace(
      READ_EVERY_MS,
      () => follow("a read", reads[read++ % reads.length]?.() ?? Promise.resolve()),
      stopping.signal,
    ),
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
      await Promise.race([Promise.all(underWay), delay(patienceMs, undefined, { ref: false })]);
      if (underWay.size > 0)
        faults.push(`${underWay.size} requests or sessions did not end in ${patienceMs} ms`);
    },
  };
}

/** Calls every so often; what is late is made up for. */
async function pace(everyMs: number, call: () => void, signal: AbortSignal): Promise<void> {
  for (let at = performance.now(); !signal.aborted; at += everyMs) {
    await delay(Math.max(0, at - performance.now()), undefined, { signal }).catch(() => undefined);
    if (!signal.aborted) call();
  }
}
