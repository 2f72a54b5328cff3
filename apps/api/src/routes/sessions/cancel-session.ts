import { cancelSession } from "@tandem/engine/commands/cancel-session";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOf, noContent } from "../../schemas/errors.ts";
import { SessionParams } from "../../schemas/params.ts";

/** `DELETE /sessions/{id}`: cancels the session; its pending calls are settled. */
export function cancelSessionRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "DELETE",
    url: "/api/v2/sessions/:id",
    schema: {
      operationId: "cancelSession",
      tags: ["sessions"],
      summary: "Cancel a session",
      description:
        "Aborts a running model request and settles pending calls. Cancelling again changes nothing.",
      params: SessionParams,
      response: { 204: noContent("The session has ended."), ...errorsOf(404) },
    },
    async handler(request, reply) {
      const { organizationId } = principalOf(request);
      await cancelSession(engine, { organizationId, sessionId: request.params.id });
      return reply.code(204).send();
    },
  });
}
