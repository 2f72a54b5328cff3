import { forceAnswer } from "@tandem/engine/commands/force-answer";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOf, noContent } from "../../schemas/errors.ts";
import { SessionParams } from "../../schemas/params.ts";

/** `POST /sessions/{id}/force_answer`: ask for an answer now. */
export function forceAnswerRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "POST",
    url: "/api/v2/sessions/:id/force_answer",
    schema: {
      operationId: "forceAnswer",
      tags: ["sessions"],
      summary: "Ask for an answer now",
      description:
        "Pending calls are withdrawn, and the next step has no tools and must answer. Asking again " +
        "changes nothing; 409 when the session has ended.",
      params: SessionParams,
      response: { 202: noContent("The next step must answer."), ...errorsOf(404, 409) },
    },
    async handler(request, reply) {
      const { organizationId } = principalOf(request);
      await forceAnswer(engine, { organizationId, sessionId: request.params.id });
      return reply.code(202).send();
    },
  });
}
