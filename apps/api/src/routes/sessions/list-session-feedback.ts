import { listFeedback } from "@tandem/engine/queries/list-feedback";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOf } from "../../schemas/errors.ts";
import { FeedbackList, toStoredFeedback } from "../../schemas/feedback.ts";
import { SessionParams } from "../../schemas/params.ts";
import { ref } from "../../schemas/typebox.ts";

/** `GET /sessions/{id}/feedback`: what everybody thinks of the session and its events. */
export function listSessionFeedbackRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "GET",
    url: "/api/v2/sessions/:id/feedback",
    schema: {
      operationId: "listSessionFeedback",
      tags: ["sessions"],
      summary: "List the feedback on a session",
      params: SessionParams,
      response: { 200: ref(FeedbackList), ...errorsOf(404) },
    },
    async handler(request) {
      const { organizationId } = principalOf(request);
      const rows = await listFeedback(engine, { organizationId, sessionId: request.params.id });
      return { items: rows.map(toStoredFeedback) };
    },
  });
}
