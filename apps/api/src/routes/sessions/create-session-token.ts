import { createSessionToken } from "@tandem/engine/commands/create-session-token";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOfBody } from "../../schemas/errors.ts";
import { SessionParams } from "../../schemas/params.ts";
import { NewSessionToken, SessionToken } from "../../schemas/session-tokens.ts";
import { ref } from "../../schemas/typebox.ts";

/** `POST /sessions/{id}/tokens`: makes a short-lived token that is good for this session. */
export function createSessionTokenRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "POST",
    url: "/api/v2/sessions/:id/tokens",
    schema: {
      operationId: "createSessionToken",
      tags: ["sessions"],
      summary: "Make a session token",
      description:
        "For a client that must not have an API key, such as a browser. The token reads the session's changes and " +
        "status, and posts results, progress and claims for its tools; anything else is 403 `token_scope`. It ends with " +
        "its time, with the session, and with the key that made it. 409 when the session's content has been removed.",
      params: SessionParams,
      body: ref(NewSessionToken),
      response: { 201: ref(SessionToken), ...errorsOfBody(404, 409) },
    },
    async handler(request, reply) {
      const { tools, expires_in_s: expiresInS } = request.body;
      const { token, expiresAt } = await createSessionToken(engine, {
        principal: principalOf(request),
        sessionId: request.params.id,
        tools,
        expiresInS,
      });
      return reply.code(201).send({ token, expires_at: expiresAt.toISOString() });
    },
  });
}
