// Model ids (`provider/model`) and which settings each provider needs. Talking to a model is the worker's.

/** The providers that a model id can name, and the setting that turns each on. `null` needs none. */
const PROVIDER_SETTINGS = {
  openai: "OPENAI_API_KEY",
  anthropic: "ANTHROPIC_API_KEY",
  google: "GOOGLE_GENERATIVE_AI_API_KEY",
  compatible: "TANDEM_COMPATIBLE_BASE_URL",
  demo: null,
} as const satisfies Record<string, string | null>;

/** A provider of {@link PROVIDER_SETTINGS}. */
export type Provider = keyof typeof PROVIDER_SETTINGS;

/** The model that needs no key: it matches words and is labelled as a demo wherever it shows. */
export const DEMO_MODEL = "demo/keyword";

/** Settings of the model providers, as read from the environment. Absent means not configured. */
export interface ModelSettings {
  openai?: { apiKey: string; baseUrl?: string };
  anthropic?: { apiKey: string; baseUrl?: string };
  google?: { apiKey: string };
  compatible?: { baseUrl: string; apiKey?: string };
  /** The model of agents that name none. */
  defaultModel?: string;
}

/** A model id in its two parts. The model's own name may hold slashes. */
export interface ModelId {
  provider: Provider;
  model: string;
}

/** Splits `provider/model`; null when it has not that form or the provider is unknown. */
export function parseModelId(id: string): ModelId | null {
  const slash = id.indexOf("/");
  const provider = id.slice(0, slash);
  const model = id.slice(slash + 1);
  if (slash < 1 || model === "" || !Object.hasOwn(PROVIDER_SETTINGS, provider)) return null;
  return { provider: provider as Provider, model };
}

/** Says why a model cannot be used with these settings, or null when it can. */
export function findModelFault(id: string, settings: ModelSettings): string | null {
  const parsed = parseModelId(id);
  if (!parsed) {
    const providers = Object.keys(PROVIDER_SETTINGS).join(", ");
    return `model ${JSON.stringify(id)} is not of the form provider/model with a known provider (${providers})`;
  }
  if (parsed.provider === "demo") {
    return id === DEMO_MODEL
      ? null
      : `model ${JSON.stringify(id)} does not exist; the demo model is ${DEMO_MODEL}`;
  }
  if (settings[parsed.provider]) return null;
  return `model ${JSON.stringify(id)} needs the setting ${PROVIDER_SETTINGS[parsed.provider]}, which is not set on this server`;
}
