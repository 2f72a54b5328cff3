// How soon a waiting client has the body after a commit.
//
// One client waits in a long poll; another posts one of the results that the session waits for, which commits two
// events and wakes. The time runs from the moment at which Postgres dates that commit (`pg_xact_commit_timestamp`) to
// the moment at which the whole body of the poll has come, both by the wall clock of this machine. Postgres dates a
// commit just before it writes it to the disk: so the time has the commit's own writing in it, which
// `floor_commit_flush` tells, and errs to the longer side.
//
// The floor is a bare HTTP round trip to the same API, in turn with the wake-ups. `_1` is with no other waiter, `_1000`
// with 1,000 others on other sessions, `_across` with the poll at another API process than the post.

import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../api-client.ts";
import { findWallOffset, monotonicMs } from "../clock.ts";
import { copySession } from "../copy-session.ts";
import { createWaitingSession } from "../create-waiting-session.ts";
import { type Figure, toFigure } from "../figure.ts";
import { openCommitFloor } from "../floors/commits.ts";
import { measureHttp } from "../floors/http.ts";
import type { Group, Run } from "../group.ts";
import { type Changes, toResultBody } from "../play-session.ts";
import { createSamples, medianOf, type Samples } from "../samples.ts";
import { type Stack, startStack } from "../stack.ts";
import { startWaiters } from "../waiters.ts";

/** Wake-ups of one session: calls that are settled one by one, while another is left. */
const WAKES = 20;
const OTHERS = 1_000;
/** How long a poll needs at most until it waits, in milliseconds. */
const ARMING_MS = 15;

const wakeUpGroup = (backend: "postgres" | "redis"): Group => {
  const suffix = backend === "redis" ? "_redis" : "";
  return {
    names: ["wake_up_1", "wake_up_1000", "wake_up_1_across", "floor_commit_flush"].map(
      (name) => name + suffix,
    ),
    needsRedis: backend === "redis",
    measure: (run) => measure(run, backend, suffix),
  };
};

/** On either backend. */
export const wakeUpGroups: Group[] = [wakeUpGroup("postgres"), wakeUpGroup("redis")];

async function measure(run: Run, backend: "postgres" | "redis", suffix: string): Promise<Figure[]> {
  const { stage, closers, quick, tell } = run;
  const stack = await startStack(stage, { name: `wake_${backend}`, backend });
  closers.push(() => stack.close());
  const otherApi = await stack.addApi();
  const waiters = await startWaiters(stage, closers);
  const commitFloor = await openCommitFloor(stage, closers);
  const waiting = await createWaitingSession(stack.api, { key: "template", calls: 1 });
  const others = await copySession({ db: stack.db, sessionId: waiting.id, count: OTHERS });
  const polls = others.map((sessionId) => ({ sessionId, cursor: waiting.cursor }));
  const sessions = quick ? 2 : 5;
  const [alone, among, across, http, flush] = Array.from({ length: 5 }, createSamples) as [
    Samples,
    Samples,
    Samples,
    Samples,
    Samples,
  ];
  const play = async (name: string, waiter: ApiClient, wakes: Samples) => {
    for (let session = 0; session < sessions; session++) {
      await measureHttp(stack.api, http.add, WAKES);
      await commitFloor.measureFlush(flush.add, WAKES);
      await measureWakes({ stack, waiter, key: `${name}.${session}`, wakes });
    }
  };
  await play("warm-up", stack.api, createSamples());
  await play("warm-up-across", otherApi, createSamples());
  for (let round = 1; round <= run.rounds; round++) {
    await play(`alone.${round}`, stack.api, alone);
    await play(`across.${round}`, otherApi, across);
    await waiters.hold(stack, polls);
    await play(`among.${round}`, stack.api, among);
    await waiters.release(stack);
    tell(`wake_up_1${suffix}: round ${round}, ${medianOf(alone).toFixed(2)} ms`);
  }
  const floor = medianOf(http);
  const unit = "ms";
  return [
    toFigure({ name: `wake_up_1${suffix}`, unit, samples: alone, floor }),
    toFigure({ name: `wake_up_1000${suffix}`, unit, samples: among, floor }),
    toFigure({ name: `wake_up_1_across${suffix}`, unit, samples: across, floor }),
    toFigure({ name: `floor_commit_flush${suffix}`, unit, samples: flush }),
  ];
}

/** Settles the calls of one session one after the other, each while a poll waits. */
async function measureWakes(session: {
  stack: Stack;
  waiter: ApiClient;
  key: string;
  wakes: Samples;
}): Promise<void> {
  const { stack, waiter, key, wakes } = session;
  const { id, calls, ...from } = await createWaitingSession(stack.api, { key, calls: WAKES + 1 });
  let { cursor } = from;
  const offset = await findWallOffset();
  const received: { event: number; atMs: number }[] = [];
  for (const call of calls.slice(0, WAKES)) {
    const woken = pollTimed(waiter, id, cursor);
    await delay(ARMING_MS);
    await stack.api.call("POST", `/sessions/${id}/tool_results`, toResultBody(call, "Found."));
    const { changes, atMs } = await woken;
    cursor = changes.next_index;
    received.push({ event: cursor - 1, atMs: atMs + offset });
  }
  await stack.api.call("DELETE", `/sessions/${id}`);
  const committedAt = await readCommitMoments(stack, id);
  for (const { event, atMs } of received) wakes.add(atMs - (committedAt.get(event) ?? Number.NaN));
}

async function pollTimed(
  api: ApiClient,
  id: string,
  cursor: number,
): Promise<{ changes: Changes; atMs: number }> {
  const path = `/api/v2/sessions/${id}/changes?from_index=${cursor}&wait_for_seconds=20`;
  const { status, text } = await api.send("GET", path);
  const atMs = monotonicMs();
  if (status !== 200) throw new Error(`A poll that was to be woken got ${status}`);
  return { changes: JSON.parse(text) as Changes, atMs };
}

/** When the transactions committed that wrote a session's events, by index, in epoch milliseconds. */
async function readCommitMoments({ db }: Stack, sessionId: string): Promise<Map<number, number>> {
  const { rows } = await db.query<{ index: number; ms: number }>(
    `SELECT index, (extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000)::float8 AS ms
       FROM events WHERE session_id = $1`,
    [sessionId],
  );
  return new Map(rows.map(({ index, ms }) => [index, ms]));
}
