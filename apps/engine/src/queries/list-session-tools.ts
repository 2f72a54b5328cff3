import { type BuiltinTool, listBuiltins } from "../domain/builtin-tools.ts";
import { TandemError } from "../domain/errors.ts";
import type { SessionKey } from "../domain/ids.ts";
import { findLastStep } from "../domain/last-step.ts";
import { listOfferedTools } from "../domain/offered-tools.ts";
import { isTerminal } from "../domain/session-state.ts";
import {
  dependsOnHistory,
  NO_TOOL_HISTORY,
  readToolHistory,
  type ToolHistory,
} from "../domain/tool-history.ts";
import type { ToolDefinition } from "../domain/tools.ts";
import type { Engine } from "../engine.ts";
import { readTranscriptEvents } from "../postgres/read-events.ts";
import { readToolbox, type Toolbox } from "../postgres/read-toolbox.ts";

/** One tool of a session. */
export interface ListedTool {
  tool: ToolDefinition | BuiltinTool;
  source: "custom" | "builtin";
  /** Whether the next model request holds it. */
  isOffered: boolean;
}

/**
 * The tools of a session: the caller's, then the server's. Of one that has ended it is said what a message would find
 * that starts it again.
 *
 * @throws {TandemError} `session_not_found`
 */
export async function listSessionTools(engine: Engine, key: SessionKey): Promise<ListedTool[]> {
  const toolbox = await getToolbox(engine, key);
  const { agent, tools } = toolbox;
  const mustAnswer = !isTerminal(toolbox.status) && findLastStep(toolbox) !== null;
  const history = await readHistory(engine, key, toolbox);
  const offered = listOfferedTools({ agent, tools, history, mustAnswer });
  const names = new Set([...offered.custom, ...offered.builtins].map(({ name }) => name));
  const toListed = (source: ListedTool["source"]) => (tool: ListedTool["tool"]) => ({
    tool,
    source,
    isOffered: names.has(tool.name),
  });
  return [...tools.map(toListed("custom")), ...listBuiltins(agent, tools).map(toListed("builtin"))];
}

/**
 * A session's agent and tools.
 *
 * @throws {TandemError} `session_not_found`
 */
export async function getToolbox(engine: Engine, key: SessionKey): Promise<Toolbox> {
  const toolbox = await readToolbox(engine.pool, key);
  if (!toolbox) throw new TandemError("session_not_found", `There is no session ${key.sessionId}.`);
  return toolbox;
}

/** Failures count for a run, so those of one that has ended are forgotten. */
async function readHistory(engine: Engine, key: SessionKey, toolbox: Toolbox): Promise<ToolHistory> {
  if (!dependsOnHistory(toolbox.tools)) return NO_TOOL_HISTORY;
  const events = (await readTranscriptEvents(engine.pool, key.sessionId)) ?? [];
  const runIndex = isTerminal(toolbox.status) ? Number.POSITIVE_INFINITY : toolbox.runIndex;
  return readToolHistory(toolbox.tools, events, runIndex);
}
