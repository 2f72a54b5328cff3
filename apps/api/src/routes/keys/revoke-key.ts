import { revokeApiKey } from "@tandem/engine/commands/api-keys";
import { TandemError } from "@tandem/engine/domain/errors";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOf, noContent } from "../../schemas/errors.ts";
import { KeyParams } from "../../schemas/params.ts";

/** `DELETE /keys/{id}`: revokes a key for good, for admin keys. For other keys there is none, their own included. */
export function revokeKeyRoute(app: App, { engine, knownKeys }: ApiContext): void {
  app.route({
    method: "DELETE",
    url: "/api/v2/keys/:id",
    config: { adminOnly: "hidden" },
    schema: {
      operationId: "revokeKey",
      tags: ["keys"],
      summary: "Revoke an API key",
      description:
        "Takes an admin key, and not the one that is revoked. It ends at once here, and within ten seconds in the " +
        "server's other processes.",
      params: KeyParams,
      response: { 204: noContent("The key is revoked."), ...errorsOf(404, 409) },
    },
    async handler(request, reply) {
      const id = request.params.id.toLowerCase();
      if (id === principalOf(request).keyId) {
        throw new TandemError(
          "key_in_use",
          "A key cannot revoke itself, so that nobody is locked out by accident: use another admin key.",
        );
      }
      if (!(await revokeApiKey(engine, id))) {
        throw new TandemError("key_not_found", `There is no key ${id}.`);
      }
      knownKeys.forget(id);
      return reply.code(204).send();
    },
  });
}
