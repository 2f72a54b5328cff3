// Bearer keys: every route needs one unless it says otherwise.
import { hashApiKey, type Principal } from "@tandem/engine/domain/api-keys";
import { TandemError } from "@tandem/engine/domain/errors";
import { authenticate } from "@tandem/engine/queries/authenticate";
import type { ApiContext, App } from "../context.ts";

/** How long a known key is trusted without asking the database, in milliseconds. */
const TRUST_MS = 10_000;

/** Most keys remembered; the oldest goes first. */
const MAX_REMEMBERED = 10_000;

/** Checks the key of every request to the routes of this scope, before its body is read. */
export function requireApiKey(app: App, context: ApiContext): void {
  const remembered = new Map<string, { principal: Principal; until: number }>();

  const identify = async (key: string): Promise<Principal | null> => {
    const hash = hashApiKey(key).toString("base64");
    const known = remembered.get(hash);
    if (known && known.until > performance.now()) return known.principal;
    remembered.delete(hash);
    const principal = await authenticate(context.engine, key);
    if (!principal) return null;
    const [oldest] = remembered.keys();
    if (remembered.size >= MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    remembered.set(hash, { principal, until: performance.now() + TRUST_MS });
    return principal;
  };

  app.decorateRequest("principal", null);
  app.addHook("onRequest", async (request) => {
    if (request.routeOptions.config.auth === "none") return;
    const key = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? "")?.[1];
    if (key === undefined) {
      throw new TandemError(
        "unauthorized",
        "An API key is needed: send the header Authorization: Bearer <key>.",
      );
    }
    const principal = await identify(key);
    if (!principal) throw new TandemError("unauthorized", "The API key is unknown, expired or revoked.");
    request.principal = principal;
  });
}
