import { replaceTools } from "@tandem/engine/commands/replace-tools";
import type { ToolDefinition } from "@tandem/engine/domain/tools";
import { getToolbox, listSessionTools } from "@tandem/engine/queries/list-session-tools";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOfBody } from "../../schemas/errors.ts";
import { SessionParams } from "../../schemas/params.ts";
import { SessionToolList, ToolReplacement, toSessionTool } from "../../schemas/session-tools.ts";
import { ref } from "../../schemas/typebox.ts";
import { findReplacementFaults, refuse } from "../../session-request/resolve-request.ts";

/** `PUT /sessions/{id}/tools`: replaces the caller's tools between turns. */
export function replaceSessionToolsRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "PUT",
    url: "/api/v2/sessions/:id/tools",
    schema: {
      operationId: "replaceSessionTools",
      tags: ["sessions"],
      summary: "Replace a session's tools",
      description:
        "They count from the next model request on. A call that the model made meanwhile of a tool that is another one now " +
        "is not run, and the model is told so. 409 (`calls_pending`) while calls are open.",
      params: SessionParams,
      body: ref(ToolReplacement),
      response: { 200: ref(SessionToolList), ...errorsOfBody(404, 409) },
    },
    async handler(request) {
      const key = { organizationId: principalOf(request).organizationId, sessionId: request.params.id };
      const tools = request.body.tools as ToolDefinition[];
      const { agent } = await getToolbox(engine, key);
      refuse(findReplacementFaults({ ...agent, tools }));
      await replaceTools(engine, { ...key, tools });
      return { items: (await listSessionTools(engine, key)).map(toSessionTool) };
    },
  });
}
