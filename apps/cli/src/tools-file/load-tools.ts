// The tools of a file: by name, in a list, or in a set.
import type { Tool } from "@tandem/sdk";
import { usageError } from "../exit-codes.ts";
import { loadModule } from "./load-module.ts";

/**
 * The tools that files export, in order: each export may be a tool, a list of tools, or a set of tools. A tool that is
 * exported twice counts once.
 *
 * @throws {CliError} when a file cannot be loaded, has no tools, or two tools have one name
 */
export async function loadTools(files: readonly string[]): Promise<Tool[]> {
  const tools = new Set<Tool>();
  for (const file of files) {
    const found = collectTools(await loadModule(file));
    if (found.length === 0) {
      throw usageError(`${file} exports no tools: export what tool({ … }) gives, by name or as a list.`);
    }
    for (const tool of found) tools.add(tool);
  }
  const names = [...tools].map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) throw usageError(`Two tools are named ${repeated}.`);
  return [...tools];
}

/** The tools among the exports of a module. Anything else that it exports is passed over. */
export function collectTools(exports: Record<string, unknown>): Tool[] {
  return Object.values(exports).flatMap((value) => toTools(value));
}

function toTools(value: unknown): Tool[] {
  if (isTool(value)) return [value];
  if (typeof value !== "object" || value === null) return [];
  if (Symbol.iterator in value) return [...(value as Iterable<unknown>)].filter(isTool);
  const { tools } = value as { tools?: unknown };
  return Array.isArray(tools) ? tools.filter(isTool) : [];
}

function isTool(value: unknown): value is Tool {
  if (typeof value !== "object" || value === null) return false;
  const { name, description, fn } = value as Partial<Tool>;
  return typeof name === "string" && typeof description === "string" && typeof fn === "function";
}
