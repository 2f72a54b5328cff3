import { Type } from "@sinclair/typebox";
import { getAgent, resolveAgent } from "@tandem/engine/queries/find-agent";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { StoredAgent } from "../../schemas/agents.ts";
import { errorsOf } from "../../schemas/errors.ts";
import { AgentParams } from "../../schemas/params.ts";
import { ref } from "../../schemas/typebox.ts";

const Query = Type.Object({
  resolve: Type.Boolean({
    default: false,
    description: "Replaces names of registered subagents by definitions.",
  }),
});

/** `GET /agents/{agent_name}`: an agent's definition. */
export function getAgentRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "GET",
    url: "/api/v2/agents/:agent_name",
    schema: {
      operationId: "getAgent",
      tags: ["agents"],
      summary: "Get an agent",
      params: AgentParams,
      querystring: Query,
      response: { 200: ref(StoredAgent), ...errorsOf(404) },
    },
    async handler(request) {
      const { organizationId } = principalOf(request);
      const agent = await getAgent(engine, organizationId, request.params.agent_name);
      return request.query.resolve ? resolveAgent(engine, organizationId, agent) : agent;
    },
  });
}
