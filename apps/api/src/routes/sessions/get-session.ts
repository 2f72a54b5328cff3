import { getSession } from "@tandem/engine/queries/sessions";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOf } from "../../schemas/errors.ts";
import { SessionParams } from "../../schemas/params.ts";
import { Session, toSession } from "../../schemas/sessions.ts";
import { ref } from "../../schemas/typebox.ts";

/** `GET /sessions/{id}`: the session with its request and latest answer. */
export function getSessionRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "GET",
    url: "/api/v2/sessions/:id",
    schema: {
      operationId: "getSession",
      tags: ["sessions"],
      summary: "Get a session",
      params: SessionParams,
      response: { 200: ref(Session), ...errorsOf(404) },
    },
    async handler(request) {
      const { organizationId } = principalOf(request);
      return toSession(await getSession(engine, { organizationId, sessionId: request.params.id }));
    },
  });
}
