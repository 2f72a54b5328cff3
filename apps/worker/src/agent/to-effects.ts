import type { LanguageModelV3GenerateResult } from "@ai-sdk/provider";
import type { FinishedStep } from "@tandem/engine/commands/finish-step";
import type { StoredEvent } from "@tandem/engine/domain/events";
import { findLastStep } from "@tandem/engine/domain/last-step";
import type { ToolHistory } from "@tandem/engine/domain/tool-history";
import type { ClaimedSessionRow } from "@tandem/engine/postgres/session-row";
import { collectProviderIds } from "./build-prompt.ts";
import { decideOutcome } from "./decide-outcome.ts";
import { readReply } from "./read-reply.ts";

/** What a model's reply makes of a step, before it is written. */
export type Effects = Omit<FinishedStep, "sessionId" | "fence">;

/** What a claimed session's reply follows: its events, and what they say of its tools. */
export interface History {
  events: readonly StoredEvent[];
  tools: ToolHistory;
}

/** The effects of a reply to a claimed session with this history. Pure, but for the ids of the calls. */
export function toEffects(
  session: ClaimedSessionRow,
  { events, tools: history }: History,
  result: LanguageModelV3GenerateResult,
): Effects {
  const reply = readReply(result, collectProviderIds(events));
  const decision = decideOutcome(reply, {
    tools: session.tools,
    answerFormat: session.agent.answer_format ?? null,
    lastStep: findLastStep(session),
    corrections: session.corrections,
    nudges: session.nudges,
    uselessSteps: session.uselessSteps,
    builtins: session.agent.builtins ?? true,
    toolChoice: session.agent.tool_choice ?? null,
    history,
  });
  // The model's name is set when the session is created.
  return { ...decision, usage: { name: session.agent.model ?? "", ...reply.usage } };
}
