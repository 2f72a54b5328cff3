// The tools of a session: from what `tools` takes to what the server is told.
import { TandemError } from "./errors.ts";
import type { ToolDefinition } from "./generated/types.gen.ts";
import type { EnabledContext, Tool } from "./tool.ts";
import { listOrigins, type Toolset, toToolset } from "./toolset.ts";

/** What `tools` takes. */
export type ToolSource = Tool | Toolset;

/**
 * The tools of a list that may hold toolsets.
 *
 * @throws {TandemError} when two tools have the same name, with where both come from, or when one is not made by `tool`
 */
export function toTools(sources: readonly ToolSource[]): readonly Tool[] {
  const entries = sources.flatMap((source, index) => {
    const origin = `tools[${index}]`;
    if ("tools" in source) return listOrigins(source);
    if ("parse" in source) return [{ tool: source, origin }];
    throw new TandemError(`${origin} must be made by tool()`);
  });
  return toToolset(entries).tools;
}

/** Whether a tool can be used now. A promise would say yes, whatever it gives. */
export function isEnabled({ name, enabled = true }: Tool, context: EnabledContext): boolean {
  const isOn: unknown = typeof enabled === "function" ? enabled(context) : enabled;
  if (typeof isOn !== "object") return Boolean(isOn);
  throw new TandemError(`Tool ${JSON.stringify(name)}: enabled must give a boolean`);
}

/**
 * The definitions of tools, as the API takes them: for an agent that is stored, whose tools {@link serveTools} runs.
 *
 * @throws {TandemError} when two tools have the same name
 * @example
 * await client.createAgent({ body: { name: "guide", description: "Knows the weather.", tools: toDefinitions([getWeather]) } });
 */
export function toDefinitions(sources: readonly ToolSource[]): ToolDefinition[] {
  return toTools(sources).map(toDefinition);
}

/** The definition of a tool, as the API takes it. */
export function toDefinition(tool: Tool): ToolDefinition {
  const { timeoutMs } = tool;
  const fields = {
    name: tool.name,
    description: tool.description,
    input_schema: tool.inputSchema,
    title: tool.title,
    capability: tool.capability,
    approval: tool.approval,
    approval_timeout_s: tool.approvalTimeoutS,
    on_approval_timeout: tool.onApprovalTimeout,
    timeout_s:
      tool.timeoutS === undefined && timeoutMs !== undefined ? Math.ceil(timeoutMs / 1_000) : tool.timeoutS,
    on_timeout: tool.onTimeout,
    max_retries: tool.maxRetries,
    max_result_tokens: tool.maxResultTokens,
    strict: tool.strict,
    defer_loading: tool.deferLoading,
    examples: tool.examples?.map((example) => example as { [key: string]: unknown }),
  } satisfies { [Key in keyof Required<ToolDefinition>]: ToolDefinition[Key] | undefined };
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as unknown as ToolDefinition;
}
