// What can happen to one session: for each thing, what the model says of it and how it is done to the engine.
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
import type { Engine } from "@tandem/engine/engine";
import { finishWith, userMessage } from "./bare-engine.ts";
import type { Expected, ModelReply, ModelSession } from "./modelled-session.ts";
import type { SessionModel } from "./session-model.ts";
import { keyOf, type Walk, type WalkSession } from "./session-walk.ts";

// Times in seconds. Clocks jump by hundreds, so that what is due never hangs on the seconds that a test takes.
export const LEASE_S = 550;
export const RETRY_S = 250;
export const IDLE_S = 1_050;
export const MAX_TIME_S = 2_050;

/** Something that can happen to a session. */
export interface Action {
  words: string;
  /** False where it makes no sense. */
  isPossible?(session: ModelSession): boolean;
  /** What must come of it. `at` is the session as whoever does it knew it. */
  expected(model: SessionModel, session: ModelSession, at: ModelSession): Expected;
  act(walk: Walk, session: WalkSession, at: ModelSession): Promise<unknown>;
}

export const claim: Action = {
  words: "claim",
  expected: (model, session) => model.claim(session, LEASE_S),
  async act({ engine }, session) {
    const lease = { sessionId: session.id, leaseMs: LEASE_S * 1_000, worker: "test" };
    const step = await claimStep(engine, lease);
    if (step) session.steps.push(step);
    return step !== null;
  },
};

/** What a worker does with a claim: the last one, or, `back` claims before it, one that it has lost. */
function withClaim(
  words: string,
  back: number,
  sides: {
    expected(model: SessionModel, session: ModelSession, holder: number): Expected;
    act(engine: Engine, step: ClaimedStep): Promise<unknown>;
  },
): Action {
  const holderOf = (session: ModelSession) => session.claims - 1 - back;
  return {
    words: back === 0 ? words : `${words}, ${back} claims late`,
    isPossible: (session) => holderOf(session) >= 0,
    expected: (model, session, at) => sides.expected(model, session, holderOf(at)),
    act: (walk, session, at) => sides.act(walk.engine, session.steps[holderOf(at)] as ClaimedStep),
  };
}

export const finish = (reply: ModelReply, back = 0) =>
  withClaim(`finish with ${JSON.stringify(reply)}`, back, {
    expected: (model, session, holder) => model.finish(session, holder, reply),
    act: (engine, step) => finishWith(engine, step, toBareReply(reply)),
  });

function toBareReply(reply: ModelReply) {
  if (reply === "answer") return { text: "Done." };
  if (reply === "silence") return { text: " " };
  if (reply === "nonsense") return { calls: [{ tool: "no_such_tool", args: {} }] };
  const calls = reply.calls.map(({ tool, args }) => ({ tool, args: JSON.parse(args) }));
  return { calls, text: "Let me see." };
}

export const fail = (retryInS: number | null, back = 0) =>
  withClaim(retryInS === null ? "fail" : "fail for now", back, {
    expected: (model, session, holder) => model.fail(session, holder, retryInS),
    act: (engine, { session: { id: sessionId, fence } }) =>
      failStep(engine, {
        ...{ sessionId, fence, error: "It failed.", reason: "provider_refused" },
        retryInMs: retryInS === null ? null : retryInS * 1_000,
      }),
  });

export const renew = (back = 0) =>
  withClaim("renew the lease", back, {
    expected: (model, session, holder) => model.renew(session, holder, LEASE_S),
    async act(engine, step) {
      const { id: sessionId, fence, version } = step.session;
      const renewed = await renewLease(engine, { sessionId, fence, leaseMs: LEASE_S * 1_000 });
      // As a worker does: what it knows of the session is of this version now.
      if (renewed?.before === version) step.session.version = renewed.after;
      return renewed !== null;
    },
  });

export const giveBack = (back = 0) =>
  withClaim("give the step back", back, {
    expected: (model, session, holder) => model.giveBack(session, holder),
    act: (engine, { session }) => returnStep(engine, { sessionId: session.id, fence: session.fence }),
  });

type Key = { organizationId: string; sessionId: string };
const commands = {
  pause: pauseSession,
  resume: resumeSession,
  forceAnswer,
  cancel: cancelSession,
  message: (engine: Engine, key: Key) => sendMessages(engine, { ...key, messages: [userMessage("And?")] }),
};
export const STEERING = ["pause", "resume", "forceAnswer", "cancel", "message"] as const;
export type Steering = (typeof STEERING)[number];

export const steer = (what: Steering): Action => ({
  words: what,
  expected: (model, session) => model[what](session),
  act: (walk, session) => commands[what](walk.engine, keyOf(walk, session)),
});

/** Another organization can do nothing to a session, and changes nothing by trying. */
export const steerAsStranger = (what: Steering): Action => ({
  words: `${what} as a stranger`,
  expected: () => ({ isSilent: true, error: "session_not_found" }),
  act: (walk, { id: sessionId }) =>
    commands[what](walk.engine, { organizationId: walk.stranger.organizationId, sessionId }),
});

export const expire: Action = {
  words: "expire",
  expected: (model, session) => model.expire(session),
  act: ({ engine }, { id }) => expireSession(engine, id),
};
