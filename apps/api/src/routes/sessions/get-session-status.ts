import { getStatus } from "@tandem/engine/queries/sessions";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOfReading } from "../../schemas/errors.ts";
import { SessionParams } from "../../schemas/params.ts";
import { SessionStatus, toSessionStatus } from "../../schemas/sessions.ts";
import { ref } from "../../schemas/typebox.ts";

/** `GET /sessions/{id}/status`: the status alone, cheap to ask for. */
export function getSessionStatusRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "GET",
    url: "/api/v2/sessions/:id/status",
    config: { sessionToken: true },
    schema: {
      operationId: "getSessionStatus",
      tags: ["sessions"],
      summary: "Get a session's status",
      params: SessionParams,
      response: { 200: ref(SessionStatus), ...errorsOfReading(404) },
    },
    async handler(request) {
      const { organizationId } = principalOf(request);
      return toSessionStatus(await getStatus(engine, { organizationId, sessionId: request.params.id }));
    },
  });
}
