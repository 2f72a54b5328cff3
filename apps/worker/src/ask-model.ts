// The model request of a step: as a stream when somebody reads the session's, and without images when its provider
// refuses them.
import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3GenerateResult,
} from "@ai-sdk/provider";
import type { ClaimedStep } from "@tandem/engine/commands/claim-step";
import { findLastStep } from "@tandem/engine/domain/last-step";
import type { Engine } from "@tandem/engine/engine";
import type { Wake } from "@tandem/engine/wake/wake";
import { createAbortScope } from "./abort-scope.ts";
import { buildPrompt } from "./agent/build-prompt.ts";
import { hasImages } from "./agent/images.ts";
import { isRefusal, ModelTimeoutError } from "./agent/model-errors.ts";
import { offerTools } from "./agent/offer-tools.ts";
import type { History } from "./agent/to-effects.ts";
import type { WorkerConfig } from "./config.ts";
import { streamReply } from "./models/stream-reply.ts";
import { tellText } from "./streaming/tell-text.ts";
import type { WatchedSessions } from "./streaming/watched-sessions.ts";
import type { StepWatch } from "./watch-step.ts";

/** What a request is made with. */
export interface AskContext {
  engine: { wake: Pick<Wake, "tell">; log: Engine["log"] };
  config: Pick<WorkerConfig, "modelTimeoutS">;
  modelOf: (id: string) => LanguageModelV3;
  watched: WatchedSessions;
  watch: Pick<StepWatch, "requestLeaves">;
}

/**
 * Asks the session's model for its next turn.
 *
 * @throws {ModelTimeoutError} when it takes too long, and whatever the provider's package throws
 */
export async function askModel(
  context: AskContext,
  session: ClaimedStep["session"],
  history: History,
  abort: AbortSignal,
): Promise<LanguageModelV3GenerateResult> {
  const { config, watch } = context;
  const { agent, tools, runSteps } = session;
  const lastStep = findLastStep(session);
  const input = { agent, events: history.events, lastStep, history: history.tools };
  const prompt = buildPrompt(input);
  const mustAnswer = lastStep !== null;
  const offer = offerTools({ agent, tools, mustAnswer, history: history.tools, isFirst: runSteps === 0 });
  const ask = prepare(context, session);
  const scope = createAbortScope([abort], config.modelTimeoutS * 1_000);
  try {
    watch.requestLeaves();
    const request = { ...offer, abortSignal: scope.signal };
    return await ask.reply({ prompt, ...request }).catch((error: unknown) => {
      if (ask.hasSpoken || !isRefusal(error) || !hasImages(prompt)) throw error;
      context.engine.log.info({ session: session.id }, "a model request is made again without its images");
      return ask.reply({ prompt: buildPrompt({ ...input, isWithoutImages: true }), ...request });
    });
  } catch (error) {
    throw scope.isTimedOut ? new ModelTimeoutError(config.modelTimeoutS) : error;
  } finally {
    ask.end();
    scope.release();
  }
}

/** The ways to ask a session's model: as a whole, or as a stream whose text is told while it comes. */
function prepare(
  { engine, modelOf, watched }: AskContext,
  { id: sessionId, agent, steps, fence }: ClaimedStep["session"],
) {
  const model = modelOf(agent.model ?? "");
  if (agent.stream !== true && !watched.isWatched(sessionId)) {
    const reply = async (request: LanguageModelV3CallOptions) => model.doGenerate(request);
    return { hasSpoken: false, reply, end: () => undefined };
  }
  const told = tellText({ wake: engine.wake, watched }, { sessionId, step: steps + 1, fence });
  const asked = {
    /** True once a piece of text was told: what is told of one claim is of one reply. */
    hasSpoken: false,
    reply: (request: LanguageModelV3CallOptions) =>
      streamReply(model, request, (delta) => {
        asked.hasSpoken = true;
        told.add(delta);
      }),
    end: told.end,
  };
  return asked;
}
