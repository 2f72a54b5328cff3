import { pauseSession } from "@tandem/engine/commands/pause-session";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOf, noContent } from "../../schemas/errors.ts";
import { SessionParams } from "../../schemas/params.ts";

/** `POST /sessions/{id}/pause`: pause a session. */
export function pauseSessionRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "POST",
    url: "/api/v2/sessions/:id/pause",
    schema: {
      operationId: "pauseSession",
      tags: ["sessions"],
      summary: "Pause a session",
      description:
        "At once, or when the step that runs is through, unless that ends the session. Results are taken meanwhile. Pausing again " +
        "changes nothing; 409 when the session has ended.",
      params: SessionParams,
      response: {
        202: noContent("The session is paused, or will be when its step is through."),
        ...errorsOf(404, 409),
      },
    },
    async handler(request, reply) {
      const { organizationId } = principalOf(request);
      await pauseSession(engine, { organizationId, sessionId: request.params.id });
      return reply.code(202).send();
    },
  });
}
