// Ids of our own making. Provider and client ids are never used as keys.
import { v7 } from "uuid";

/** A session's id: UUIDv7, so that ids sort by creation time and index pages stay warm. */
export function newSessionId(): string {
  return v7();
}

/** A tool call's id: `call_` and 32 hex digits, within the 40 characters of `[A-Za-z0-9_-]` that providers take. */
export function newCallId(): string {
  return `call_${v7().replaceAll("-", "")}`;
}
