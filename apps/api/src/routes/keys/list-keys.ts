import { Type } from "@sinclair/typebox";
import { listApiKeys } from "@tandem/engine/queries/list-api-keys";
import type { ApiContext, App } from "../../context.ts";
import { errorsOf } from "../../schemas/errors.ts";
import { KeyPage, toApiKey } from "../../schemas/keys.ts";
import { pageQuery, toOffset } from "../../schemas/params.ts";
import { ref } from "../../schemas/typebox.ts";

const Query = Type.Object({
  organization: Type.Optional(
    Type.String({ description: "Only the keys of the organization of this name." }),
  ),
  ...pageQuery({ default: 10, max: 100 }),
});

/** `GET /keys`: the keys of every organization, for admin keys; by organization and age. */
export function listKeysRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "GET",
    url: "/api/v2/keys",
    config: { adminOnly: "refused" },
    schema: {
      operationId: "listKeys",
      tags: ["keys"],
      summary: "List API keys",
      description: "Takes an admin key. Expired and revoked keys stay in the list.",
      querystring: Query,
      response: { 200: ref(KeyPage), ...errorsOf() },
    },
    async handler({ query }) {
      const { items, total } = await listApiKeys(engine, {
        ...(query.organization ? { organization: query.organization } : {}),
        offset: toOffset(query),
        limit: query.size,
      });
      return { items: items.map(toApiKey), total, page: query.page };
    },
  });
}
