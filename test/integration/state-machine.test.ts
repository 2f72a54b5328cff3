// Random walks through the state machine, each step of them a command on a real database, compared with a small model of
// what the design says. TANDEM_TEST_RUNS sets the number of walks; fast-check prints the seed of one that fails.
import { cancelSession } from "@tandem/engine/commands/cancel-session";
import { type ClaimedStep, claimStep } from "@tandem/engine/commands/claim-step";
import { expireSession } from "@tandem/engine/commands/expire-session";
import { failStep } from "@tandem/engine/commands/fail-step";
import { forceAnswer } from "@tandem/engine/commands/force-answer";
import { renewLease } from "@tandem/engine/commands/keep-lease";
import { pauseSession } from "@tandem/engine/commands/pause-session";
import { resumeSession } from "@tandem/engine/commands/resume-session";
import { returnStep } from "@tandem/engine/commands/return-step";
import { sendMessages } from "@tandem/engine/commands/send-messages";
import { submitToolResults } from "@tandem/engine/commands/submit-tool-results";
import { sweepTimers } from "@tandem/engine/commands/sweep";
import type { Engine } from "@tandem/engine/engine";
import fc from "fast-check";
import { afterAll, beforeAll, describe, it } from "vitest";
import {
  type BareEngine,
  createBareSession,
  finishWith,
  startBareEngine,
  userMessage,
} from "../support/bare-engine.ts";
import {
  type Expected,
  type ModelReply,
  type ModelSession,
  type Posted,
  SessionModel,
} from "../support/session-model.ts";
import { type Command, compare, compareRows, keyOf, onSession, type Walk } from "../support/session-walk.ts";

const RUNS = Number(process.env.TANDEM_TEST_RUNS ?? 120);
const RUN_MS = 2_000;

// Times in seconds. Clocks jump by hundreds, so that what is due never hangs on the seconds that a test takes.
const LEASE_S = 550;
const RETRY_S = 250;
const IDLE_S = 1_050;
const MAX_TIME_S = 2_050;

const create = (options: ModelSession["options"]): Command => ({
  check: (model) => model.sessions.length < (model.limit > 0 ? 5 : 2),
  async run(model, walk) {
    const expected = model.create(options);
    const { idle, maxTime, maxSteps, queue } = options;
    const more = { idle_timeout_s: idle, max_time_s: maxTime, max_steps: maxSteps, queue };
    await compare({ model, walk, expected, place: null }, async () => {
      const id = await createBareSession(walk.engine, walk.principal, more);
      walk.sessions.push({ id, steps: [] });
    });
  },
  toString: () => `create ${JSON.stringify(options)}`,
});

const claim = (pick: number) =>
  onSession("claim", pick, {
    expected: (model, session) => model.claim(session, LEASE_S),
    async act({ engine }, real) {
      const lease = { sessionId: real.id, leaseMs: LEASE_S * 1_000, worker: "test" };
      const step = await claimStep(engine, lease);
      if (step) real.steps.push(step);
      return step !== null;
    },
  });

/** The holder that a worker with the last claim but `back` has. -1 has none. */
const holderOf = (session: ModelSession, back: number) => session.claims - 1 - back;

/** What a worker does with a claim: the last one, or an older one that it has lost. */
function withClaim(
  words: string,
  pick: number,
  back: number,
  sides: {
    expected(model: SessionModel, session: ModelSession, holder: number): Expected;
    act(engine: Engine, step: ClaimedStep): Promise<unknown>;
  },
): Command {
  const command = onSession(`${words} (claim -${back})`, pick, {
    expected: (model, session) => sides.expected(model, session, holderOf(session, back)),
    act: (walk, real, at) => sides.act(walk.engine, real.steps[holderOf(at, back)] as ClaimedStep),
  });
  const hasClaim = (model: Readonly<SessionModel>) =>
    model.sessions.length > 0 &&
    holderOf(model.sessions[pick % model.sessions.length] as ModelSession, back) >= 0;
  return { ...command, check: hasClaim };
}

const finish = (pick: number, back: number, reply: ModelReply) =>
  withClaim(`finish with ${JSON.stringify(reply)}`, pick, back, {
    expected: (model, session, holder) => model.finish(session, holder, reply),
    act: (engine, step) => finishWith(engine, step, toBareReply(reply)),
  });

function toBareReply(reply: ModelReply) {
  if (reply === "answer") return { text: "Done." };
  if (reply === "silence") return { text: " " };
  if (reply === "nonsense") return { calls: [{ tool: "no_such_tool", args: {} }] };
  return {
    calls: reply.calls.map(({ tool, args }) => ({ tool, args: JSON.parse(args) })),
    text: "Let me see.",
  };
}

const fail = (pick: number, back: number, retryInS: number | null) =>
  withClaim(`fail, retry in ${retryInS}`, pick, back, {
    expected: (model, session, holder) => model.fail(session, holder, retryInS),
    act: (engine, { session: { id: sessionId, fence } }) =>
      failStep(engine, {
        ...{ sessionId, fence, error: "It failed.", reason: "provider_refused" },
        retryInMs: retryInS === null ? null : retryInS * 1_000,
      }),
  });

const renew = (pick: number, back: number) =>
  withClaim("renew", pick, back, {
    expected: (model, session, holder) => model.renew(session, holder, LEASE_S),
    act: (engine, { session }) =>
      renewLease(engine, { sessionId: session.id, fence: session.fence, leaseMs: LEASE_S * 1_000 }),
  });

const giveBack = (pick: number, back: number) =>
  withClaim("give back", pick, back, {
    expected: (model, session, holder) => model.giveBack(session, holder),
    act: (engine, { session }) => returnStep(engine, { sessionId: session.id, fence: session.fence }),
  });

/** Posts entries that may depend on the calls that the session has. */
const post = (pick: number, words: string, toEntries: (session: ModelSession) => Posted[]) =>
  onSession(`post ${words}`, pick, {
    expected: (model, session) => model.post(session, toEntries(session)),
    async act(walk, real, at) {
      const ids = await readCallIds(walk, real.id);
      const { receipts, resumed } = await submitToolResults(walk.engine, {
        ...keyOf(walk, real),
        entries: toEntries(at).map((entry) => toPostedResult(entry, at, ids)),
        locOf: (index) => ["body", "results", index],
      });
      return { receipts: receipts.map(({ status }) => status), resumed };
    },
  });

async function readCallIds({ engine }: Walk, sessionId: string): Promise<string[]> {
  const { rows } = await engine.pool.query<{ id: string }>(
    "SELECT id FROM tool_calls WHERE session_id = $1 ORDER BY step, position",
    [sessionId],
  );
  return rows.map(({ id }) => id);
}

function toPostedResult(entry: Posted, { calls }: ModelSession, ids: string[]) {
  const place = entry.call === null ? -1 : entry.call % Math.max(calls.length, 1);
  const call = calls[place];
  const toolReq = {
    tool_name: entry.isMisnamed ? "other" : (call?.tool ?? "look"),
    args: JSON.parse(call?.args ?? "{}"),
    id: entry.by === "id" || !call ? (ids[place] ?? "call_nobody") : null,
  };
  return entry.value === "error"
    ? { kind: "error_event" as const, error: "It broke.", origin: "client", tool_req: toolReq }
    : {
        ...{ kind: "tool_result" as const, result: entry.value, tool_req: toolReq },
        ...{ truncated: false, output_artifact_path: null },
      };
}

const steer = (what: "pause" | "resume" | "forceAnswer" | "cancel" | "message", pick: number) =>
  onSession(what, pick, {
    expected: (model, session) => model[what](session),
    act: (walk, real) => steering[what](walk.engine, keyOf(walk, real)),
  });

type Key = { organizationId: string; sessionId: string };
const steering = {
  pause: pauseSession,
  resume: resumeSession,
  forceAnswer,
  cancel: cancelSession,
  message: (engine: Engine, key: Key) => sendMessages(engine, { ...key, messages: [userMessage("And?")] }),
};

/** Another organization can do nothing to a session, and changes nothing by trying. */
const steerAsStranger = (what: keyof typeof steering, pick: number) =>
  onSession(`${what} as a stranger`, pick, {
    expected: () => ({ isSilent: true, error: "session_not_found" }),
    act: (walk, { id }) =>
      steering[what](walk.engine, { organizationId: walk.stranger.organizationId, sessionId: id }),
  });

const expire = (pick: number) =>
  onSession("expire", pick, {
    expected: (model, session) => model.expire(session),
    act: ({ engine }, { id }) => expireSession(engine, id),
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
  async run(model, walk) {
    model.now += seconds;
    const earlier = ["due_at", "lease_until", "idle_until", "time_limit_at"].map(
      (column) => `${column} = ${column} - $2 * interval '1 second'`,
    );
    await walk.engine.pool.query(`UPDATE sessions SET ${earlier.join(", ")} WHERE organization_id = $1`, [
      walk.principal.organizationId,
      seconds,
    ]);
    await compareRows(model, walk);
  },
  toString: () => `jump ${seconds} s`,
});

const pick = fc.nat(9);
const back = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constantFrom(1, 2) },
);
const calls = fc.array(
  fc.record({ tool: fc.constantFrom("look", "find"), args: fc.constantFrom('{"n":1}', '{"n":2}') }),
  { minLength: 1, maxLength: 4 },
);
const posted = fc.record({
  call: fc.oneof({ weight: 9, arbitrary: fc.nat(11) }, { weight: 1, arbitrary: fc.constant(null) }),
  by: fc.constantFrom("id", "id", "id", "arguments"),
  isMisnamed: fc.oneof(
    { weight: 12, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
  value: fc.constantFrom("sun", "sun", "sun", "rain", "error"),
}) as fc.Arbitrary<Posted>;

/** An entry for each of the calls that wait, in this order; for the first call of all when none does. */
function toWaitingEntries({ calls: all }: ModelSession, order: number[]): Posted[] {
  const waiting = all.flatMap((call, place) => (call.state === "pending" ? [place] : []));
  const places = order.flatMap((nth) => waiting[nth] ?? []);
  return (places.length > 0 ? places : [0]).map((call) => ({
    call,
    by: "id",
    isMisnamed: false,
    value: "sun",
  }));
}

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
const finishes = (kind: string) =>
  fc.tuple(pick, back, replies[kind] as fc.Arbitrary<ModelReply>).map((drawn) => finish(...drawn));
const steers = (what: keyof typeof steering) => pick.map((p) => steer(what, p));
const bodies = fc.array(posted, { minLength: 1, maxLength: 5 });
const orders = fc.shuffledSubarray([0, 1, 2, 3], { minLength: 1 });
const anySteering = fc.constantFrom<keyof typeof steering>(
  ...["pause" as const, "resume" as const, "forceAnswer" as const, "cancel" as const, "message" as const],
);

/** The commands, and how often each comes. */
const weighted: [number, fc.Arbitrary<Command>][] = [
  [3, options.map(create)],
  [10, pick.map(claim)],
  [6, finishes("asks")],
  [3, finishes("answers")],
  [2, finishes("oddities")],
  [2, fc.tuple(pick, back, fc.constantFrom(null, RETRY_S)).map((drawn) => fail(...drawn))],
  [1, fc.tuple(pick, back).map((drawn) => renew(...drawn))],
  [1, fc.tuple(pick, back).map((drawn) => giveBack(...drawn))],
  [3, fc.tuple(pick, bodies).map(([p, body]) => post(p, JSON.stringify(body), () => body))],
  [
    4,
    fc
      .tuple(pick, orders)
      .map(([p, order]) => post(p, `what waits: ${order}`, (s) => toWaitingEntries(s, order))),
  ],
  [3, steers("message")],
  [3, steers("pause")],
  [2, steers("resume")],
  [1, steers("forceAnswer")],
  [1, steers("cancel")],
  [1, fc.tuple(anySteering, pick).map((drawn) => steerAsStranger(...drawn))],
  [4, fc.constantFrom(100, 300, 600, 1_100, 2_100).map(jump)],
  [2, pick.map(expire)],
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
      const rest = fc.commands(commands, { maxCommands: 80, size: "max" });
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
