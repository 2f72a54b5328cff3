import { createHash } from "node:crypto";
import type pg from "pg";

/** Names by text. Statements are put together from a few parts, so there are some dozens. */
const names = new Map<string, string>();

/**
 * A statement that Postgres parses and plans once per connection. For texts of which there are few: whatever varies goes
 * into `values`.
 */
export function prepared(text: string, values: unknown[]): pg.QueryConfig {
  let name = names.get(text);
  if (name === undefined) {
    name = createHash("sha256").update(text).digest("base64url").slice(0, 20);
    names.set(text, name);
  }
  return { name, text, values };
}

/** Adds a value to a statement that is being put together, and returns the name of its parameter. */
export type AddValue = (value: unknown) => string;
