// What clients that wait cost one API process. They hang on sockets of another process; no worker runs meanwhile, so
// that nothing else is counted.
//
// `waiters_N`: memory of the API process with N waiters, each on a session of its own, less that without any, for each of
// them. Garbage is collected first, both times; what the process grows by for other reasons, such as code that is
// compiled, counts as theirs. It is the growth of what is in RAM (RSS), or that of what is in use on and beside the
// JavaScript heap where that is more: few waiters find room in what the start left behind. `…_heap`: the latter.
// `…_connections`: database connections that are in use at the same moment, sampled; the floor is the same with none.
// `…_create`, `…_status`: how long creating a session and reading a status take with them; the floor is the same with
// none, measured before and after.
// `…_wake_all`: N waiters on 100 sessions, which are cancelled eight at a time; from the first request until the last
// waiter has its body. `…_wake_one`: the same with all of them on one session. A poll that is refused is sent again;
// `…_refused` is how often one was, in all.
import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../api-client.ts";
import { monotonicMs } from "../clock.ts";
import { copySession } from "../copy-session.ts";
import { createWaitingSession, type WaitingSession } from "../create-waiting-session.ts";
import { type Figure, toFigure, toSingleFigure } from "../figure.ts";
import type { Group, Run } from "../group.ts";
import { toCreateBody } from "../plan.ts";
import { hasProc, readHandleLimit, readResidentKib, untilIdle } from "../proc.ts";
import { readHeapKib } from "../read-heap.ts";
import { createSamples, medianOf, type Samples } from "../samples.ts";
import { type Stack, startStack } from "../stack.ts";
import { startWaiters, type Waiters } from "../waiters.ts";

const COUNTS = [1_000, 5_000, 10_000];
/** More than these take too long for a quick run. */
const QUICK_COUNT = 1_000;
const WAKE_ALL_SESSIONS = 100;
const CANCELS_AT_ONCE = 8;
const WARM_UP_REQUESTS = 10;
/** Files and sockets that a process needs beside those of waiters. */
const OTHER_HANDLES = 200;
const CONNECTION_SAMPLES = 40;
const CONNECTION_EVERY_MS = 25;

const waitersGroup = (count: number): Group => ({
  names: Object.values(namesOf(count)),
  isLong: count > QUICK_COUNT,
  measure: (run) => measure(run, count),
});

/** By how many wait. */
export const waitingPollGroups: Group[] = COUNTS.map(waitersGroup);

function namesOf(count: number) {
  const memory = `waiters_${count}`;
  return {
    memory,
    heap: `${memory}_heap`,
    connections: `${memory}_connections`,
    create: `${memory}_create`,
    status: `${memory}_status`,
    wakeAll: `${memory}_wake_all`,
    wakeOne: `${memory}_wake_one`,
    refused: `${memory}_refused`,
  };
}

/** What is measured with and without waiters. */
interface Others {
  create: Samples;
  status: Samples;
  connections: Samples;
}

const createOthers = (): Others => ({
  create: createSamples(),
  status: createSamples(),
  connections: createSamples(),
});

/** A stack, sessions to wait for, and clients. */
interface Scene {
  stack: Stack;
  waiters: Waiters;
  /** The session that all others are copies of. */
  template: WaitingSession;
  /** One more than there are waiters. */
  copies: string[];
}

async function measure(run: Run, count: number): Promise<Figure[]> {
  const names = namesOf(count);
  const scene = await openScene(run, count);
  const { stack, waiters, template, copies } = scene;
  const requests = run.quick ? 25 : 100;
  const none = createOthers();
  const some = createOthers();
  // What a process needs for its first requests, it needs once; many would leave room for the waiters in its heap.
  await measureOthers(scene, createOthers(), WARM_UP_REQUESTS);
  const before = await readMemory(stack);
  await measureOthers(scene, none, requests);
  await waiters.hold(stack, toPolls(template, copies.slice(0, count)));
  await measureOthers(scene, some, requests);
  const after = await readMemory(stack);
  const { refused } = await waiters.release(stack);
  await measureOthers(scene, none, requests);
  const each = (what: keyof Memory) => Math.max(0, after[what] - before[what]) / count;
  const memory = Math.max(each("residentKib"), each("heapKib"));
  const all = await measureWake(scene, count, copies.slice(0, WAKE_ALL_SESSIONS));
  const one = await measureWake(scene, count, copies.slice(-1));
  run.tell(`${names.memory}: ${memory.toFixed(1)} KiB each, all woken in ${all.ms.toFixed(0)} ms`);
  return [
    toSingleFigure({ name: names.memory, unit: "KiB", value: memory }),
    toSingleFigure({ name: names.heap, unit: "KiB", value: each("heapKib") }),
    ...(["connections", "create", "status"] as const).map((what) =>
      toFigure({
        ...{ name: names[what], unit: what === "connections" ? "connections" : "ms" },
        ...{ samples: some[what], floor: medianOf(none[what]) },
      }),
    ),
    toSingleFigure({ name: names.wakeAll, unit: "ms", value: all.ms }),
    toSingleFigure({ name: names.wakeOne, unit: "ms", value: one.ms }),
    toSingleFigure({ name: names.refused, unit: "polls", value: refused + all.refused + one.refused }),
  ];
}

async function openScene({ stage, closers }: Run, count: number): Promise<Scene> {
  if (!hasProc) throw new Error("Memory is read from /proc, which this system has not: leave waiters_ out");
  if (readHandleLimit() < count + OTHER_HANDLES)
    throw new Error(
      `${count} waiters need as many sockets, and the limit is ${readHandleLimit()}: ulimit -Hn`,
    );
  const nodeFlags = ["--expose-gc", "--import", stage.paths.garbage];
  const stack = await startStack(stage, { name: `waiters_${count}`, nodeFlags });
  closers.push(() => stack.close());
  const waiters = await startWaiters(stage, closers);
  const template = await createWaitingSession(stack.api, { key: "template", calls: 1 });
  await stack.stopWorkers();
  const copies = await copySession({ db: stack.db, sessionId: template.id, count: count + 1 });
  return { stack, waiters, template, copies };
}

const toPolls = ({ cursor }: WaitingSession, sessions: readonly string[]) =>
  sessions.map((sessionId) => ({ sessionId, cursor }));

/** Memory of the API process, when it rests and its garbage is collected. */
interface Memory {
  residentKib: number;
  heapKib: number;
}

async function readMemory({ apiProgram }: Stack): Promise<Memory> {
  const { pid } = apiProgram;
  await untilIdle([pid]);
  const heapKib = await readHeapKib(apiProgram);
  // Freed pages go back to the system a little later.
  await delay(500);
  return { residentKib: readResidentKib(pid), heapKib };
}

/** Adds the times of other requests, and the connections that are in use between them. */
async function measureOthers({ stack, template }: Scene, into: Others, count: number): Promise<void> {
  const { api, db } = stack;
  const { id } = template;
  for (let i = 0; i < count; i++) {
    await addTime(into.status, () => api.call("GET", `/sessions/${id}/status`));
    await addTime(into.create, () => api.call("POST", "/sessions", toCreateBody({ key: "other", steps: 1 })));
  }
  for (let i = 0; i < CONNECTION_SAMPLES; i++) {
    const { rows } = await db.query(CONNECTIONS_IN_USE);
    into.connections.add(rows[0].count);
    await delay(CONNECTION_EVERY_MS);
  }
}

/** Connections that idle in a pool are nobody's; a transaction that waits for its client is somebody's. */
const CONNECTIONS_IN_USE = `SELECT count(*)::int AS count FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
    AND state <> 'idle'`;

async function addTime(samples: Samples, work: () => Promise<unknown>): Promise<void> {
  const startedAt = monotonicMs();
  await work();
  samples.add(monotonicMs() - startedAt);
}

/** Lets so many clients wait on these sessions and cancels them all; the time until the last has its body. */
async function measureWake(
  { stack, waiters, template }: Scene,
  count: number,
  sessions: readonly string[],
): Promise<{ ms: number; refused: number }> {
  const spread = Array.from({ length: count }, (_, i) => sessions[i % sessions.length] ?? "");
  const polls = toPolls(template, spread);
  await waiters.hold(stack, polls);
  const woken = waiters.allWoken();
  const startedAt = monotonicMs();
  const [{ wokenAt, refused }] = await Promise.all([woken, cancelAll(stack.api, sessions)]);
  await waiters.release(stack);
  return { ms: (wokenAt.at(-1) ?? Number.NaN) - startedAt, refused };
}

async function cancelAll(api: ApiClient, sessions: readonly string[]): Promise<void> {
  const left = [...sessions];
  const loop = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) await api.call("DELETE", `/sessions/${id}`);
  };
  await Promise.all(Array.from({ length: CANCELS_AT_ONCE }, loop));
}
