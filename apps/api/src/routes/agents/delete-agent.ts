import { deleteAgent } from "@tandem/engine/commands/write-agents";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOf, noContent } from "../../schemas/errors.ts";
import { AgentParams } from "../../schemas/params.ts";

/** `DELETE /agents/{agent_name}`: removes an agent; its sessions stay. */
export function deleteAgentRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "DELETE",
    url: "/api/v2/agents/:agent_name",
    schema: {
      operationId: "deleteAgent",
      tags: ["agents"],
      summary: "Delete an agent",
      params: AgentParams,
      response: { 204: noContent("The agent is gone."), ...errorsOf(404, 409) },
    },
    async handler(request, reply) {
      await deleteAgent(engine, principalOf(request).organizationId, request.params.agent_name);
      return reply.code(204).send();
    },
  });
}
