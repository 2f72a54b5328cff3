// Two things that happen to a session at the same moment: both are held up at the session's row and then let go, in
// either order. What comes of it must be what comes of one after the other.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BareEngine, startBareEngine } from "../support/bare-engine.ts";
import {
  decide,
  post,
  progress,
  putTools,
  toWaitingDecisions,
  toWaitingEntries,
} from "../support/call-actions.ts";
import type { ModelSession } from "../support/modelled-session.ts";
import { type Locks, openLocks } from "../support/row-lock.ts";
import {
  type Action,
  claim,
  expire,
  fail,
  finish,
  giveBack,
  IDLE_S,
  MAX_TIME_S,
  RETRY_S,
  renew,
  steer,
} from "../support/session-actions.ts";
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
import { waitFor } from "../support/wait-for.ts";

const pause = steer("pause");
const resume = steer("resume");
const message = steer("message");
const cancel = steer("cancel");
const forceAnswer = steer("forceAnswer");
const steering = [pause, resume, message, cancel, forceAnswer];
const ask = finish({
  calls: [
    { tool: "look", args: '{"n":1}' },
    { tool: "find", args: '{"n":2}' },
  ],
});
const answer = finish("answer");
const works = [ask, answer, finish("nonsense"), fail(null), fail(RETRY_S), giveBack()];
const postLast = post("the last result", (at) => toWaitingEntries(at, [0]));
const postOther = post("another last result", (at) =>
  toWaitingEntries(at, [0]).map((entry) => ({ ...entry, value: "rain" })),
);
const postAll = post("all results", (at) => toWaitingEntries(at, [1, 0]));

const askGuarded = finish({
  calls: [
    { tool: "send", args: '{"n":1}' },
    { tool: "fetch", args: '{"n":2}' },
  ],
});
const askUrgent = finish({ calls: [{ tool: "must", args: '{"n":1}' }] });
const allow = decide("allow", (at) => toWaitingDecisions(at, [0]));
const deny = decide("deny", (at) => toWaitingDecisions(at, [0], { decision: "deny" }));
const edit = decide("allow with other arguments", (at) => toWaitingDecisions(at, [0], { args: '{"n":2}' }));
const remember = decide("deny for good", (at) =>
  toWaitingDecisions(at, [0], { decision: "deny", remember: true }),
);
const put = putTools("second");
const report = progress(0);

/** How a session came to where the two meet. A number is a jump of the clocks. */
interface Situation {
  name: string;
  path: (Action | number)[];
  options?: Partial<ModelSession["options"]>;
  contenders: Action[];
}

const open = { idle: IDLE_S, maxTime: MAX_TIME_S };
const timed = [pause, message, cancel, forceAnswer, expire];
const waits = [...timed, postLast, postOther];
const situations: Situation[] = [
  { name: "a pending session", path: [], contenders: [...steering, claim] },
  { name: "a running session", path: [claim], contenders: [...steering, ...works] },
  { name: "an unseen message", path: [claim, message], contenders: [pause, cancel, ask, answer, fail(null)] },
  { name: "a pause to come", path: [claim, pause], contenders: [...steering, ask, answer, fail(null)] },
  {
    name: "a lapsed lease and a time that is over",
    path: [claim, 2_100],
    options: open,
    contenders: [...timed, ask, answer, fail(null), renew(), claim],
  },
  {
    name: "a last step whose time is over",
    path: [claim, 2_100, expire, claim, 100],
    options: open,
    contenders: [...timed, answer, fail(null)],
  },
  { name: "two pending calls", path: [claim, ask], contenders: [cancel, pause, postLast, postAll] },
  { name: "one pending call", path: [claim, ask, postLast], contenders: waits },
  { name: "one pending call in vain", path: [claim, ask, postLast, 2_100], options: open, contenders: waits },
  {
    name: "a call that waits for approval, beside one for a result",
    path: [claim, askGuarded],
    contenders: [allow, deny, postLast, forceAnswer, put, progress(1)],
  },
  {
    name: "a call that waits for approval",
    path: [claim, askGuarded, postLast],
    contenders: [allow, deny, edit, remember, cancel, pause],
  },
  {
    name: "a call that waited for approval too long",
    path: [claim, askGuarded, postLast, 400],
    contenders: [allow, deny, expire, cancel, message],
  },
  {
    name: "an approved call",
    path: [claim, askGuarded, postLast, allow],
    contenders: [allow, deny, edit, postLast, report],
  },
  {
    name: "a call that must not be late, and is",
    path: [claim, askUrgent, 500],
    contenders: [expire, postLast, pause, message, cancel, report],
  },
  {
    name: "a pause over a call that is fatally late, and a message that waits",
    path: [claim, askUrgent, message, pause, 500],
    contenders: [expire, resume, postLast],
  },
  {
    name: "a step that nobody could finish, with a message and a pause to come",
    path: [...Array.from({ length: 19 }, () => [claim, 600]).flat(), claim, message, pause, 600, claim],
    contenders: [resume],
  },
  { name: "other tools", path: [claim], contenders: [put, askGuarded, finish("answer"), cancel, giveBack()] },
  { name: "an idle session", path: [claim, answer], options: open, contenders: [message, pause, expire] },
  {
    name: "an idle session whose time is over",
    path: [claim, answer, 1_100],
    options: open,
    contenders: [...timed, resume],
  },
  {
    name: "a pause over a call",
    path: [claim, ask, postLast, pause],
    contenders: [...steering, postLast, postOther, claim],
  },
  {
    name: "a pause over an idle session",
    path: [claim, answer, pause, 1_100],
    options: open,
    contenders: [message, resume, cancel, expire],
  },
  {
    name: "a completed session",
    path: [claim, answer],
    contenders: [message, cancel, pause, postLast, claim],
  },
];

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

  it.each(situations)("come to the same as one after the other, with $name", async (situation) => {
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
  });
});
