import { hashApiKey, type Principal } from "../domain/api-keys.ts";
import type { Engine } from "../engine.ts";

/** Who an API key belongs to; null when it is unknown. */
export async function authenticate(engine: Engine, apiKey: string): Promise<Principal | null> {
  return engine.catalogue.apiKey.findUnique({
    where: { keyHash: hashApiKey(apiKey) },
    select: { organizationId: true, userName: true },
  });
}
