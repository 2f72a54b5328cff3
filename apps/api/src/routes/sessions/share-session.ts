import { shareSession } from "@tandem/engine/commands/share-session";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOf } from "../../schemas/errors.ts";
import { SessionParams } from "../../schemas/params.ts";
import { ShareLink } from "../../schemas/sharing.ts";
import { ref } from "../../schemas/typebox.ts";
import { toSharedUrl } from "../../sharing/shared-url.ts";

/** `POST /sessions/{id}/share`: makes the session's events and status readable without a key. */
export function shareSessionRoute(app: App, { engine, publicUrl }: ApiContext): void {
  app.route({
    method: "POST",
    url: "/api/v2/sessions/:id/share",
    schema: {
      operationId: "shareSession",
      tags: ["sessions"],
      summary: "Share a session",
      description:
        "Whoever has the link can read the session's events and status without a key, and nothing else. Sharing again " +
        "gives the same link.",
      params: SessionParams,
      response: { 200: ref(ShareLink), ...errorsOf(404, 409) },
    },
    async handler(request) {
      const { organizationId } = principalOf(request);
      // First, so that a request that cannot be told its link shares nothing.
      const url = toSharedUrl(request, publicUrl);
      const token = await shareSession(engine, { organizationId, sessionId: request.params.id });
      return { share_url: `${url}/${token}` };
    },
  });
}
