// Ids of our own making. Provider and client ids are never used as keys.
import { randomBytes } from "node:crypto";
import { v7 } from "uuid";

/** A session's id: UUIDv7, so that ids sort by creation time and index pages stay warm. */
export function newSessionId(): string {
  return v7();
}

/** A tool call's id: `call_` and 32 hex digits, within the 40 characters of `[A-Za-z0-9_-]` that providers take. */
export function newCallId(): string {
  return `call_${v7().replaceAll("-", "")}`;
}

/** The secret part of a public link: 192 random bits as 32 characters of `[A-Za-z0-9_-]`. */
export function newShareToken(): string {
  return randomBytes(24).toString("base64url");
}

/** True for text that could be a share token; nothing else is worth asking the database for. */
export function isShareToken(text: string): boolean {
  return /^[A-Za-z0-9_-]{32}$/.test(text);
}

/** Names a session to whoever may see it: one of another organization is not found. */
export interface SessionKey {
  organizationId: string;
  sessionId: string;
}
