// Settings of the worker process, read once.
import {
  type CommonSettings,
  type Environment,
  readCommonSettings,
  SettingsReader,
} from "@tandem/engine/domain/settings";

/** Where a worker listens for whoever asks for its metrics. */
export interface MetricsAddress {
  host: string;
  port: number;
}

/** Settings of the worker process. */
export interface WorkerConfig extends CommonSettings {
  /** Steps that run at once. A step mostly waits for its model. */
  concurrency: number;
  /** How long a claim lasts without being prolonged: how soon a dead worker's step is taken over. */
  leaseMs: number;
  /** When a model request is cut off, in seconds. */
  modelTimeoutS: number;
  /** Where metrics are served; port 0 takes a free one. Absent: nowhere. */
  metricsAddress?: MetricsAddress;
}

/**
 * Reads the settings.
 *
 * @throws {SettingsError} with every problem at once
 */
export function loadConfig(env: Environment): WorkerConfig {
  const reader = new SettingsReader(env);
  const metricsAddress = readMetricsAddress(reader);
  const config = {
    ...readCommonSettings(reader),
    concurrency: reader.integer("TANDEM_WORKER_CONCURRENCY", { fallback: 100, min: 1, max: 1_000 }),
    leaseMs: reader.integer("TANDEM_LEASE_MS", { fallback: 30_000, min: 100, max: 3_600_000 }),
    modelTimeoutS: reader.integer("TANDEM_MODEL_TIMEOUT_S", { fallback: 300, min: 1, max: 3_600 }),
    ...(metricsAddress === null ? {} : { metricsAddress }),
  };
  reader.finish();
  return config;
}

/** A worker answers nobody but who asks for its metrics, and listens only when told where. */
function readMetricsAddress(reader: SettingsReader): MetricsAddress | null {
  const host = reader.text("TANDEM_METRICS_HOST") ?? "127.0.0.1";
  const port = reader.integer("TANDEM_METRICS_PORT", { fallback: -1, min: 0, max: 65_535 });
  return port === -1 ? null : { host, port };
}
