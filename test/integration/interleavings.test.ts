// Two things that happen to a session at the same moment: both are held up at the session's row and then let go, in
// either order. What comes of it must be what comes of one after the other.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BareEngine, startBareEngine } from "../support/bare-engine.ts";
import { callSituations } from "../support/call-situations.ts";
import type { ModelSession } from "../support/modelled-session.ts";
import { type Locks, openLocks } from "../support/row-lock.ts";
import type { Action } from "../support/session-actions.ts";
import { findSessionFaults } from "../support/session-invariants.ts";
import { SessionModel } from "../support/session-model.ts";
import {
  compareRows,
  createReal,
  jumpClocks,
  run,
  settle,
  type Walk,
  type WalkSession,
} from "../support/session-walk.ts";
import { type Situation, situations } from "../support/situations.ts";
import { waitFor } from "../support/wait-for.ts";

describe("two things at once", () => {
  let bare: BareEngine;
  let locks: Locks;
  let count = 0;
  beforeAll(async () => {
    bare = await startBareEngine();
    locks = await openLocks(bare.databaseUrl);
  });
  afterAll(async () => {
    await locks.close();
    await bare.close();
  });

  const arrange = async ({ path, options = {} }: Situation) => {
    const principal = await bare.addOrganization(`race ${count++}`);
    const walk: Walk = { bare, engine: bare.engine, principal, stranger: principal, sessions: [] };
    const model = new SessionModel(0);
    const created = { idle: null, maxTime: null, maxSteps: null, queue: true, ...options };
    model.create(created);
    await createReal(walk, created);
    for (const part of path) {
      if (typeof part === "number") await jumpClocks(model, walk, part);
      else await run(model, walk, { place: 0, action: part });
    }
    return { model, walk };
  };

  /** Does both at once, the first one first at the row. Gives them back in the order in which they took effect. */
  const race = async (walk: Walk, at: ModelSession, pair: [Action, Action]) => {
    const session = walk.sessions[0] as WalkSession;
    const runs: { action: Action; outcome: ReturnType<typeof settle>; isOver: boolean }[] = [];
    const lock = await locks.holdSession(session.id);
    try {
      for (const action of pair) {
        const entry = { action, outcome: settle(action.act(walk, session, at)), isOver: false };
        const end = () => {
          entry.isOver = true;
        };
        entry.outcome.then(end, end);
        runs.push(entry);
        // A claim that finds nothing to claim waits for nobody.
        const isSettled = async () => (await lock.countWaiters()) >= runs.filter((run) => !run.isOver).length;
        await waitFor(isSettled, { what: `${action.words} to wait at the row` });
      }
      runs.sort((a, b) => Number(b.isOver) - Number(a.isOver));
    } finally {
      await lock.release();
    }
    return Promise.all(runs.map(async ({ action, outcome }) => ({ action, ...(await outcome) })));
  };

  const check = async (situation: Situation, pair: [Action, Action]) => {
    const { model, walk } = await arrange(situation);
    const session = model.sessions[0] as ModelSession;
    const at = structuredClone(session);
    for (const { action, ...outcome } of await race(walk, at, pair)) {
      const { error, result } = action.expected(model, session, at);
      expect(outcome.error).toBe(error);
      if (result !== undefined) expect(outcome.result).toEqual(result);
    }
    await compareRows(model, walk);
    expect(await findSessionFaults(bare.engine.pool, walk.sessions[0]?.id ?? "")).toEqual([]);
  };

  it.each([...situations, ...callSituations])(
    "come to the same as one after the other, with $name",
    async (situation) => {
      const { contenders } = situation;
      for (const first of contenders) {
        for (const second of contenders) {
          try {
            await check(situation, [first, second]);
          } catch (error) {
            throw new Error(`${first.words}, then ${second.words}, at ${situation.name}`, { cause: error });
          }
        }
      }
    },
  );
});
