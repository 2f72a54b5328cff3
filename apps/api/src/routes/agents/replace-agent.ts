import { replaceAgent } from "@tandem/engine/commands/write-agents";
import { invalidRequest } from "@tandem/engine/domain/errors";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { NewAgent, StoredAgent, toAgentDefinition } from "../../schemas/agents.ts";
import { errorsOfBody } from "../../schemas/errors.ts";
import { AgentParams } from "../../schemas/params.ts";
import { ref } from "../../schemas/typebox.ts";
import { findStoredAgentFaults, refuse } from "../../session-request/resolve-request.ts";

/** `PUT /agents/{agent_name}`: replaces an agent's definition. Names cannot be changed. */
export function replaceAgentRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "PUT",
    url: "/api/v2/agents/:agent_name",
    schema: {
      operationId: "replaceAgent",
      tags: ["agents"],
      summary: "Replace an agent",
      params: AgentParams,
      body: ref(NewAgent),
      response: { 200: ref(StoredAgent), ...errorsOfBody(404, 409) },
    },
    async handler(request) {
      const name = request.params.agent_name;
      if (request.body.name !== name) {
        throw invalidRequest(
          ["body", "name"],
          `name must be ${JSON.stringify(name)}, as in the path: agents cannot be renamed`,
        );
      }
      const agent = toAgentDefinition(request.body);
      refuse(findStoredAgentFaults(agent, ["body"]));
      return replaceAgent(engine, principalOf(request).organizationId, agent);
    },
  });
}
