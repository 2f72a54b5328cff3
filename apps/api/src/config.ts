// Settings of the API process, read once.
import {
  type CommonSettings,
  type Environment,
  readCommonSettings,
  readFirstApiKey,
  SettingsReader,
} from "@tandem/engine/domain/settings";

/** Settings of the API process. */
export interface ApiConfig extends CommonSettings {
  host: string;
  port: number;
  /** A first key of organization `default`, made at start when it is missing. */
  apiKey?: string;
  /** Most requests of one API key in a minute; 0 does not limit them. */
  rateLimitPerMinute: number;
}

/**
 * Reads the settings.
 *
 * @throws {SettingsError} with every problem at once
 */
export function loadConfig(env: Environment): ApiConfig {
  const reader = new SettingsReader(env);
  const common = readCommonSettings(reader);
  const apiKey = readFirstApiKey(reader);
  const config = {
    ...common,
    host: reader.text("HOST") ?? "127.0.0.1",
    port: reader.integer("PORT", { fallback: 3000, min: 0, max: 65_535 }),
    rateLimitPerMinute: reader.integer("TANDEM_RATE_LIMIT_PER_MINUTE", {
      fallback: 0,
      min: 0,
      max: 1_000_000,
    }),
    ...(apiKey === undefined ? {} : { apiKey }),
  };
  reader.finish();
  return config;
}
