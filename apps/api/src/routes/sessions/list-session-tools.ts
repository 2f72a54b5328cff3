import { listSessionTools } from "@tandem/engine/queries/list-session-tools";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOf } from "../../schemas/errors.ts";
import { SessionParams } from "../../schemas/params.ts";
import { SessionToolList, toSessionTool } from "../../schemas/session-tools.ts";
import { ref } from "../../schemas/typebox.ts";

/** `GET /sessions/{id}/tools`: the session's tools, and which of them the next model request holds. */
export function listSessionToolsRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "GET",
    url: "/api/v2/sessions/:id/tools",
    schema: {
      operationId: "listSessionTools",
      tags: ["sessions"],
      summary: "List a session's tools and what the model is offered",
      params: SessionParams,
      response: { 200: ref(SessionToolList), ...errorsOf(404) },
    },
    async handler(request) {
      const { organizationId } = principalOf(request);
      const tools = await listSessionTools(engine, { organizationId, sessionId: request.params.id });
      return { items: tools.map(toSessionTool) };
    },
  });
}
