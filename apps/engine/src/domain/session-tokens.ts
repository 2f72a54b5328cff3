// Session tokens: short-lived, good for one session, for clients that must not have an API key, such as browsers.
import { randomBytes } from "node:crypto";
import type { Principal } from "./api-keys.ts";
import { TandemError } from "./errors.ts";

/** What a session token may reach. */
export interface TokenScope {
  /** The token's id, which is no secret. */
  tokenId: string;
  sessionId: string;
  /** Tools whose calls it may answer; null: all; none: it only reads. */
  tools: string[] | null;
  /** When it ends, in milliseconds of this process's `performance.now()`. */
  endsAtMs: number;
}

/** The longest life of a token, in seconds. */
export const MAX_TOKEN_S = 86_400;

/** A new random token: `tds_` and 256 bits. */
export function newSessionToken(): string {
  return `tds_${randomBytes(32).toString("base64url")}`;
}

/** True for text of a token's form. */
export function isSessionToken(text: string): boolean {
  return /^tds_[A-Za-z0-9_-]{43}$/.test(text);
}

/** How long the request's credential lasts, in milliseconds, as far as this process must mind it: tokens end on time. */
export function timeLeftMs({ scope }: Principal): number {
  return scope ? Math.max(0, scope.endsAtMs - performance.now()) : Number.POSITIVE_INFINITY;
}

/**
 * Refuses calls of tools that are not the token's. Without a scope every tool is allowed.
 *
 * @throws {TandemError} `token_scope`
 */
export function refuseTools(scope: TokenScope | undefined, toolNames: readonly string[]): void {
  const tools = scope?.tools ?? null;
  const foreign = tools && toolNames.find((name) => !tools.includes(name));
  if (typeof foreign !== "string") return;
  const allowed = tools?.length ? `it may answer calls of ${tools.join(", ")}` : "it may only read";
  throw new TandemError(
    "token_scope",
    `The session token is not for tool ${JSON.stringify(foreign)}; ${allowed}.`,
  );
}

/**
 * Refuses what no session token may do.
 *
 * @throws {TandemError} `token_scope`
 */
export function refuseToken({ tools }: TokenScope): never {
  const posts = tools?.length === 0 ? "nothing else" : "post results, progress and claims for its tools";
  throw new TandemError(
    "token_scope",
    `A session token may read its session's changes, stream and status, and ${posts}; this takes an API key.`,
  );
}
