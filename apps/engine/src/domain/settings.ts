// Reading settings from an environment. Pure: every problem is collected, none is fatal before all are known.
import { findModelFault, type ModelSettings } from "./models.ts";
import { readTelemetrySettings, type TelemetrySettings } from "./telemetry-settings.ts";

/** The environment of a process, or a stand-in for one. */
export type Environment = Record<string, string | undefined>;

/** All problems of an environment, one line each. */
export class SettingsError extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(
      `The settings have ${problems.length} problem(s):\n${problems.map((line) => `  - ${line}`).join("\n")}`,
    );
    this.name = "SettingsError";
    this.problems = problems;
  }
}

/** Reads settings one by one and remembers what is wrong with each. An empty value counts as not set. */
export class SettingsReader {
  private readonly env: Environment;
  private readonly problems: string[] = [];

  constructor(env: Environment) {
    this.env = env;
  }

  text(name: string): string | undefined {
    return this.env[name]?.trim() || undefined;
  }

  required(name: string, why: string): string {
    const value = this.text(name);
    if (value === undefined) this.problems.push(`${name} is not set: ${why}`);
    return value ?? "";
  }

  integer(name: string, bounds: { fallback: number; min: number; max: number }): number {
    const text = this.text(name);
    if (text === undefined) return bounds.fallback;
    const value = Number(text);
    if (Number.isInteger(value) && value >= bounds.min && value <= bounds.max) return value;
    this.problems.push(
      `${name} is ${JSON.stringify(text)}: a whole number of ${bounds.min} to ${bounds.max} is right`,
    );
    return bounds.fallback;
  }

  oneOf<const T extends string>(name: string, allowed: readonly T[], fallback: T): T {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const match = allowed.find((value) => value === text);
    if (match === undefined)
      this.problems.push(`${name} is ${JSON.stringify(text)}: one of ${allowed.join(", ")} is right`);
    return match ?? fallback;
  }

  url(name: string, schemes: readonly string[]): string | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const isRight = URL.canParse(text) && schemes.includes(new URL(text).protocol.slice(0, -1));
    // The value itself stays out of the message: it may hold a password.
    if (!isRight)
      this.problems.push(`${name} is not a URL with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}`);
    return text;
  }

  problem(line: string): void {
    this.problems.push(line);
  }

  /** Throws a {@link SettingsError} with everything that was wrong. */
  finish(): void {
    if (this.problems.length > 0) throw new SettingsError(this.problems);
  }
}

/** Names of the log levels, the noisiest first. `silent` writes nothing. */
const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

/** The settings that API and worker share. */
export interface CommonSettings extends TelemetrySettings {
  databaseUrl: string;
  redisUrl?: string;
  logLevel: (typeof LOG_LEVELS)[number];
  models: ModelSettings;
  /** How often waiting clients and due steps are looked at again, in milliseconds. */
  sweepMs: number;
  /** How many sessions of one organization may be active at once; 0 is any number. */
  maxActiveSessions: number;
  /** Most connections of the process to the database at once, for statements. */
  databaseConnections: number;
}

/** Reads what both processes need. `DATABASE_URL` is required here; the standalone app fills it in. */
export function readCommonSettings(reader: SettingsReader): CommonSettings {
  reader.required(
    "DATABASE_URL",
    "the Postgres that holds the sessions, postgresql://user:password@host:port/name",
  );
  const redisUrl = reader.url("REDIS_URL", ["redis", "rediss"]);
  return {
    databaseUrl: reader.url("DATABASE_URL", ["postgres", "postgresql"]) ?? "",
    ...(redisUrl === undefined ? {} : { redisUrl }),
    logLevel: reader.oneOf("LOG_LEVEL", LOG_LEVELS, "info"),
    models: readModelSettings(reader),
    sweepMs: reader.integer("TANDEM_SWEEP_MS", { fallback: 5_000, min: 50, max: 3_600_000 }),
    maxActiveSessions: reader.integer("TANDEM_MAX_ACTIVE_SESSIONS", { fallback: 0, min: 0, max: 1_000_000 }),
    databaseConnections: reader.integer("TANDEM_DATABASE_CONNECTIONS", { fallback: 10, min: 2, max: 500 }),
    ...readTelemetrySettings(reader),
  };
}

/** Reads the first key of the organization `default`, which is made at start when it is missing. */
export function readFirstApiKey(reader: SettingsReader): string | undefined {
  const key = reader.text("TANDEM_API_KEY");
  if (key !== undefined && !/^\S{8,200}$/.test(key)) {
    reader.problem("TANDEM_API_KEY must have 8 to 200 characters and no spaces");
  }
  return key;
}

function readModelSettings(reader: SettingsReader): ModelSettings {
  const openaiKey = reader.text("OPENAI_API_KEY");
  const openaiUrl = reader.url("OPENAI_BASE_URL", HTTP);
  const anthropicKey = reader.text("ANTHROPIC_API_KEY");
  const anthropicUrl = reader.url("ANTHROPIC_BASE_URL", HTTP);
  const googleKey = reader.text("GOOGLE_GENERATIVE_AI_API_KEY");
  const compatibleUrl = reader.url("TANDEM_COMPATIBLE_BASE_URL", HTTP);
  const compatibleKey = reader.text("TANDEM_COMPATIBLE_API_KEY");
  const defaultModel = reader.text("TANDEM_MODEL");
  const settings: ModelSettings = {
    ...(openaiKey ? { openai: { apiKey: openaiKey, ...(openaiUrl ? { baseUrl: openaiUrl } : {}) } } : {}),
    ...(anthropicKey
      ? { anthropic: { apiKey: anthropicKey, ...(anthropicUrl ? { baseUrl: anthropicUrl } : {}) } }
      : {}),
    ...(googleKey ? { google: { apiKey: googleKey } } : {}),
    ...(compatibleUrl
      ? { compatible: { baseUrl: compatibleUrl, ...(compatibleKey ? { apiKey: compatibleKey } : {}) } }
      : {}),
    ...(defaultModel ? { defaultModel } : {}),
  };
  const fault = defaultModel && findModelFault(defaultModel, settings);
  if (fault) reader.problem(`TANDEM_MODEL: ${fault}`);
  return settings;
}

const HTTP = ["http", "https"];
