// Settings of what a process tells about itself: metrics and traces.
import type { SettingsReader } from "./settings.ts";

/** Where traces go. */
export interface TraceSettings {
  /** The base of a collector's OTLP/HTTP addresses, without a slash at its end. */
  endpoint: string;
  /** Sent with every request, as for a key. */
  headers: Record<string, string>;
  /** What the process is called in traces; left out, each role has its own name. */
  serviceName?: string;
}

/** What both processes read. */
export interface TelemetrySettings {
  /** Absent: nothing is traced. */
  traces?: TraceSettings;
  /** What a request for metrics must bring; absent: nothing. */
  metricsToken?: string;
}

/** Reads OpenTelemetry's own settings, and the token for metrics. */
export function readTelemetrySettings(reader: SettingsReader): TelemetrySettings {
  const endpoint = reader.url("OTEL_EXPORTER_OTLP_ENDPOINT", ["http", "https"])?.replace(/\/+$/, "");
  const headers = readHeaders(reader);
  const serviceName = reader.text("OTEL_SERVICE_NAME");
  const metricsToken = readMetricsToken(reader);
  const named = serviceName === undefined ? {} : { serviceName };
  return {
    ...(endpoint === undefined ? {} : { traces: { endpoint, headers, ...named } }),
    ...(metricsToken === undefined ? {} : { metricsToken }),
  };
}

function readMetricsToken(reader: SettingsReader): string | undefined {
  const token = reader.text("TANDEM_METRICS_TOKEN");
  if (token !== undefined && !/^[!-~]{8,200}$/.test(token)) {
    reader.problem("TANDEM_METRICS_TOKEN must have 8 to 200 ASCII characters and no spaces");
  }
  return token;
}

/** `name=value` pairs with commas between them, values percent-encoded where they must be, as OpenTelemetry has it. */
function readHeaders(reader: SettingsReader): Record<string, string> {
  const text = reader.text("OTEL_EXPORTER_OTLP_HEADERS") ?? "";
  const pairs = text.split(",").filter((pair) => pair.trim() !== "");
  const headers = pairs.map((pair) => /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=(.*)$/.exec(pair));
  if (headers.includes(null)) {
    // The value itself stays out of the message: it may hold a key.
    reader.problem("OTEL_EXPORTER_OTLP_HEADERS is not of the form name=value,name=value");
  }
  return Object.fromEntries(headers.flatMap((found) => (found ? [[found[1], decode(found[2] ?? "")]] : [])));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.trim());
  } catch {
    return text.trim();
  }
}
