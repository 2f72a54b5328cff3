// Collections of tools.
import type { Tool } from "./tool.ts";

/** Tools that are handed on together. Made by `toolset`, and by what makes one toolset of others. */
export interface Toolset {
  /** Where the tools come from, for the message about two of the same name. */
  readonly origin: string;
  readonly tools: readonly Tool[];
}
