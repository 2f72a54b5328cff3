import { hashApiKey, type Principal } from "../domain/api-keys.ts";
import type { Engine } from "../engine.ts";
import { useApiKey } from "../postgres/api-keys.ts";

/** Who an API key belongs to; null when it is unknown, expired or revoked. Remembers that the key was used. */
export async function authenticate(engine: Engine, apiKey: string): Promise<Principal | null> {
  return useApiKey(engine.pool, hashApiKey(apiKey));
}
