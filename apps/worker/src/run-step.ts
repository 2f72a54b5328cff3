// One step of a session: claim, model call, effects. Everything that can go wrong ends in a recorded outcome, in a
// lost claim that writes nothing, or in a lease that lapses and is taken over.
import { setTimeout as delay } from "node:timers/promises";
import type { LanguageModelV3GenerateResult } from "@ai-sdk/provider";
import { type ClaimedStep, claimStep } from "@tandem/engine/commands/claim-step";
import { failStep } from "@tandem/engine/commands/fail-step";
import { type FinishedStep, finishStep } from "@tandem/engine/commands/finish-step";
import { returnStep } from "@tandem/engine/commands/return-step";
import type { Engine } from "@tandem/engine/engine";
import { isDatabaseUnavailable } from "@tandem/engine/postgres/pool";
import { buildPrompt, collectProviderIds } from "./agent/build-prompt.ts";
import { decideOutcome } from "./agent/decide-outcome.ts";
import {
  judgeInternalError,
  judgeModelError,
  type ModelFailure,
  ModelTimeoutError,
} from "./agent/model-errors.ts";
import { offerTools } from "./agent/offer-tools.ts";
import { readReply } from "./agent/read-reply.ts";
import type { WorkerConfig } from "./config.ts";
import { keepLease } from "./lease.ts";
import { createModel, listSecrets } from "./models/create-model.ts";

/** What a step runs with. */
export interface StepContext {
  engine: Engine;
  config: WorkerConfig;
  /** Names this worker in the claims it holds. */
  worker: string;
  /** Aborted when the process must end before the step is through. */
  stopping: AbortSignal;
}

/** Runs the due step of a session, if there is one to claim. */
export async function runStep(context: StepContext, sessionId: string): Promise<void> {
  const { engine, config, stopping } = context;
  const { leaseMs } = config;
  const step = await claimStep(engine, { sessionId, leaseMs, worker: context.worker });
  if (!step) return;
  const claim = { sessionId, fence: step.session.fence, leaseMs };
  const lease = keepLease(engine, claim);
  try {
    const effects = await takeTurn(step, config, AbortSignal.any([lease.signal, stopping]));
    const isWritten = await persist(lease.signal, () =>
      "policy" in effects
        ? finishStep(engine, { ...claim, ...effects })
        : failStep(engine, { ...claim, ...effects }),
    );
    if ("error" in effects) engine.log.warn({ session: sessionId, error: effects.error }, "a step failed");
    if (!isWritten) logLost(context, claim);
  } catch (error) {
    if (lease.signal.aborted) logLost(context, claim);
    else if (stopping.aborted) await returnStep(engine, claim);
    else if (isDatabaseUnavailable(error)) throw error;
    else await recordFault(context, step, error);
  } finally {
    lease.stop();
  }
}

/**
 * Records that a step's effects could not be written for a reason that will not go away by itself. It is tried again
 * a few times, and then the session ends: a step that fails for ever would ask its model for ever.
 */
async function recordFault({ engine }: StepContext, step: ClaimedStep, error: unknown): Promise<void> {
  const { id: sessionId, fence, modelFailures: failures } = step.session;
  engine.log.error({ err: error, session: sessionId }, "the effects of a step could not be written");
  await failStep(engine, { sessionId, fence, ...judgeInternalError({ failures }) });
}

/**
 * Writes with patience while the database is away: the model's reply is paid for. When it stays away for longer than
 * the lease, somebody else may take the step, and then nothing is written here.
 */
async function persist(lost: AbortSignal, write: () => Promise<boolean>): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (!isDatabaseUnavailable(error) || attempt >= PERSIST_ATTEMPTS) throw error;
      await delay(PERSIST_WAIT_MS, undefined, { signal: lost });
    }
  }
}

/** How often, and how far apart in milliseconds, a write is tried while the database is away: for half a minute. */
const PERSIST_ATTEMPTS = 60;
const PERSIST_WAIT_MS = 500;

function logLost({ engine }: StepContext, claim: { sessionId: string; fence: number }): void {
  engine.log.info(
    { session: claim.sessionId, fence: claim.fence },
    "the claim was lost; the step wrote nothing",
  );
}

/** The model's name is set when the session is created. */
function modelOf(step: ClaimedStep): string {
  return step.session.agent.model ?? "";
}

function mustAnswer({ session }: ClaimedStep): boolean {
  return session.maxSteps !== null && session.runSteps >= session.maxSteps;
}

/** The effects of a turn: what the model said and what follows, or how its request failed. Throws only when aborted. */
async function takeTurn(
  step: ClaimedStep,
  config: WorkerConfig,
  abort: AbortSignal,
): Promise<Effects | ModelFailure> {
  try {
    return toEffects(step, await callModel(step, config, abort));
  } catch (error) {
    if (abort.aborted) throw error;
    return judgeModelError(error, {
      failures: step.session.modelFailures,
      secrets: listSecrets(config.models),
    });
  }
}

async function callModel(
  step: ClaimedStep,
  config: WorkerConfig,
  abort: AbortSignal,
): Promise<LanguageModelV3GenerateResult> {
  const { agent, tools } = step.session;
  const timeout = AbortSignal.timeout(config.modelTimeoutS * 1_000);
  const model = createModel(modelOf(step), config.models);
  const request = {
    prompt: buildPrompt({ agent, events: step.events, mustAnswer: mustAnswer(step) }),
    ...offerTools({ agent, tools, mustAnswer: mustAnswer(step) }),
    abortSignal: AbortSignal.any([abort, timeout]),
  };
  try {
    return await model.doGenerate(request);
  } catch (error) {
    if (timeout.aborted && !abort.aborted) throw new ModelTimeoutError(config.modelTimeoutS);
    throw error;
  }
}

type Effects = Omit<FinishedStep, "sessionId" | "fence">;

function toEffects(step: ClaimedStep, result: LanguageModelV3GenerateResult): Effects {
  const { session, events } = step;
  const reply = readReply(result, collectProviderIds(events));
  const decision = decideOutcome(reply, {
    tools: session.tools,
    answerFormat: session.agent.answer_format ?? null,
    mustAnswer: mustAnswer(step),
    corrections: session.corrections,
    nudges: session.nudges,
  });
  return { ...decision, usage: { name: modelOf(step), ...reply.usage } };
}
