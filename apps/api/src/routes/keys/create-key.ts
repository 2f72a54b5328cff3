import { createApiKey } from "@tandem/engine/commands/api-keys";
import type { ApiContext, App } from "../../context.ts";
import { errorsOfBody } from "../../schemas/errors.ts";
import { CreatedApiKey, NewApiKey, toApiKey } from "../../schemas/keys.ts";
import { ref } from "../../schemas/typebox.ts";

/** `POST /keys`: makes a key of any organization, for admin keys. */
export function createKeyRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "POST",
    url: "/api/v2/keys",
    config: { adminOnly: "refused" },
    schema: {
      operationId: "createKey",
      tags: ["keys"],
      summary: "Make an API key",
      description: "Takes an admin key. The new key is in this reply alone.",
      body: ref(NewApiKey),
      response: { 201: ref(CreatedApiKey), ...errorsOfBody() },
    },
    async handler(request, reply) {
      const { organization, name, user, expires_days, admin } = request.body;
      const { view, key } = await createApiKey(engine, {
        organization,
        name,
        user,
        expiresDays: expires_days,
        isAdmin: admin,
      });
      return reply.code(201).send({ ...toApiKey(view), key });
    },
  });
}
