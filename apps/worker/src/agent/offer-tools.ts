import type { LanguageModelV3CallOptions, LanguageModelV3FunctionTool } from "@ai-sdk/provider";
import type { AgentDefinition } from "@tandem/engine/domain/agents";
import type { JsonObject } from "@tandem/engine/domain/json";
import { toProviderSchema } from "@tandem/engine/domain/lower-schema";
import { SUBMIT_ANSWER, type ToolDefinition } from "@tandem/engine/domain/tools";

/** The tools of one model request, and whether it must use one. */
export type Offer = Pick<LanguageModelV3CallOptions, "tools" | "toolChoice">;

/**
 * Chooses what a step offers: the session's tools, and the finishing tool when the answer has a format. The last
 * step offers only the finishing tool, or nothing.
 */
export function offerTools(input: {
  agent: AgentDefinition;
  tools: readonly ToolDefinition[];
  mustAnswer: boolean;
}): Offer {
  const finishing = input.agent.answer_format ? [toFinishingTool(input.agent.answer_format)] : [];
  if (input.mustAnswer && finishing.length > 0) {
    return { tools: finishing, toolChoice: { type: "tool", toolName: SUBMIT_ANSWER } };
  }
  const tools = input.mustAnswer ? [] : [...input.tools.map(toFunctionTool), ...finishing];
  return tools.length > 0 ? { tools, toolChoice: { type: "auto" } } : {};
}

function toFunctionTool(tool: ToolDefinition): LanguageModelV3FunctionTool {
  return {
    type: "function",
    name: tool.name,
    description: tool.description,
    inputSchema: toInputSchema(tool.input_schema ?? {}),
  };
}

function toFinishingTool(format: JsonObject): LanguageModelV3FunctionTool {
  return {
    type: "function",
    name: SUBMIT_ANSWER,
    description: "Gives the final answer and ends the task. Call it once, when you are done.",
    inputSchema: toInputSchema(format),
  };
}

function toInputSchema(schema: JsonObject): LanguageModelV3FunctionTool["inputSchema"] {
  return toProviderSchema(schema) as LanguageModelV3FunctionTool["inputSchema"];
}
