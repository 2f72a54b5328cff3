// Routes for the server's operator: those whose `adminOnly` says what all others are told.
import { TandemError } from "@tandem/engine/domain/errors";
import { type App, principalOf } from "../context.ts";

/**
 * Keeps keys that are not admin from such routes of this scope, before the body is read. Comes after authentication.
 */
export function requireAdminKey(app: App): void {
  app.addHook("onRequest", async (request) => {
    const { adminOnly } = request.routeOptions.config;
    if (adminOnly === undefined || principalOf(request).isAdmin) return;
    if (adminOnly === "hidden") {
      const { id } = request.params as { id: string };
      throw new TandemError("key_not_found", `There is no key ${id}.`);
    }
    throw new TandemError("admin_required", "This takes an admin key; yours is not one.");
  });
}
