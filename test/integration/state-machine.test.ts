// Random walks through the state machine, each step of them a command on a real database, compared with a small model of
// what the design says. TANDEM_TEST_RUNS sets the number of walks; fast-check prints the seed of one that fails.
import { sweepTimers } from "@tandem/engine/commands/sweep";
import fc from "fast-check";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type BareEngine, startBareEngine } from "../support/bare-engine.ts";
import {
  CLAIM_S,
  claimForRun,
  decide,
  post,
  postAndGive,
  progress,
  putTools,
  toWaitingDecisions,
  toWaitingEntries,
} from "../support/call-actions.ts";
import {
  type Decided,
  type ModelReply,
  type ModelSession,
  type Posted,
  placesOf,
} from "../support/modelled-session.ts";
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
  STEERING,
  type Steering,
  steer,
  steerAsStranger,
} from "../support/session-actions.ts";
import { SessionModel } from "../support/session-model.ts";
import { type Command, compare, createReal, jumpClocks, run, type Walk } from "../support/session-walk.ts";
import { ARGUMENTS, CALLED, type Toolset } from "../support/walk-tools.ts";

const RUNS = Number(process.env.TANDEM_TEST_RUNS ?? 80);
const RUN_MS = 2_000;

const create = (options: ModelSession["options"]): Command => ({
  check: (model) => model.sessions.length < (model.limit > 0 ? 5 : 2),
  async run(model, walk) {
    const expected = model.create(options);
    await compare({ model, walk, expected, place: null }, () => createReal(walk, options));
  },
  toString: () => `create ${JSON.stringify(options)}`,
});

/** An action on one of the sessions. */
const on = (pick: number, action: Action): Command => ({
  check({ sessions }) {
    const session = sessions[pick % Math.max(sessions.length, 1)];
    return session !== undefined && (action.isPossible?.(session) ?? true);
  },
  run: (model, walk) => run(model, walk, { place: pick % model.sessions.length, action }),
  toString: () => `${action.words} #${pick}`,
});

const sweepAll: Command = {
  check: () => true,
  async run(model, walk) {
    const all = [...model.sessions].map((session) => model.expire(session));
    const expected = { isSilent: all.every(({ isSilent }) => isSilent === true) };
    await compare({ model, walk, expected, place: null }, () => sweepTimers(walk.engine));
  },
  toString: () => "sweep timers",
};

const jump = (seconds: number): Command => ({
  check: (model) => model.sessions.length > 0,
  run: (model, walk) => jumpClocks(model, walk, seconds),
  toString: () => `jump ${seconds} s`,
});

const pick = fc.nat(9);
const back = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constantFrom(1, 2) },
);
const called = fc.constantFrom(...CALLED, "pay", "send");
const mixed = fc.array(fc.record({ tool: called, args: fc.constantFrom(...ARGUMENTS) }), {
  minLength: 1,
  maxLength: 4,
});
// What is remembered of a tool counts for its other calls.
const calls = fc.oneof(
  mixed,
  fc.tuple(mixed, called).map(([all, tool]) => all.map(({ args }) => ({ tool, args }))),
);
const place = fc.nat(11);
const named = fc.oneof({ weight: 9, arbitrary: place }, { weight: 1, arbitrary: fc.constant(null) });
const decided = fc
  .record<Decided>({
    call: named,
    decision: fc.constantFrom("allow", "allow", "deny"),
    message: fc.constantFrom(null, null, "Why not."),
    args: fc.constantFrom(null, null, null, ...ARGUMENTS),
    remember: fc.boolean(),
  })
  // Whoever denies a call has no arguments for it.
  .map((body) => (body.decision === "deny" ? { ...body, args: null } : body));
const posted = fc.record({
  call: named,
  by: fc.constantFrom("id", "id", "id", "arguments"),
  isMisnamed: fc.oneof(
    { weight: 12, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
  value: fc.constantFrom("sun", "sun", "sun", "rain", "error"),
}) as fc.Arbitrary<Posted>;

const options = fc.record({
  idle: fc.constantFrom(null, IDLE_S),
  maxTime: fc.constantFrom(null, MAX_TIME_S),
  maxSteps: fc.constantFrom(null, null, 1, 3),
  queue: fc.constantFrom(true, true, false),
});
const replies: Record<string, fc.Arbitrary<ModelReply>> = {
  asks: calls.map((asked) => ({ calls: asked })),
  answers: fc.constant("answer"),
  oddities: fc.constantFrom("silence", "nonsense"),
};
const bodies = fc.array(posted, { minLength: 1, maxLength: 5 });
const decisions = fc.array(decided, { minLength: 1, maxLength: 4 });
const claims = fc.record({
  call: place,
  claimant: fc.constantFrom("one", "two"),
  leaseS: fc.constantFrom(CLAIM_S, CLAIM_S, 0),
});
const orders = fc.shuffledSubarray([0, 1, 2, 3], { minLength: 1 });
const onAny = (actions: fc.Arbitrary<Action>) =>
  fc.tuple(pick, actions).map(([place, action]) => on(place, action));
const only = (action: Action) => onAny(fc.constant(action));
const finishes = (kind: string) =>
  onAny(fc.tuple(replies[kind] as fc.Arbitrary<ModelReply>, back).map((drawn) => finish(...drawn)));

/** What is only done while a call waits so. */
const whileAny = (state: "pending" | "awaiting_approval", action: Action): Action => ({
  ...action,
  isPossible: ({ calls }) => placesOf(calls, state).length > 0,
});
const postWaiting = (order: number[], isGiven: boolean) =>
  whileAny(
    "pending",
    (isGiven ? postAndGive : post)(`what waits: ${order}`, (at) => toWaitingEntries(at, order)),
  );
const decideWaiting = (order: number[], { call: _call, ...body }: Decided) =>
  whileAny(
    "awaiting_approval",
    decide(`what waits: ${order} ${JSON.stringify(body)}`, (at) => toWaitingDecisions(at, order, body)),
  );

/** The commands, and how often each comes. */
const weighted: [number, fc.Arbitrary<Command>][] = [
  [3, options.map(create)],
  [13, only(claim)],
  [9, finishes("asks")],
  [3, finishes("answers")],
  [2, finishes("oddities")],
  [2, onAny(fc.tuple(fc.constantFrom(null, RETRY_S), back).map((drawn) => fail(...drawn)))],
  [1, onAny(back.map(renew))],
  [1, onAny(back.map(giveBack))],
  [4, onAny(bodies.map((body) => post(JSON.stringify(body), () => body)))],
  [8, onAny(fc.tuple(orders, fc.boolean()).map((drawn) => postWaiting(...drawn)))],
  [4, onAny(decisions.map((body) => decide(JSON.stringify(body), () => body)))],
  [6, onAny(fc.tuple(orders, decided).map((drawn) => decideWaiting(...drawn)))],
  [3, onAny(place.map(progress))],
  [4, onAny(claims.map(claimForRun))],
  [2, onAny(fc.constantFrom<Toolset>("first", "second").map(putTools))],
  [3, only(steer("message"))],
  [3, only(steer("pause"))],
  [2, only(steer("resume"))],
  [1, only(steer("forceAnswer"))],
  [1, only(steer("cancel"))],
  [1, onAny(fc.constantFrom<Steering>(...STEERING).map(steerAsStranger))],
  [4, fc.constantFrom(100, 300, 600, 1_100, 2_100).map(jump)],
  [2, only(expire)],
  [2, fc.constant(sweepAll)],
];
const commands = weighted.flatMap(([weight, arbitrary]) => Array.from({ length: weight }, () => arbitrary));

describe("the state machine", () => {
  let bare: BareEngine;
  let walks = 0;
  beforeAll(async () => {
    bare = await startBareEngine();
  });
  afterAll(() => bare.close());

  const startWalk = async (limit: number) => {
    const [principal, stranger] = [
      await bare.addOrganization(`walk ${walks}`),
      await bare.addOrganization(`stranger of walk ${walks++}`),
    ];
    const real: Walk = { bare, engine: bare.withLimit(limit), principal, stranger, sessions: [] };
    return { model: new SessionModel(limit), real };
  };

  it.each([0, 2])(
    "does what the design says, in any order of commands, with a limit of %i active sessions (0 is none)",
    async (limit) => {
      const first = fc.array(options, { minLength: 1, maxLength: limit + 1 });
      const rest = fc.commands(commands, { maxCommands: 100, size: "max" });
      await fc.assert(
        fc.asyncProperty(first, rest, async (sessions, walk) => {
          const start = async () => {
            const { model, real } = await startWalk(limit);
            for (const session of sessions) await create(session).run(model, real);
            return { model, real };
          };
          await fc.asyncModelRun(start, walk);
          await bare.engine.pool.query("TRUNCATE organizations CASCADE");
        }),
        { numRuns: Math.ceil(RUNS / 2), endOnFailure: false },
      );
    },
    RUNS * RUN_MS + 60_000,
  );
});
