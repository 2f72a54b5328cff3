import { giveFeedback } from "@tandem/engine/commands/give-feedback";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOfBody, noContent } from "../../schemas/errors.ts";
import { Feedback } from "../../schemas/feedback.ts";
import { SessionParams } from "../../schemas/params.ts";
import { ref } from "../../schemas/typebox.ts";

/** `POST /sessions/{id}/feedback`: what the key's user thinks of the session. */
export function submitSessionFeedbackRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "POST",
    url: "/api/v2/sessions/:id/feedback",
    schema: {
      operationId: "submitSessionFeedback",
      tags: ["sessions"],
      summary: "Give feedback on a session",
      description:
        "In any state. It replaces what the same user said before, and changes nothing of the session.",
      params: SessionParams,
      body: ref(Feedback),
      response: { 204: noContent("The feedback is stored."), ...errorsOfBody(404, 409) },
    },
    async handler(request, reply) {
      const { success, message = null } = request.body;
      const sessionId = request.params.id;
      await giveFeedback(engine, { ...principalOf(request), sessionId, eventIndex: null, success, message });
      return reply.code(204).send();
    },
  });
}
