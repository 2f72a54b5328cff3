import { createAgent } from "@tandem/engine/commands/write-agents";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { NewAgent, StoredAgent, toAgentDefinition } from "../../schemas/agents.ts";
import { errorsOfBody } from "../../schemas/errors.ts";
import { ref } from "../../schemas/typebox.ts";
import { findStoredAgentFaults, refuse } from "../../session-request/resolve-request.ts";

/** `POST /agents`: registers an agent. */
export function createAgentRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "POST",
    url: "/api/v2/agents",
    schema: {
      operationId: "createAgent",
      tags: ["agents"],
      summary: "Register an agent",
      body: ref(NewAgent),
      response: { 201: ref(StoredAgent), ...errorsOfBody(409) },
    },
    async handler(request, reply) {
      const agent = toAgentDefinition(request.body);
      refuse(findStoredAgentFaults(agent, ["body"]));
      return reply.code(201).send(await createAgent(engine, principalOf(request).organizationId, agent));
    },
  });
}
