// One step of a session: claim, model call, effects. Everything that can go wrong ends in a recorded outcome, in a
// lost claim that writes nothing, or in a lease that lapses and is taken over.
import type { LanguageModelV3GenerateResult } from "@ai-sdk/provider";
import { type ClaimedStep, claimStep } from "@tandem/engine/commands/claim-step";
import { failStep } from "@tandem/engine/commands/fail-step";
import { finishStep } from "@tandem/engine/commands/finish-step";
import { returnStep } from "@tandem/engine/commands/return-step";
import type { Engine } from "@tandem/engine/engine";
import { buildPrompt, collectProviderIds } from "./agent/build-prompt.ts";
import { decideOutcome } from "./agent/decide-outcome.ts";
import { judgeModelError, ModelTimeoutError } from "./agent/model-errors.ts";
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
    const result = await callModel(step, config, AbortSignal.any([lease.signal, stopping]));
    const isWritten = await finishStep(engine, { ...claim, ...toEffects(step, result) });
    if (!isWritten) logLost(context, claim);
  } catch (error) {
    if (lease.signal.aborted) logLost(context, claim);
    else if (stopping.aborted) await returnStep(engine, claim);
    else await recordFailure(context, step, error);
  } finally {
    lease.stop();
  }
}

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

function toEffects(step: ClaimedStep, result: LanguageModelV3GenerateResult) {
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

async function recordFailure(
  { engine, config }: StepContext,
  step: ClaimedStep,
  error: unknown,
): Promise<void> {
  const { id: sessionId, fence, modelFailures } = step.session;
  engine.log.warn({ err: error, session: sessionId }, "a step's model request failed");
  const failure = judgeModelError(error, { failures: modelFailures, secrets: listSecrets(config.models) });
  await failStep(engine, { sessionId, fence, ...failure });
}
