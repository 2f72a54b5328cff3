// One step as metrics and spans. It watches, and stands in nobody's way.
import type { LanguageModelV3GenerateResult } from "@ai-sdk/provider";
import type { ClaimedStep } from "@tandem/engine/commands/claim-step";
import type { StoredEvent } from "@tandem/engine/domain/events";
import { type ModelId, parseModelId } from "@tandem/engine/domain/models";
import type { StepOutcomeLabel } from "@tandem/engine/telemetry/metrics";
import type { Telemetry } from "@tandem/engine/telemetry/telemetry";
import { judgeModelError, type ModelFailure, ModelTimeoutError } from "./agent/model-errors.ts";
import { toCount } from "./agent/read-reply.ts";
import type { Effects } from "./agent/to-effects.ts";
import { createStepSpans } from "./step-spans.ts";

/** The watch over a claimed step. Its calls follow the step's course. */
export interface StepWatch {
  /** The model request leaves now. */
  requestLeaves(): void;
  /** Follows the model request to its end, and gives that on. */
  request(
    reply: Promise<LanguageModelV3GenerateResult>,
    abort: AbortSignal,
  ): Promise<LanguageModelV3GenerateResult>;
  /** Follows the write of a step's effects, and gives on whether they were written. */
  write(effects: Effects | ModelFailure, written: Promise<boolean>): Promise<boolean>;
  /** The step is over. `isReturned` says that it was handed back, when nothing of it was written. */
  end(isReturned: boolean): void;
}

/**
 * Starts the watch over a step.
 *
 * @param beganMs when its claim began, by `performance.now()`
 */
export function watchStep(
  { metrics, tracer }: Telemetry,
  { session, events }: ClaimedStep,
  beganMs: number,
): StepWatch {
  const { waitedMs } = session;
  const model = parseModelId(session.agent.model ?? "");
  const spans = createStepSpans(tracer, session, beganMs);
  const watchRequest = createRequestWatch(metrics, spans, model);
  let requestMs: number | null = null;
  let outcome: StepOutcomeLabel | null = null;

  metrics.stepWait.observe(waitedMs / 1_000);
  spans.addWait();
  spans.addPart("claim", beganMs);
  return {
    requestLeaves() {
      requestMs = performance.now();
      if (followsResults(events)) metrics.roundTrip.observe((waitedMs + requestMs - beganMs) / 1_000);
    },
    request: (reply, abort) => watchRequest(reply, abort, () => requestMs),
    async write(effects, written) {
      const writeMs = performance.now();
      const isWritten = await written;
      spans.addPart("write", writeMs);
      if (isWritten) outcome = toStepOutcome(effects);
      return isWritten;
    },
    end(isReturned) {
      const ended = outcome ?? (isReturned ? "returned" : "unwritten");
      metrics.steps.inc({ outcome: ended });
      const attributes = {
        "gen_ai.conversation.id": session.id,
        "tandem.step.number": session.steps + 1,
        "tandem.step.outcome": ended,
      };
      spans.addStep(attributes, ended === "fail" || ended === "unwritten");
    },
  };
}

/** The names that OpenTelemetry has for some of our providers. */
const PROVIDER_NAMES: Record<string, string> = { google: "gcp.gemini" };

/** Follows model requests: `toStartMs` says when one left, or null when it could not even be made. */
function createRequestWatch(
  metrics: Telemetry["metrics"],
  spans: ReturnType<typeof createStepSpans>,
  model: ModelId | null,
) {
  const provider = model?.provider ?? "unknown";
  const finish = (startMs: number | null, outcome: string, attributes: Record<string, string | number>) => {
    if (startMs === null) return;
    metrics.model.observe({ provider, outcome }, (performance.now() - startMs) / 1_000);
    spans.addPart(`chat ${model?.model}`, startMs, {
      kind: "client",
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": PROVIDER_NAMES[provider] ?? provider,
        "gen_ai.request.model": model?.model ?? "",
        ...attributes,
      },
      isError: outcome !== "ok",
    });
  };
  return async (
    reply: Promise<LanguageModelV3GenerateResult>,
    abort: AbortSignal,
    toStartMs: () => number | null,
  ) => {
    try {
      const result = await reply;
      const { inputTokens, outputTokens } = result.usage;
      const [input, output] = [toCount(inputTokens.total), toCount(outputTokens.total)];
      metrics.tokens.inc({ provider, kind: "input" }, input);
      metrics.tokens.inc({ provider, kind: "output" }, output);
      metrics.tokens.inc({ provider, kind: "reasoning" }, toCount(outputTokens.reasoning));
      finish(toStartMs(), "ok", {
        "gen_ai.usage.input_tokens": input,
        "gen_ai.usage.output_tokens": output,
      });
      return result;
    } catch (error) {
      const outcome = abort.aborted ? "aborted" : toRequestOutcome(error);
      finish(toStartMs(), outcome, { "error.type": outcome });
      throw error;
    }
  };
}

function toRequestOutcome(error: unknown): string {
  if (error instanceof ModelTimeoutError) return "timeout";
  return judgeModelError(error, { failures: 0, secrets: [] }).reason;
}

function toStepOutcome(effects: Effects | ModelFailure): StepOutcomeLabel {
  if (!("policy" in effects)) return effects.retryInMs === null ? "fail" : "retry";
  const { kind } = effects.outcome;
  return kind === "ask" ? "tools" : kind;
}

/** True when the last thing that happened is a caller's result: the server's own replies are told by their origin. */
function followsResults(events: readonly StoredEvent[] | null): boolean {
  const data = events?.at(-1)?.data;
  if (data?.kind === "tool_result") return true;
  return data?.kind === "error_event" && data.tool_req !== null && data.origin !== "server";
}
