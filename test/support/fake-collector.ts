// A collector of traces that keeps what it is sent, over OTLP/HTTP with JSON.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

/** A span as it arrived, flattened. */
export interface CollectedSpan {
  service: string;
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  name: string;
  /** OTLP's number: 1 internal, 2 server, 3 client. */
  kind: number;
  /** Epoch milliseconds. */
  startMs: number;
  endMs: number;
  attributes: Record<string, unknown>;
  isError: boolean;
  links: { traceId: string; spanId: string }[];
}

export interface FakeCollector {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  endpoint: string;
  spans: CollectedSpan[];
  /** The bodies as they came. */
  bodies: string[];
  headers: IncomingHttpHeaders[];
  close(): Promise<void>;
}

interface WireAttribute {
  key: string;
  value: Record<string, unknown>;
}

interface WireSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: WireAttribute[];
  status: { code: number };
  links: { traceId: string; spanId: string }[];
}

interface WireBody {
  resourceSpans: { resource: { attributes: WireAttribute[] }; scopeSpans: { spans: WireSpan[] }[] }[];
}

export async function startFakeCollector(): Promise<FakeCollector> {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    request.setEncoding("utf8");
    for await (const chunk of request) body += chunk;
    if (request.method !== "POST" || request.url !== "/v1/traces") return response.writeHead(404).end();
    bodies.push(body);
    headers.push(request.headers);
    spans.push(...flatten(JSON.parse(body) as WireBody));
    return response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    spans,
    bodies,
    headers,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function flatten({ resourceSpans }: WireBody): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(toRecord(resource.attributes)["service.name"]);
    return scopeSpans.flatMap((scope) => scope.spans.map((span) => toCollected(span, service)));
  });
}

function toCollected(span: WireSpan, service: string): CollectedSpan {
  const { traceId, spanId, parentSpanId, name, kind, links = [] } = span;
  return {
    service,
    traceId,
    spanId,
    parentSpanId: parentSpanId || null,
    name,
    kind,
    startMs: Number(span.startTimeUnixNano) / 1e6,
    endMs: Number(span.endTimeUnixNano) / 1e6,
    attributes: toRecord(span.attributes),
    isError: span.status.code === 2,
    links: links.map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
  };
}

function toRecord(attributes: WireAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
