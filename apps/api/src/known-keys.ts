// Who API keys and session tokens belong to, remembered for a short while so that most requests need no look into the database.
import { hashApiKey, type Principal } from "@tandem/engine/domain/api-keys";
import { timeLeftMs } from "@tandem/engine/domain/session-tokens";
import type { Engine } from "@tandem/engine/engine";
import { authenticate } from "@tandem/engine/queries/authenticate";

/** How long a known key is trusted without asking the database, in milliseconds. */
const TRUST_MS = 10_000;

/** Most keys remembered; the oldest goes first. */
const MAX_REMEMBERED = 10_000;

/** The keys that this process has seen lately. */
export interface KnownKeys {
  /**
   * Who a key belongs to; null when it is unknown, expired or revoked.
   *
   * @param options.isFresh true to ask the database whatever is remembered
   */
  identify(key: string, options: { isFresh: boolean }): Promise<Principal | null>;
  /** Asks the database anew about the key of this id, and about the tokens that it made, once it was revoked. */
  forget(keyId: string): void;
}

/** Remembers nothing yet. */
export function createKnownKeys(engine: Engine): KnownKeys {
  const remembered = new Map<string, { principal: Principal; until: number }>();
  // When a key's time is over, thousands of its polls may come at once: they share one look.
  const looks = new Map<string, Promise<Principal | null>>();
  // A look that began before a key was forgotten may have seen it good: its outcome must not be remembered.
  let timesForgotten = 0;

  const look = async (key: string, hash: string): Promise<Principal | null> => {
    remembered.delete(hash);
    const timesBefore = timesForgotten;
    const principal = await authenticate(engine, key);
    if (!principal || timesForgotten !== timesBefore) return principal;
    const [oldest] = remembered.keys();
    if (remembered.size >= MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    const until = Math.min(performance.now() + TRUST_MS, performance.now() + timeLeftMs(principal));
    remembered.set(hash, { principal, until });
    return principal;
  };
  const share = (key: string, hash: string): Promise<Principal | null> => {
    const shared = look(key, hash).finally(() => {
      if (looks.get(hash) === shared) looks.delete(hash);
    });
    looks.set(hash, shared);
    return shared;
  };

  return {
    async identify(key, { isFresh }) {
      const hash = hashApiKey(key).toString("base64");
      if (isFresh) return look(key, hash);
      const known = remembered.get(hash);
      if (known && known.until > performance.now()) return known.principal;
      return looks.get(hash) ?? share(key, hash);
    },
    forget(keyId) {
      timesForgotten++;
      looks.clear();
      for (const [hash, { principal }] of remembered) {
        if (principal.keyId === keyId) remembered.delete(hash);
      }
    },
  };
}
