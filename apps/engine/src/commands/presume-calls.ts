// What posted results let presume of their session: mostly they are all that it waits for.

import { countCharacters } from "../domain/count-characters.ts";
import type { PostedResult } from "../domain/tool-results.ts";
import type { ToolCallRow } from "../postgres/tool-calls.ts";
import { PRESUMED_STATUS } from "../postgres/update-presumed.ts";
import type { SettledSession } from "./settle-calls.ts";

/** A session as it is presumed to be. */
export const presumeSession = (id: string): SettledSession => ({
  ...{ id, status: PRESUMED_STATUS, pausedFrom: null, callDeadlineAt: null },
});

/** What was agreed for a call has no part in its plain settlement. */
const UNKNOWN_TERMS = {
  capability: "read",
  timeoutMs: null,
  onTimeout: "error",
  maxResultTokens: null,
  approvalReason: null,
  onApprovalTimeout: "deny",
  deadlineAt: null,
  isOver: false,
  decision: null,
  decisionHash: null,
} as const;

/** Longest body with which something is presumed, in characters: a longer one is not sent to the database twice. */
const MAX_CHARACTERS = 64 * 1024;

/**
 * The calls that these entries are for, as open calls that nobody has changed. Null when they are long, one is not
 * named by its id, or two are the same.
 */
export function presumeCalls(entries: readonly PostedResult[]): ToolCallRow[] | null {
  if (countCharacters(entries, MAX_CHARACTERS) > MAX_CHARACTERS) return null;
  const calls = entries.flatMap(({ tool_req: { id, tool_name: toolName, args } }): ToolCallRow[] => {
    // The database takes no NUL.
    if (id === null || id.includes("\u0000") || toolName.includes("\u0000")) return [];
    return [{ ...UNKNOWN_TERMS, id, toolName, args, state: "pending", contentHash: null, isEdited: false }];
  });
  const isWhole = calls.length === entries.length && new Set(calls.map(({ id }) => id)).size === calls.length;
  return isWhole ? calls : null;
}
