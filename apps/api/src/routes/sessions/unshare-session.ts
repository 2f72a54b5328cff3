import { unshareSession } from "@tandem/engine/commands/share-session";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOf, noContent } from "../../schemas/errors.ts";
import { SessionParams } from "../../schemas/params.ts";

/** `DELETE /sessions/{id}/share`: the link leads nowhere any more. */
export function unshareSessionRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "DELETE",
    url: "/api/v2/sessions/:id/share",
    schema: {
      operationId: "unshareSession",
      tags: ["sessions"],
      summary: "Stop sharing a session",
      description:
        "The link is 404 at once, and for good: sharing again gives another one. Revoking again changes nothing.",
      params: SessionParams,
      response: { 204: noContent("The session is not shared."), ...errorsOf(404) },
    },
    async handler(request, reply) {
      const { organizationId } = principalOf(request);
      await unshareSession(engine, { organizationId, sessionId: request.params.id });
      return reply.code(204).send();
    },
  });
}
