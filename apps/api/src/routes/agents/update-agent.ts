import type { Static } from "@sinclair/typebox";
import { getWritableAgent, replaceAgent } from "@tandem/engine/commands/write-agents";
import type { AgentDefinition } from "@tandem/engine/domain/agents";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { type AgentInput, PatchAgent, StoredAgent, toAgentDefinition } from "../../schemas/agents.ts";
import { errorsOfBody } from "../../schemas/errors.ts";
import { AgentParams } from "../../schemas/params.ts";
import { ref } from "../../schemas/typebox.ts";
import { findStoredAgentFaults, refuse } from "../../session-request/resolve-request.ts";

/** `PATCH /agents/{agent_name}`: changes the fields that are sent. Null clears what can be empty. */
export function updateAgentRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "PATCH",
    url: "/api/v2/agents/:agent_name",
    schema: {
      operationId: "updateAgent",
      tags: ["agents"],
      summary: "Change an agent",
      params: AgentParams,
      body: ref(PatchAgent),
      response: { 200: ref(StoredAgent), ...errorsOfBody(404, 409) },
    },
    async handler(request) {
      const { organizationId } = principalOf(request);
      const current = await getWritableAgent(engine, organizationId, request.params.agent_name);
      const agent = toAgentDefinition(patch(current, request.body));
      refuse(findStoredAgentFaults(agent, ["body"]));
      return replaceAgent(engine, organizationId, agent);
    },
  });
}

/** A name and a description cannot be empty, so null leaves the description as it was. */
function patch(current: AgentDefinition, sent: Static<typeof PatchAgent>): AgentInput {
  return {
    ...current,
    ...sent,
    name: current.name,
    description: sent.description ?? current.description,
    environments: sent.environments === undefined ? current.environments : (sent.environments ?? []),
  };
}
