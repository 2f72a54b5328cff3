// Which tools a model request holds. The worker offers by it, and the API shows it: one function, so that both agree.
import type { AgentDefinition } from "./agents.ts";
import { type BuiltinTool, listBuiltins } from "./builtin-tools.ts";
import { parseModelId } from "./models.ts";
import { MAX_TOOLS_OF } from "./provider-faults.ts";
import type { ToolHistory } from "./tool-history.ts";
import { SUBMIT_ANSWER, type ToolDefinition } from "./tools.ts";

/** What the offer of a step follows from. */
export interface Offering {
  agent: Pick<AgentDefinition, "answer_format" | "builtins" | "tool_choice" | "model">;
  /** The session's tools. */
  tools: readonly ToolDefinition[];
  history: ToolHistory;
  /** True when the step must answer: then only an answer's own tool is left. */
  mustAnswer: boolean;
}

/** The tools of one request. */
export interface OfferedTools {
  custom: ToolDefinition[];
  builtins: BuiltinTool[];
}

/** Chooses what a step offers: tools that are loaded and have not failed too often, and the server's own. */
export function listOfferedTools({ agent, tools, history, mustAnswer }: Offering): OfferedTools {
  const builtins = listBuiltins(agent, tools);
  if (mustAnswer) return { custom: [], builtins: builtins.filter(({ name }) => name === SUBMIT_ANSWER) };
  const custom = tools.filter((tool) => isLoaded(tool, agent, history) && !history.exhausted.has(tool.name));
  return { custom: fitToProvider(custom, { agent, history, own: builtins.length }), builtins };
}

/** A request with too many tools is refused whole: then those make room that were found first. */
function fitToProvider(
  custom: ToolDefinition[],
  { agent, history, own }: Pick<Offering, "agent" | "history"> & { own: number },
): ToolDefinition[] {
  const provider = parseModelId(agent.model ?? "")?.provider;
  const limit = (provider && MAX_TOOLS_OF[provider]) ?? Number.POSITIVE_INFINITY;
  const excess = custom.length + own - limit;
  if (excess <= 0) return custom;
  const deferred = new Set(custom.filter((tool) => tool.defer_loading).map(({ name }) => name));
  const oldest = new Set([...history.loaded].filter((name) => deferred.has(name)).slice(0, excess));
  return custom.filter(({ name }) => !oldest.has(name));
}

/** True for a tool that is no deferred one, or that the model knows: it has found it, or must begin with it. */
export function isLoaded(
  tool: ToolDefinition,
  agent: Pick<AgentDefinition, "tool_choice">,
  history: ToolHistory,
): boolean {
  return !tool.defer_loading || history.loaded.has(tool.name) || agent.tool_choice === tool.name;
}
