// Settings of the standalone stack: those of API and worker, with what they need filled in.
import { type ApiConfig, loadConfig as loadApiConfig } from "@tandem/api/config";
import { DEMO_MODEL } from "@tandem/engine/domain/models";
import { type Environment, SettingsError } from "@tandem/engine/domain/settings";
import { loadConfig as loadWorkerConfig, type WorkerConfig } from "@tandem/worker/config";

/** Settings of the standalone stack. */
export interface StandaloneConfig {
  api: ApiConfig;
  worker: WorkerConfig;
  /** Where the embedded Postgres and the made-up key are kept. */
  dataDir: string;
  /** True when no `DATABASE_URL` is given: then the stack starts a Postgres of its own. */
  isEmbedded: boolean;
  /** True when no `TANDEM_MODEL` is given: then agents without a model use the demo model. */
  isDemoModel: boolean;
  logLevel: ApiConfig["logLevel"];
}

/** Stands for the embedded database until its address is known. */
const EMBEDDED_URL = "postgresql://embedded";

/**
 * Reads the settings.
 *
 * @throws {SettingsError} with every problem of both parts at once
 */
export function loadConfig(env: Environment): StandaloneConfig {
  const isEmbedded = !env.DATABASE_URL?.trim();
  const isDemoModel = !env.TANDEM_MODEL?.trim();
  const filled = {
    ...env,
    ...(isEmbedded ? { DATABASE_URL: EMBEDDED_URL } : {}),
    ...(isDemoModel ? { TANDEM_MODEL: DEMO_MODEL } : {}),
  };
  const problems = new Set<string>();
  const api = collect(() => loadApiConfig(filled), problems);
  const worker = collect(() => loadWorkerConfig(filled), problems);
  if (!api || !worker) throw new SettingsError([...problems]);
  const dataDir = env.TANDEM_DATA_DIR?.trim() || ".tandem";
  return { api, worker, dataDir, isEmbedded, isDemoModel, logLevel: api.logLevel };
}

function collect<T>(load: () => T, problems: Set<string>): T | null {
  try {
    return load();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    for (const problem of error.problems) problems.add(problem);
    return null;
  }
}
