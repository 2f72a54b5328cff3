// One step of a session: claim, model call, effects. Everything that can go wrong ends in a recorded outcome, in a
// lost claim that writes nothing, or in a lease that lapses and is taken over.
import { setTimeout as delay } from "node:timers/promises";
import type { LanguageModelV3 } from "@ai-sdk/provider";
import { type ClaimedStep, claimStep } from "@tandem/engine/commands/claim-step";
import { failStep } from "@tandem/engine/commands/fail-step";
import { finishStep } from "@tandem/engine/commands/finish-step";
import { returnStep } from "@tandem/engine/commands/return-step";
import { takeStep } from "@tandem/engine/commands/take-step";
import { findLastStep } from "@tandem/engine/domain/last-step";
import { readToolHistory } from "@tandem/engine/domain/tool-history";
import type { Engine } from "@tandem/engine/engine";
import { isDatabaseUnavailable } from "@tandem/engine/postgres/pool";
import type { StepJob } from "@tandem/engine/queue/step-queue";
import { createAbortScope } from "./abort-scope.ts";
import { findReachedLimit } from "./agent/loop-guards.ts";
import { judgeInternalError, judgeModelError, type ModelFailure } from "./agent/model-errors.ts";
import { type Effects, toEffects } from "./agent/to-effects.ts";
import { askModel } from "./ask-model.ts";
import type { WorkerConfig } from "./config.ts";
import { type KeptLease, watchLease } from "./lease.ts";
import { listSecrets } from "./models/create-model.ts";
import type { WatchedSessions } from "./streaming/watched-sessions.ts";
import { type StepWatch, watchStep } from "./watch-step.ts";

/** What a step runs with. */
export interface StepContext {
  engine: Engine;
  config: WorkerConfig;
  /** Finds a model by its id. */
  modelOf: (id: string) => LanguageModelV3;
  /** Who watches the text of model requests. */
  watched: WatchedSessions;
  /** Names this worker in the claims it holds. */
  worker: string;
  /** Aborted when the process must end before the step is through. */
  stopping: AbortSignal;
}

/** The same, of a step that is claimed. */
type WatchedContext = StepContext & { watch: StepWatch };

/** Runs the due step of a session, if there is one to claim, or the one that was claimed for this worker. */
export async function runStep(context: StepContext, { sessionId, fence, news }: StepJob): Promise<void> {
  const { engine, config } = context;
  const { leaseMs } = config;
  const beganMs = performance.now();
  const lease = watchLease(engine, sessionId);
  try {
    const isGiven = news !== undefined;
    // Reading a long history takes time, and so does a database under load.
    if (isGiven) lease.takeUp({ fence, leaseMs });
    const step = isGiven
      ? await takeStep(engine, { sessionId, fence, news })
      : await claimStep(engine, { sessionId, leaseMs, worker: context.worker });
    if (!step) return;
    lease.keep(step.session, leaseMs);
    const watch = watchStep(engine.telemetry, step, beganMs);
    await runClaimed({ ...context, watch }, step, lease);
  } finally {
    lease.stop();
  }
}

async function runClaimed(context: WatchedContext, step: ClaimedStep, lease: KeptLease): Promise<void> {
  const { engine, stopping, watch } = context;
  const lost = lease.signal;
  const claim = { sessionId: step.session.id, fence: step.session.fence };
  const scope = createAbortScope([lost, stopping]);
  try {
    const effects = await takeTurn(context, step, scope.signal);
    lease.listenNoMore();
    const current = { ...step, session: { ...step.session, version: lease.version } };
    const written = persist(scope.signal, () => write(engine, current, effects));
    const isWritten = await watch.write(effects, written);
    if (!isWritten) reportLost(context, claim);
  } catch (error) {
    if (lost.aborted) reportLost(context, claim);
    else if (stopping.aborted) await returnStep(engine, claim);
    else if (isDatabaseUnavailable(error)) throw error;
    else await recordFault(context, step, error);
  } finally {
    scope.release();
    watch.end(stopping.aborted);
  }
}

type Claim = { sessionId: string; fence: number };

function write(engine: Engine, step: ClaimedStep, effects: Effects | ModelFailure): Promise<boolean> {
  const { session } = step;
  const claim = { sessionId: session.id, fence: session.fence };
  return "policy" in effects
    ? finishStep(engine, { ...claim, ...effects }, step)
    : failStep(engine, { ...claim, ...effects });
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
async function persist(abort: AbortSignal, attempt: () => Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + PERSIST_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isDatabaseUnavailable(error) || performance.now() > deadline) throw error;
      await delay(PERSIST_WAIT_MS, undefined, { signal: abort });
    }
  }
}

/** How long a write is tried while the database is away, and how long between two tries, in milliseconds. */
const PERSIST_MS = 30_000;
const PERSIST_WAIT_MS = 500;

/**
 * The claim is gone: to another worker, to a cancel, or to this one's own commit whose answer got lost on the way. In
 * the last case nobody has told the waiting clients yet.
 */
function reportLost({ engine }: StepContext, claim: Claim): void {
  engine.log.info({ session: claim.sessionId, fence: claim.fence }, "the claim is gone; nothing was written");
  engine.wake.publish(claim.sessionId);
}

/** The effects of a turn: what the model said and what follows, or how it failed. Throws only when aborted. */
async function takeTurn(
  context: WatchedContext,
  step: ClaimedStep,
  abort: AbortSignal,
): Promise<Effects | ModelFailure> {
  const { engine, config } = context;
  const { events } = step;
  if (events === null) return { error: HISTORY_TOO_LARGE, reason: "internal", retryInMs: null };
  const isLast = findLastStep(step.session) !== null;
  const stop = findReachedLimit(events, isLast ? { ...step.session, ...NO_LOOP } : step.session);
  if (stop) return { ...stop, errorCode: "no_answer", retryInMs: null };
  try {
    const { session } = step;
    const history = { events, tools: readToolHistory(session.tools, events, session.runIndex) };
    const reply = askModel(context, session, history, abort);
    return toEffects(session, history, await context.watch.request(reply, abort));
  } catch (error) {
    if (abort.aborted) throw error;
    const failures = step.session.modelFailures;
    const failure = judgeModelError(error, { failures, secrets: listSecrets(config.models) });
    // Errors of a provider may quote its key; a fault of ours is told in full, here and nowhere else.
    const detail = failure.reason === "internal" ? { err: error } : { error: failure.error };
    engine.log.warn(
      { ...detail, session: step.session.id, retryInMs: failure.retryInMs },
      "a step's turn failed",
    );
    return failure;
  }
}

const HISTORY_TOO_LARGE = "The session's history has over 128,000,000 bytes; no model takes as much.";

/** Without tools a last step cannot go round in circles. */
const NO_LOOP = { repeatLimit: null, errorLimit: null };
