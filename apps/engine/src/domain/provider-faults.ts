// What a provider would refuse of a session's tools, beyond what holds for any provider.
import type { AgentDefinition } from "./agents.ts";
import type { Fault } from "./errors.ts";
import { lowerForProvider } from "./lower-for-provider.ts";
import { type Provider, parseModelId } from "./models.ts";

/** Most tools of one request, where a provider says so. https://platform.openai.com/docs/api-reference/chat/create */
export const MAX_TOOLS_OF: Partial<Record<Provider, number>> = { openai: 128 };

/**
 * The faults of an agent's tools and answer format for a model; empty when its provider takes them, lowered where needed.
 * For definitions that have passed `findToolFaults`.
 *
 * @param model a model's id; none are found for one that is not of the form `provider/model`
 * @param loc the path of the agent in the request
 */
export function findProviderFaults(
  agent: Pick<AgentDefinition, "tools" | "answer_format">,
  model: string,
  loc: (string | number)[],
): Fault[] {
  const provider = parseModelId(model)?.provider;
  if (!provider) return [];
  const tools = agent.tools ?? [];
  const faults = tools.flatMap((tool, index): Fault[] => {
    const refused = tool.input_schema && lowerForProvider(tool.input_schema, provider).refused;
    if (!refused) return [];
    const msg = `tool ${JSON.stringify(tool.name)} cannot be offered to ${model}: ${refused.reason}`;
    return [{ loc: [...loc, "tools", index, "input_schema", ...refused.path], msg, type: "tool_provider" }];
  });
  const refused = agent.answer_format && lowerForProvider(agent.answer_format, provider).refused;
  if (refused) {
    const msg = `answer_format cannot be asked of ${model}: ${refused.reason}`;
    faults.push({ loc: [...loc, "answer_format", ...refused.path], msg, type: "answer_format" });
  }
  return [...findCountFaults(agent, { provider, model, loc }), ...faults];
}

function findCountFaults(
  agent: Pick<AgentDefinition, "tools" | "answer_format">,
  { provider, model, loc }: { provider: Provider; model: string; loc: (string | number)[] },
): Fault[] {
  const limit = MAX_TOOLS_OF[provider];
  const tools = agent.tools ?? [];
  // The answer's format is a tool more, and so is the search for tools that come later.
  const offered = tools.filter((tool) => !isDeferred(tool)).length;
  const own = (agent.answer_format ? 1 : 0) + (offered < tools.length ? 1 : 0);
  if (limit === undefined || offered + own <= limit) return [];
  const msg = `${offered + own} tools are too many for ${model}, which takes ${limit} in one request; defer_loading keeps one out of it`;
  return [{ loc: [...loc, "tools"], msg, type: "too_long" }];
}

function isDeferred(tool: object): boolean {
  return "defer_loading" in tool && tool.defer_loading === true;
}
