// The tools of a session: from what `tools` takes to what the server is told.
import { TandemError } from "./errors.ts";
import type { ToolDefinition } from "./generated/types.gen.ts";
import type { EnabledContext, Tool } from "./tool.ts";
import type { Toolset } from "./toolset.ts";

/** What `tools` takes. */
export type ToolSource = Tool | Toolset;

/**
 * The tools of a list that may hold toolsets.
 *
 * @throws {TandemError} when two tools have the same name
 */
export function toTools(sources: readonly ToolSource[]): Tool[] {
  const origins = new Map<string, string>();
  return sources.flatMap((source, index) => {
    const isSet = "tools" in source;
    const origin = isSet ? source.origin : `tools[${index}]`;
    const tools = isSet ? source.tools : [source];
    for (const { name } of tools) {
      const earlier = origins.get(name);
      if (earlier)
        throw new TandemError(`Two tools are named ${JSON.stringify(name)}: of ${earlier} and of ${origin}`);
      origins.set(name, origin);
    }
    return tools;
  });
}

/** Whether a tool can be used now. */
export function isEnabled({ enabled = true }: Tool, context: EnabledContext): boolean {
  return typeof enabled === "function" ? enabled(context) : enabled;
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
