// The way to a collector, by OpenTelemetry's SDK: it batches, writes OTLP, and tries again. The packages are imported
// when they are needed; an import at the top would stay at the top of the bundle.
import { randomBytes, randomUUID } from "node:crypto";
import type { HrTime, SpanContext, SpanKind } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";
import type { TraceSettings } from "../domain/telemetry-settings.ts";
import { type Span, toRootSpanId, toTraceId } from "./spans.ts";

/** Sends spans. */
export interface SpanExport {
  add(span: Span): void;
  /** Sends what is left. */
  close(): Promise<void>;
}

/** How long one batch may take on its way, repeats included, in milliseconds. */
const EXPORT_MS = 5_000;

/** Loads the SDK and opens the way. Connects when there is something to send. */
export async function openSpanExport(
  options: Required<TraceSettings> & { log: Logger },
): Promise<SpanExport> {
  const [{ BatchSpanProcessor }, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/resources"),
  ]);
  const { endpoint, headers, serviceName, log } = options;
  const url = `${endpoint}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: EXPORT_MS });
  const processor = new BatchSpanProcessor({
    exporter: reportFailures(exporter, log),
    exportTimeoutMillis: EXPORT_MS,
  });
  const resource = resourceFromAttributes({
    "service.name": serviceName,
    "service.instance.id": randomUUID(),
  });
  return {
    add: (span) => processor.onEnd(toReadableSpan(span, resource)),
    close: () => processor.shutdown(),
  };
}

/** The SDK keeps failures to itself. The first of a row is told, and when it goes on. */
function reportFailures(exporter: SpanExporter, log: Logger): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const hasFailed = result.error !== undefined || result.code !== 0;
        if (hasFailed && !isFailing) {
          log.warn({ reason: result.error?.message }, "spans were lost: the collector does not take them");
        }
        if (!hasFailed && isFailing) log.info("spans are sent again");
        isFailing = hasFailed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

/** OpenTelemetry's numbers: of kinds of spans, of a status, and the flag of a trace that is kept. */
const KINDS = { internal: 0, server: 1, client: 2 } as const satisfies Record<string, SpanKind>;
const STATUS = { unset: 0, error: 2 } as const;
const SAMPLED = 1;

const SCOPE = { name: "tandem" };

function toReadableSpan(span: Span, resource: Resource): ReadableSpan {
  const { parentId = toRootSpanId(span.sessionId), link } = span;
  const context = toContext(toTraceId(span.sessionId), span.id ?? randomBytes(8).toString("hex"));
  const endMs = Math.max(span.startMs, span.endMs);
  return {
    name: span.name,
    kind: KINDS[span.kind ?? "internal"],
    spanContext: () => context,
    ...(parentId === null ? {} : { parentSpanContext: toContext(context.traceId, parentId) }),
    startTime: toHrTime(span.startMs),
    endTime: toHrTime(endMs),
    duration: toHrTime(endMs - span.startMs),
    status: { code: span.isError ? STATUS.error : STATUS.unset },
    attributes: span.attributes,
    links: link ? [{ context: { ...toContext(link.traceId, link.spanId), isRemote: true } }] : [],
    events: [],
    ended: true,
    resource,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function toContext(traceId: string, spanId: string): SpanContext {
  return { traceId, spanId, traceFlags: SAMPLED };
}

/** Whole seconds, and the rest in nanoseconds. */
function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)];
}
