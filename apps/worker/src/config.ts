// Settings of the worker process, read once.
import {
  type CommonSettings,
  type Environment,
  readCommonSettings,
  SettingsReader,
} from "@tandem/engine/domain/settings";

/** Settings of the worker process. */
export interface WorkerConfig extends CommonSettings {
  /** Steps that run at once. A step mostly waits for its model. */
  concurrency: number;
  /** How long a claim lasts without being prolonged: how soon a dead worker's step is taken over. */
  leaseMs: number;
  /** When a model request is cut off, in seconds. */
  modelTimeoutS: number;
}

/**
 * Reads the settings.
 *
 * @throws {SettingsError} with every problem at once
 */
export function loadConfig(env: Environment): WorkerConfig {
  const reader = new SettingsReader(env);
  const config = {
    ...readCommonSettings(reader),
    concurrency: reader.integer("TANDEM_WORKER_CONCURRENCY", { fallback: 100, min: 1, max: 1_000 }),
    leaseMs: reader.integer("TANDEM_LEASE_MS", { fallback: 30_000, min: 100, max: 3_600_000 }),
    modelTimeoutS: reader.integer("TANDEM_MODEL_TIMEOUT_S", { fallback: 300, min: 1, max: 3_600 }),
  };
  reader.finish();
  return config;
}
