// Bearer keys and session tokens: every route needs one unless it says otherwise.
import { TandemError } from "@tandem/engine/domain/errors";
import { isSessionToken } from "@tandem/engine/domain/session-tokens";
import type { FastifyRequest } from "fastify";
import type { ApiContext, App } from "../context.ts";

/** Checks the key or token of every request to the routes of this scope, before its body is read. */
export function requireApiKey(app: App, { knownKeys }: ApiContext): void {
  app.decorateRequest("principal", null);
  app.addHook("onRequest", async (request) => {
    const { auth, adminOnly } = request.routeOptions.config;
    if (auth === "none") return;
    const key = readCredential(request);
    if (key === undefined) {
      throw new TandemError(
        "unauthorized",
        "An API key is needed: send the header Authorization: Bearer <key>.",
      );
    }
    // A revoked admin key makes no others meanwhile: where keys are managed nobody is trusted from memory.
    const principal = await knownKeys.identify(key, { isFresh: adminOnly !== undefined });
    if (!principal) {
      const what = isSessionToken(key) ? "session token" : "API key";
      throw new TandemError("unauthorized", `The ${what} is unknown, expired or revoked.`);
    }
    request.principal = principal;
  });
}

/** The key or token that a request brings. */
export function readCredential({ headers }: Pick<FastifyRequest, "headers">): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
}
