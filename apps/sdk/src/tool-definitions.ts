// The tools of a session: from what `tools` takes to what the server is told.
import { TandemError } from "./errors.ts";
import type { ToolDefinition } from "./generated/types.gen.ts";
import type { EnabledContext, Tool } from "./tool.ts";
import { listOrigins, type Toolset, toToolset } from "./toolset.ts";
import { toWireFields } from "./wire-fields.ts";

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
  const { timeoutMs, timeoutS = timeoutMs && Math.ceil(timeoutMs / 1_000) } = tool;
  return toWireFields({ ...tool, timeoutS }, DEFINITION_FIELDS) as ToolDefinition;
}

/** What a definition has of a tool. */
const DEFINITION_FIELDS = [
  "name",
  "description",
  "inputSchema",
  "title",
  "capability",
  "approval",
  "approvalTimeoutS",
  "onApprovalTimeout",
  "timeoutS",
  "onTimeout",
  "maxRetries",
  "maxResultTokens",
  "strict",
  "deferLoading",
  "examples",
] as const satisfies readonly (keyof Tool)[];
