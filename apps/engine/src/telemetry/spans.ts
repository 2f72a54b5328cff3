// Spans without a context that travels: a session's id is its trace's, and the ids of the spans that have children
// follow from it. Any process can add to a session's trace, and no job or row carries anything for it.

/** One finished span of a session's trace. */
export interface Span {
  sessionId: string;
  name: string;
  /** Who asks whom: `server` answers a request, `client` makes one. Default `internal`. */
  kind?: "server" | "client";
  /** Its id, where others must know it; left out, nobody does. */
  id?: string;
  /** The span above; left out, the session's. Null for the session's own. */
  parentId?: string | null;
  /** Epoch milliseconds, with fractions. */
  startMs: number;
  endMs: number;
  /** Never content of messages, arguments or results. */
  attributes: Record<string, string | number | boolean>;
  isError?: boolean;
  /** A span of another trace that led to this one. */
  link?: { traceId: string; spanId: string };
}

/** The trace of a session: its id is a UUID, and both have 128 bits. */
export function toTraceId(sessionId: string): string {
  return sessionId.replaceAll("-", "");
}

/** The session's own span: the random half of its id. */
export function toRootSpanId(sessionId: string): string {
  return toTraceId(sessionId).slice(16);
}

/** Far from any other fence's: an odd number of 64 bits, the golden ratio's. */
const SPREAD = 0x9e3779b97f4a7c15n;

/** The span of one claim of a session's steps. */
export function toStepSpanId(sessionId: string, fence: number): string {
  const id = BigInt.asUintN(64, BigInt(`0x${toRootSpanId(sessionId)}`) + SPREAD * BigInt(fence));
  return id.toString(16).padStart(16, "0");
}

/** When a session was created: our ids begin with the moment, in milliseconds. */
export function toCreationMs(sessionId: string): number {
  return Number.parseInt(toTraceId(sessionId).slice(0, 12), 16);
}

/** The span that a `traceparent` header names, as W3C has it; null when there is none. */
export function readTraceparent(header: string | undefined): { traceId: string; spanId: string } | null {
  const [, traceId = "", spanId = ""] =
    /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-|$)/.exec(header ?? "") ?? [];
  return /[1-9a-f]/.test(traceId) && /[1-9a-f]/.test(spanId) ? { traceId, spanId } : null;
}
