import { giveFeedback } from "@tandem/engine/commands/give-feedback";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOfBody, noContent } from "../../schemas/errors.ts";
import { EventParams, Feedback } from "../../schemas/feedback.ts";
import { ref } from "../../schemas/typebox.ts";

/** `PUT /sessions/{id}/events/{event_index}/feedback`: what the key's user thinks of one event. */
export function submitEventFeedbackRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "PUT",
    url: "/api/v2/sessions/:id/events/:event_index/feedback",
    schema: {
      operationId: "submitEventFeedback",
      tags: ["sessions"],
      summary: "Give feedback on an event",
      description:
        "It replaces what the same user said of this event before. 404 `event_not_found` when the session has no event " +
        "of this index.",
      params: EventParams,
      body: ref(Feedback),
      response: { 204: noContent("The feedback is stored."), ...errorsOfBody(404, 409) },
    },
    async handler(request, reply) {
      const { success, message = null } = request.body;
      const { id: sessionId, event_index: eventIndex } = request.params;
      await giveFeedback(engine, { ...principalOf(request), sessionId, eventIndex, success, message });
      return reply.code(204).send();
    },
  });
}
