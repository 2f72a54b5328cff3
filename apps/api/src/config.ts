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
  /** The server's address as others see it, for links that are given to them; without a slash at its end. */
  publicUrl?: string;
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
  const publicUrl = readPublicUrl(reader);
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
    ...(publicUrl === undefined ? {} : { publicUrl }),
  };
  reader.finish();
  return config;
}

/** Paths are put behind it, so it ends before a query; a slash at its end is taken off. */
function readPublicUrl(reader: SettingsReader): string | undefined {
  const text = reader.url("TANDEM_PUBLIC_URL", ["http", "https"]);
  if (text === undefined || !URL.canParse(text)) return undefined;
  const { origin, pathname, href } = new URL(text);
  if (href !== `${origin}${pathname}`) {
    reader.problem("TANDEM_PUBLIC_URL has a user, a query or a fragment: only host, port and path are right");
  }
  return `${origin}${pathname}`.replace(/\/+$/, "");
}
