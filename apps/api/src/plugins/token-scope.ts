// Session tokens reach one session, by the routes that are opened to them: every other route is closed.
import { TandemError } from "@tandem/engine/domain/errors";
import { refuseToken } from "@tandem/engine/domain/session-tokens";
import type { FastifyRequest } from "fastify";
import type { App } from "../context.ts";

/** Where one session is. */
const SESSION_ROUTE = "/api/v2/sessions/:id";

/**
 * Keeps session tokens within their scope, before the body is read: another session is not there, and what is not opened
 * by `sessionToken` is refused. Comes after authentication.
 */
export function confineTokens(app: App): void {
  app.addHook("onRequest", async (request) => {
    const scope = request.principal?.scope;
    if (!scope) return;
    const id = toSessionId(request);
    if (id !== null && id.toLowerCase() !== scope.sessionId)
      throw new TandemError("session_not_found", `There is no session ${id}.`);
    const isOpen = id !== null && request.routeOptions.config.sessionToken === true;
    const mayPost = scope.tools === null || scope.tools.length > 0;
    if (!isOpen || !(mayPost || isReading(request))) refuseToken(scope);
  });
}

/** The session that the path names; null when it names none. */
function toSessionId(request: FastifyRequest): string | null {
  const { url = "" } = request.routeOptions;
  const isOfSession = url === SESSION_ROUTE || url.startsWith(`${SESSION_ROUTE}/`);
  return isOfSession ? (request.params as { id: string }).id : null;
}

function isReading({ method }: FastifyRequest): boolean {
  return method === "GET" || method === "HEAD";
}
