import { Type } from "@sinclair/typebox";
import { listAgents } from "@tandem/engine/queries/list-agents";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOf } from "../../schemas/errors.ts";
import { AgentPage } from "../../schemas/index.ts";
import { pageQuery, toOffset } from "../../schemas/params.ts";
import { ref, stringEnum } from "../../schemas/typebox.ts";

const SORTS = ["created_at", "-created_at", "agent_name", "-agent_name"] as const;

const Query = Type.Object({
  agent_name: Type.Optional(Type.String({ description: "Only the agent of this name." })),
  search: Type.Optional(Type.String({ description: "Text in the name or the description, ignoring case." })),
  ...pageQuery({ default: 10, max: 1_000 }),
  sort: Type.Array(stringEnum(SORTS), { default: ["-created_at"] }),
});

/** `GET /agents`: the agents that the organization can use, the built-in ones included. */
export function listAgentsRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "GET",
    url: "/api/v2/agents",
    schema: {
      operationId: "listAgents",
      tags: ["agents"],
      summary: "List agents",
      querystring: Query,
      response: { 200: ref(AgentPage), ...errorsOf() },
    },
    async handler(request) {
      const { query } = request;
      const { items, total } = await listAgents(engine, {
        organizationId: principalOf(request).organizationId,
        ...(query.agent_name ? { name: query.agent_name } : {}),
        ...(query.search ? { search: query.search } : {}),
        sort: query.sort,
        offset: toOffset(query),
        limit: query.size,
      });
      return { items, total, page: query.page };
    },
  });
}
