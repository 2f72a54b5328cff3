import { type JsonObject, toCanonicalJson } from "./json.ts";
import type { ToolDefinition } from "./tools.ts";

/** True when both lists have a tool of this name, with the same definition whatever the order of its keys. */
export function isSameTool(
  name: string,
  before: readonly ToolDefinition[],
  after: readonly ToolDefinition[],
): boolean {
  const text = toText(name, after);
  return text !== undefined && text === toText(name, before);
}

function toText(name: string, tools: readonly ToolDefinition[]): string | undefined {
  const tool = tools.find((known) => known.name === name);
  return tool && toCanonicalJson({ ...tool } as JsonObject);
}
