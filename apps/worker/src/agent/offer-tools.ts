import type {
  LanguageModelV3CallOptions,
  LanguageModelV3FunctionTool,
  LanguageModelV3ToolChoice,
} from "@ai-sdk/provider";
import type { AgentDefinition } from "@tandem/engine/domain/agents";
import { type JsonObject, stringifyJson } from "@tandem/engine/domain/json";
import { lowerForProvider } from "@tandem/engine/domain/lower-for-provider";
import type { Provider } from "@tandem/engine/domain/models";
import { listOfferedTools, type OfferedTools } from "@tandem/engine/domain/offered-tools";
import { chooseStrictTools, toStrictFlag } from "@tandem/engine/domain/strict-tools";
import { NO_TOOL_HISTORY, type ToolHistory } from "@tandem/engine/domain/tool-history";
import { SUBMIT_ANSWER, type ToolDefinition } from "@tandem/engine/domain/tools";
import { providerOf } from "./build-prompt.ts";

/** The tools of one model request, and whether it must use one. */
export type Offer = Pick<LanguageModelV3CallOptions, "tools" | "toolChoice">;

/**
 * Says what a step offers, as the provider is told. The last step offers only an answer's own tool, or nothing.
 *
 * @param input.history what the history says of the tools. Default: nothing
 * @param input.isFirst true for the first step of a run, which the agent's `tool_choice` is for. Default false
 */
export function offerTools(input: {
  agent: AgentDefinition;
  tools: readonly ToolDefinition[];
  mustAnswer: boolean;
  history?: ToolHistory;
  isFirst?: boolean;
}): Offer {
  const { agent, mustAnswer, isFirst = false } = input;
  const offered = listOfferedTools({ ...input, history: input.history ?? NO_TOOL_HISTORY });
  const tools = toFunctionTools(offered, providerOf(agent));
  if (tools.length === 0) return {};
  if (mustAnswer) return { tools, toolChoice: { type: "tool", toolName: SUBMIT_ANSWER } };
  return { tools, toolChoice: isFirst ? chooseFirst(agent.tool_choice, tools) : { type: "auto" } };
}

function chooseFirst(
  choice: string | null | undefined,
  tools: readonly LanguageModelV3FunctionTool[],
): LanguageModelV3ToolChoice {
  if (choice === "required") return { type: "required" };
  const isOffered = tools.some(({ name }) => name === choice);
  return isOffered && choice ? { type: "tool", toolName: choice } : { type: "auto" };
}

function toFunctionTools(
  { custom, builtins }: OfferedTools,
  provider: Provider,
): LanguageModelV3FunctionTool[] {
  const strict = chooseStrictTools(custom, provider);
  const isStrict = (name: string) => strict.get(name) === null;
  return [
    ...custom.map((tool) => toFunctionTool(tool, toStrictFlag(isStrict(tool.name), provider), provider)),
    ...builtins.map((tool) => toFunctionTool(tool, toStrictFlag(false, provider), provider)),
  ];
}

function toFunctionTool(
  tool: Pick<ToolDefinition, "name" | "description" | "input_schema" | "examples">,
  strict: boolean | undefined,
  provider: Provider,
): LanguageModelV3FunctionTool {
  return {
    type: "function",
    name: tool.name,
    description: toDescription(tool.description, tool.examples ?? []),
    inputSchema: lowerForProvider(tool.input_schema ?? {}, provider)
      .schema as LanguageModelV3FunctionTool["inputSchema"],
    ...(strict === undefined ? {} : { strict }),
  };
}

/** Every provider tells a model the description, and few have a place for examples. */
function toDescription(description: string, examples: readonly JsonObject[]): string {
  if (examples.length === 0) return description;
  const title = examples.length === 1 ? "Example of arguments" : "Examples of arguments";
  return `${description}\n\n${title}:\n${examples.map((example) => stringifyJson(example)).join("\n")}`;
}
