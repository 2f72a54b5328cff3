// The tools that the server brings itself. They run in the worker, and never reach the caller.
import type { AgentDefinition } from "./agents.ts";
import type { JsonObject } from "./json.ts";
import { SEARCH_TOOLS, SUBMIT_ANSWER, type ToolDefinition } from "./tools.ts";

/** A tool of the server, as the model is told of it. */
export interface BuiltinTool {
  name: string;
  description: string;
  input_schema: JsonObject;
}

/** The arguments of `search_tools`. */
export const SEARCH_TOOLS_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    query: { type: "string", description: "Words for what the tool should do, or a part of its name." },
  },
  required: ["query"],
  additionalProperties: false,
};

/** The built-in tools of a session: a search while it has deferred tools, and an answer's own tool when it has a format. */
export function listBuiltins(
  agent: Pick<AgentDefinition, "answer_format" | "builtins">,
  tools: readonly ToolDefinition[],
): BuiltinTool[] {
  if (agent.builtins === false) return [];
  const deferred = tools.filter((tool) => tool.defer_loading).length;
  return [
    ...(deferred > 0 ? [toSearchTool(deferred)] : []),
    ...(agent.answer_format ? [toFinishingTool(agent.answer_format)] : []),
  ];
}

function toSearchTool(deferred: number): BuiltinTool {
  return {
    name: SEARCH_TOOLS,
    description:
      `Finds more tools: ${deferred} of this task's tools are not shown until you search for them. ` +
      "Those that are found can be called from your next turn on.",
    input_schema: SEARCH_TOOLS_SCHEMA,
  };
}

function toFinishingTool(format: JsonObject): BuiltinTool {
  return {
    name: SUBMIT_ANSWER,
    description: "Gives the final answer and ends the task. Call it once, when you are done.",
    input_schema: format,
  };
}

/** True when a structured answer is given by a call of `submit_answer`; else it is given as text. */
export function answersByTool(agent: Pick<AgentDefinition, "answer_format" | "builtins">): boolean {
  return Boolean(agent.answer_format) && agent.builtins !== false;
}
