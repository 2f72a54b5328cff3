import { resumeSession } from "@tandem/engine/commands/resume-session";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOf, noContent } from "../../schemas/errors.ts";
import { SessionParams } from "../../schemas/params.ts";

/** `POST /sessions/{id}/resume`: resume a paused session. */
export function resumeSessionRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "POST",
    url: "/api/v2/sessions/:id/resume",
    schema: {
      operationId: "resumeSession",
      tags: ["sessions"],
      summary: "Resume a paused session",
      description:
        "The session goes on where it was. A session that is not paused stays as it is; 409 when it has " +
        "ended.",
      params: SessionParams,
      response: { 202: noContent("The session goes on."), ...errorsOf(404, 409) },
    },
    async handler(request, reply) {
      const { organizationId } = principalOf(request);
      await resumeSession(engine, { organizationId, sessionId: request.params.id });
      return reply.code(202).send();
    },
  });
}
