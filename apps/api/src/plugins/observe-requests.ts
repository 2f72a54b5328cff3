// Every answered request as a metric, and those that change a session as a span of its trace. The route's pattern is
// looked at, never the path: ids and names stay out of labels.
import { readTraceparent } from "@tandem/engine/telemetry/spans";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ApiContext, App } from "../context.ts";

/** The route that waits: how long it does says nothing of how fast the server is. */
const POLL_ROUTE = "/api/v2/sessions/:id/changes";

/** The route whose good replies last: they are counted while they are open, and when they end. */
const STREAM_ROUTE = "/api/v2/sessions/:id/stream";

/** Where sessions are; what is below them has their id. */
const SESSIONS_ROUTE = "/api/v2/sessions";

/** Adds the hooks. Must come before the routes. */
export function observeRequests(app: App, { engine }: ApiContext): void {
  app.decorateRequest("createdSessionId", null);
  app.addHook("onResponse", (request, reply, done) => {
    const { metrics, tracer } = engine.telemetry;
    const { url: route = "none" } = request.routeOptions;
    const status = reply.statusCode;
    const seconds = reply.elapsedTime / 1_000;
    if (route === STREAM_ROUTE && status === 200 && request.method === "GET") return done();
    if (route === POLL_ROUTE && isPatient(request)) metrics.polls.observe({ status }, seconds);
    else metrics.http.observe({ method: route === "none" ? "any" : request.method, route, status }, seconds);
    if (tracer.isOn) traceRequest(request, reply, route);
    done();
  });

  function traceRequest(request: FastifyRequest, reply: FastifyReply, route: string): void {
    const status = reply.statusCode;
    const sessionId = toChangedSession(request, route);
    if (sessionId === null || !hasFoundIt(status)) return;
    const endMs = Date.now();
    const link = readTraceparent(toText(request.headers.traceparent));
    engine.telemetry.tracer.record({
      sessionId,
      name: `${request.method} ${route}`,
      kind: "server",
      startMs: endMs - reply.elapsedTime,
      endMs,
      attributes: {
        "http.request.method": request.method,
        "http.route": route,
        "http.response.status_code": status,
      },
      isError: status >= 500,
      ...(link ? { link } : {}),
    });
  }
}

/**
 * False for statuses of requests that may have been refused before they were known to be of the session's owner: nobody
 * adds to a foreign trace.
 */
function hasFoundIt(status: number): boolean {
  return status < 400 || status === 409 || status >= 500;
}

/** True for a poll that was ready to wait. */
function isPatient(request: FastifyRequest): boolean {
  return Number((request.query as { wait_for_seconds?: unknown }).wait_for_seconds) > 0;
}

/** The session that a request made, or was to change; null when it only reads, or names none. */
function toChangedSession(request: FastifyRequest, route: string): string | null {
  if (request.method === "GET" || !route.startsWith(SESSIONS_ROUTE)) return null;
  if (route === SESSIONS_ROUTE) return request.createdSessionId;
  const { id } = request.params as { id?: string };
  return id !== undefined && SESSION_ID.test(id) ? id.toLowerCase() : null;
}

const SESSION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Of a header that came more than once, the first. */
function toText(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? "";
}
