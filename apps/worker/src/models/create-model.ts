import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV3 } from "@ai-sdk/provider";
import { findModelFault, type ModelSettings, parseModelId } from "@tandem/engine/domain/models";
import { ModelSetupError } from "../agent/model-errors.ts";
import { createDemoKeywordModel } from "./demo-keyword/model.ts";
import { fetchWithEnds } from "./ended-streams.ts";
import { fetchWithExactArguments } from "./exact-arguments.ts";
import { modelFetch } from "./model-fetch.ts";

/** Most models of one worker that are kept; callers name them. */
const MAX_MODELS = 100;

/**
 * Finds the models of a worker by their ids, through the AI SDK's providers. What it has made it gives again: a provider
 * builds the schemas of its replies each time.
 *
 * @returns throws {@link ModelSetupError} when the provider is unknown or not configured in this process
 */
export function createModels(settings: ModelSettings): (id: string) => LanguageModelV3 {
  const made = new Map<string, LanguageModelV3>();
  return (id) => {
    const model = made.get(id) ?? createModel(id, settings);
    if (made.size >= MAX_MODELS) made.clear();
    made.set(id, model);
    return model;
  };
}

/**
 * The model of an id, through the AI SDK's providers.
 *
 * @throws {ModelSetupError} when the provider is unknown or not configured in this process
 */
export function createModel(id: string, settings: ModelSettings): LanguageModelV3 {
  const parsed = parseModelId(id);
  const fault = findModelFault(id, settings);
  if (!parsed || fault) throw new ModelSetupError(fault ?? `model ${id} is unknown`);
  switch (parsed.provider) {
    case "openai":
      return createOpenAI({
        ...toOptions(settings.openai, "https://api.openai.com/v1"),
        fetch: modelFetch,
      }).languageModel(parsed.model);
    case "anthropic":
      return createAnthropic({
        ...toOptions(settings.anthropic, "https://api.anthropic.com/v1"),
        fetch: fetchWithExactArguments,
      }).languageModel(parsed.model);
    case "google":
      return createGoogleGenerativeAI({
        apiKey: settings.google?.apiKey ?? "",
        fetch: fetchWithExactArguments,
      }).languageModel(parsed.model);
    case "compatible":
      return createOpenAICompatible({
        name: "compatible",
        baseURL: settings.compatible?.baseUrl ?? "",
        ...(settings.compatible?.apiKey ? { apiKey: settings.compatible.apiKey } : {}),
        // Without it a stream tells no tokens.
        includeUsage: true,
        fetch: fetchWithEnds,
      }).languageModel(parsed.model);
    case "demo":
      return createDemoKeywordModel();
  }
}

/** Keys of these settings, which must never show in an error. */
export function listSecrets(settings: ModelSettings): string[] {
  const { openai, anthropic, google, compatible } = settings;
  return [openai, anthropic, google, compatible].flatMap((entry) => entry?.apiKey ?? []);
}

/** The base URL is always said: left out, the SDK would read it from the environment, an empty one too. */
function toOptions(settings: { apiKey: string; baseUrl?: string } | undefined, defaultUrl: string) {
  return { apiKey: settings?.apiKey ?? "", baseURL: settings?.baseUrl ?? defaultUrl };
}
