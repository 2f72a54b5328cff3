import type { JsonObject } from "@tandem/engine/domain/json";
import type { LastStep } from "@tandem/engine/domain/last-step";
import type { ToolHistory } from "@tandem/engine/domain/tool-history";
import type { ToolDefinition } from "@tandem/engine/domain/tools";

/** What a reply is judged by. */
export interface Situation {
  tools: readonly ToolDefinition[];
  answerFormat: JsonObject | null;
  /** Why this is the last step; null when it is not. */
  lastStep: LastStep | null;
  corrections: number;
  nudges: number;
  uselessSteps: number;
  /** False when the server's own tools were not offered. Default true. */
  builtins?: boolean | null;
  /** The agent's `tool_choice`: a deferred tool that it names needs no search. */
  toolChoice?: string | null;
  /** What the history says of the tools. Default: nothing. */
  history?: ToolHistory;
}
