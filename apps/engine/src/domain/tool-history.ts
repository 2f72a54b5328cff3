// What a session's history says of its tools: which failed too often in this run, and which deferred ones the model has
// found. Nothing of it is stored elsewhere, so a restart or another worker finds the same.
import type { StoredEvent } from "./events.ts";
import { isJsonObject, type JsonObject } from "./json.ts";
import { isFailure } from "./tool-result-forms.ts";
import { SEARCH_TOOLS, type ToolDefinition } from "./tools.ts";

/** What becomes of tools in the course of a session. */
export interface ToolHistory {
  /** Tools that are offered no more in this run, each with the id of the call whose failure was the last one allowed. */
  exhausted: ReadonlyMap<string, string>;
  /** Names of deferred tools that the model has found, in any run. */
  loaded: ReadonlySet<string>;
}

/** The history of a session whose tools need none. */
export const NO_TOOL_HISTORY: ToolHistory = { exhausted: new Map(), loaded: new Set() };

/** In the `internal` of a call's `error_event`: how it came to it, where that matters for what follows. */
export type Settled = "withdrawn" | "timed_out" | "not_offered";

/** Errors that are nobody's failure: the call was taken back, or the tool was not there to be called. */
const NO_FAILURES: ReadonlySet<unknown> = new Set<Settled>(["withdrawn", "not_offered"]);

/** The origin of a denial: a decision on a call, not a failure of its tool. */
const DENIED = "approval";

/** True when anything in the history can change what is offered of these tools. */
export function dependsOnHistory(tools: readonly ToolDefinition[]): boolean {
  return tools.some((tool) => tool.defer_loading || tool.max_retries);
}

/**
 * Reads the history of tools.
 *
 * @param events the transcript, in order
 * @param runIndex the index of the run's first event: failures before it do not count any more
 */
export function readToolHistory(
  tools: readonly ToolDefinition[],
  events: readonly StoredEvent[],
  runIndex: number,
): ToolHistory {
  if (!dependsOnHistory(tools)) return NO_TOOL_HISTORY;
  const limits = new Map(
    tools.flatMap(({ name, max_retries }) => (max_retries ? [[name, max_retries]] : [])),
  );
  const failures = new Map<string, number>();
  const exhausted = new Map<string, string>();
  const loaded = new Set<string>();
  for (const event of events) {
    const call = event.data.tool_req;
    if (!isJsonObject(call)) continue;
    const name = String(call.tool_name);
    if (name === SEARCH_TOOLS) for (const found of listFound(event)) loaded.add(found);
    const limit = limits.get(name);
    if (limit === undefined || event.index < runIndex || !isFailedCall(event)) continue;
    const count = (failures.get(name) ?? 0) + 1;
    failures.set(name, count);
    if (count === limit) exhausted.set(name, String(call.id));
  }
  return { exhausted, loaded };
}

function isFailedCall({ data, internal }: StoredEvent): boolean {
  if (data.kind === "tool_result") return isFailure(data.result ?? null);
  if (data.kind !== "error_event") return false;
  return data.origin !== DENIED && !NO_FAILURES.has(internal?.settled);
}

function listFound({ data }: StoredEvent): string[] {
  if (data.kind !== "tool_result" || !isJsonObject(data.result)) return [];
  const { tools } = data.result;
  return Array.isArray(tools) ? tools.filter(isJsonObject).map((tool: JsonObject) => String(tool.name)) : [];
}
