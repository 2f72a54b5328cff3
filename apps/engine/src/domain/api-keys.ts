// API keys: how one is made and how it is stored. The key itself is shown once and never kept.
import { createHash, randomBytes } from "node:crypto";
import type { TokenScope } from "./session-tokens.ts";

/** Who a request is from. */
export interface Principal {
  organizationId: string;
  userName: string;
  /** The id of the key, which is no secret. */
  keyId: string;
  /** True for a key of the server's operator, which manages the keys of every organization. */
  isAdmin: boolean;
  /** Of a session token, which acts for the key that made it: all that it reaches. Absent for keys. */
  scope?: TokenScope;
}

/** Most characters in the names of a key, its organization and its user. */
export const MAX_KEY_NAME_LENGTH = 100;

/** Such names hold no control characters: they are shown in lists and on terminals. */
export const KEY_NAME_PATTERN = "^[^\\p{Cc}\\p{Cs}]*$";

/** The longest life of a key that ends, in days. */
export const MAX_KEY_DAYS = 36_500;

/** A new random key: `tdm_` and 256 bits. */
export function newApiKey(): string {
  return `tdm_${randomBytes(32).toString("base64url")}`;
}

/**
 * The first characters of a key that was made here, by which a person knows it in a list: they are no help in guessing
 * the rest. Nothing is told of a key that somebody chose.
 */
export function toKeyHint(key: string): string {
  return MADE_KEY.test(key) ? `${key.slice(0, 8)}…` : "";
}

const MADE_KEY = /^tdm_[A-Za-z0-9_-]{43}$/;

/** What is stored of a key. Keys carry 256 random bits, so one fast hash is enough: there is nothing to guess. */
export function hashApiKey(key: string): Buffer<ArrayBuffer> {
  return Buffer.from(createHash("sha256").update(key).digest());
}
