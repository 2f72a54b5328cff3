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
  const faults: string[] = [];
  const tellFault = (fault: string) => faults.push(fault);
  const sessions = createLane(MAX_SESSIONS, tellFault);
  const reads = createLane(MAX_READS, tellFault);
  const stopping = new AbortController();
  const startSession = () => {
    const number = sessions.started;
    const { name, play } = pickKind(number);
    return sessions.tryStart(`session ${number}, ${name}`, () => play(api, `soak.${number}`));
  };
  const paths = toReadPaths(idleSession);
  const startRead = () => {
    const path = paths[reads.started % paths.length] ?? "";
    return reads.tryStart(path, () => api.call("GET", path));
  };
  const pacers = [
    pace(1_000 / SESSIONS_PER_S, startSession, stopping.signal),
    pace(READ_EVERY_MS, startRead, stopping.signal),
  ];
  return {
    get started() {
      return sessions.started;
    },
    get ended() {
      return sessions.ended;
    },
    faults,
    async stop(patienceMs) {
      stopping.abort();
      await Promise.all(pacers);
      const ended = Promise.all([sessions.untilIdle(), reads.untilIdle()]);
      await Promise.race([ended, delay(patienceMs, undefined, { ref: false })]);
      const left = sessions.started - sessions.ended;
      if (left > 0) tellFault(`${left} sessions did not end within ${patienceMs} ms`);
      if (reads.started > reads.ended) tellFault("reads were not answered");
    },
  };
}

/** What is read beside the sessions. The poll answers 204 after a second. */
const toReadPaths = ({ id, cursor }: { id: string; cursor: number }): string[] => [
  "/sessions?size=20",
  `/sessions/${id}`,
  `/sessions/${id}/status`,
  `/sessions/${id}/changes?from_index=${cursor}&wait_for_seconds=1`,
  `/sessions/${id}/events?size=5`,
];

/** Work of one kind, so much of it at once at most. */
function createLane(max: number, tellFault: (fault: string) => void) {
  const underWay = new Set<Promise<unknown>>();
  let started = 0;
  return {
    get started() {
      return started;
    },
    get ended() {
      return started - underWay.size;
    },
    /** Starts it, unless there is no room. */
    tryStart(what: string, work: () => Promise<unknown>): boolean {
      if (underWay.size >= max) return false;
      started++;
      const followed = work()
        .catch((error: Error) => tellFault(`${what}: ${error.message}`))
        .finally(() => underWay.delete(followed));
      underWay.add(followed);
      return true;
    },
    untilIdle: () => Promise.all(underWay),
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
