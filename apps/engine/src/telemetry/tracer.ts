// Where spans go. Without a collector to send them to, nothing of OpenTelemetry's SDK is loaded.
import type { Logger } from "pino";
import type { TraceSettings } from "../domain/telemetry-settings.ts";
import { settleWithin } from "../domain/time-limit.ts";
import { openSpanExport, type SpanExport } from "./span-export.ts";
import type { Span } from "./spans.ts";

/** Takes finished spans. */
export interface Tracer {
  /** False when nobody wants spans: then making one is wasted. */
  readonly isOn: boolean;
  record(span: Span): void;
  /** Sends what is left, within a bound: a collector that is away holds nobody up. */
  close(): Promise<void>;
}

const NO_TRACER: Tracer = { isOn: false, record: () => undefined, close: async () => undefined };

/** Most spans that wait for the SDK to be loaded. */
const MAX_EARLY = 1_000;

/** How long sending the last spans may take, in milliseconds. */
const CLOSE_MS = 3_000;

/** Makes a tracer; without settings one that does nothing. */
export function createTracer(options: {
  traces: TraceSettings | undefined;
  /** What the process is called when no setting says it. */
  name: string;
  log: Logger;
}): Tracer {
  const { traces, name, log } = options;
  if (traces === undefined) return NO_TRACER;
  const early: Span[] = [];
  let target: SpanExport | null = null;
  const opening = openSpanExport({ ...traces, serviceName: traces.serviceName ?? name, log }).then(
    (opened) => {
      for (const span of early.splice(0)) opened.add(span);
      target = opened;
    },
    (error: unknown) => log.error({ err: error }, "spans cannot be sent: OpenTelemetry's SDK was not loaded"),
  );
  return {
    isOn: true,
    record(span) {
      if (target) target.add(span);
      else if (early.length < MAX_EARLY) early.push(span);
    },
    async close() {
      const send = async () => {
        await opening;
        await target?.close();
      };
      await settleWithin(CLOSE_MS, send()).catch(() => log.warn("the last spans could not be sent"));
    },
  };
}
