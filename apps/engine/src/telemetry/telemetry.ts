// What a process tells about itself: metrics for whoever scrapes them, spans for a collector. It changes nothing, knows
// no database, and one engine's is apart from every other's.
import type { Logger } from "pino";
import { Registry } from "prom-client";
import type { TraceSettings } from "../domain/telemetry-settings.ts";
import { createLoadMetrics, type LoadSources } from "./load-metrics.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { createProcessMetrics } from "./process-metrics.ts";
import { createTracer, type Tracer } from "./tracer.ts";

/** The metrics and the traces of one engine. */
export interface Telemetry {
  metrics: Metrics;
  tracer: Tracer;
  /** Says how many clients wait, whenever somebody asks. */
  watchWaiters(count: () => number): void;
  /**
   * All metrics as Prometheus reads them. Takes a second at most: what a database or a queue would say that is away is
   * left out, and `tandem_up` says so.
   */
  scrape(): Promise<{ contentType: string; body: string }>;
  /** Sends the last spans, and watches no more. */
  close(): Promise<void>;
}

/** Options of {@link createTelemetry}. */
export interface TelemetryOptions {
  /** What the process is called in traces when no setting says it. */
  name: string;
  log: Logger;
  sources: LoadSources;
  /** Absent: nothing is traced. */
  traces?: TraceSettings | undefined;
}

/** Makes the telemetry of an engine. */
export function createTelemetry(options: TelemetryOptions): Telemetry {
  const registry = new Registry();
  const metrics = createMetrics(registry);
  const updateLoad = createLoadMetrics(registry, options.sources);
  const processMetrics = createProcessMetrics(registry);
  const { name, log, traces } = options;
  const tracer = createTracer({ name, log, traces });
  let countWaiters = () => 0;
  return {
    metrics,
    tracer,
    watchWaiters(count) {
      countWaiters = count;
    },
    async scrape() {
      metrics.waiters.set(countWaiters());
      await Promise.all([updateLoad(), processMetrics.update()]);
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
    async close() {
      processMetrics.close();
      await tracer.close();
    },
  };
}
