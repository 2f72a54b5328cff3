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
    ...(apiKey === undefined ? {} : { apiKey }),
  };
  reader.finish();
  return config;
}
