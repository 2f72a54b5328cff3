// What becomes of each call of a reply: it is asked of the caller, answered here, or refused with words that help.
import { SEARCH_TOOLS_SCHEMA } from "@tandem/engine/domain/builtin-tools";
import { type NewEvent, toolResult } from "@tandem/engine/domain/events";
import type { ValueChecker } from "@tandem/engine/domain/json-schema";
import { isLoaded, listOfferedTools } from "@tandem/engine/domain/offered-tools";
import { NO_TOOL_HISTORY } from "@tandem/engine/domain/tool-history";
import { SEARCH_TOOLS, type ToolRequest } from "@tandem/engine/domain/tools";
import { createToolSearch, type ToolSearch } from "../tools/search-tools.ts";
import type { ReplyCall } from "./read-reply.ts";
import type { Situation } from "./situation.ts";

/** A call that nobody is asked to run, and what the model is told instead of a result. */
export interface Refusal {
  call: ToolRequest;
  error: string;
  /** True when the tool was not offered: that is no failure of the tool. */
  isNotOffered?: boolean;
}

/** The calls of a reply by what becomes of them. */
export interface SortedCalls {
  asked: ToolRequest[];
  refused: Refusal[];
  /** Results of the calls that the server has answered itself. */
  answered: NewEvent[];
}

/** Sorts the calls of a reply, each in its order. */
export function sortCalls(
  calls: readonly ReplyCall[],
  situation: Situation,
  check: ValueChecker,
): SortedCalls {
  const sorted: SortedCalls = { asked: [], refused: [], answered: [] };
  const search = createToolSearch(situation.tools);
  for (const call of calls) {
    const fault = findFault(call, situation, check);
    if (fault) sorted.refused.push({ call: call.request, ...fault });
    else if (isSearch(call.request, situation)) sorted.answered.push(answerSearch(call.request, search));
    else sorted.asked.push(call.request);
  }
  return sorted;
}

type Fault = Omit<Refusal, "call">;

function findFault(call: ReplyCall, situation: Situation, check: ValueChecker): Fault | null {
  if (situation.lastStep !== null) {
    return { error: "No tools are left; give the final answer.", isNotOffered: true };
  }
  const { request } = call;
  if (isSearch(request, situation)) return findArgumentFault(call, SEARCH_TOOLS_SCHEMA, check);
  const tool = situation.tools.find((known) => known.name === request.tool_name);
  if (!tool) return { error: `There is no tool ${quote(request)}. ${listTools(situation)}` };
  return (
    findOfferFault(request, tool, situation) ?? findArgumentFault(call, tool.input_schema ?? null, check)
  );
}

function findOfferFault(
  request: ToolRequest,
  tool: Situation["tools"][number],
  { history = NO_TOOL_HISTORY, toolChoice }: Situation,
): Fault | null {
  if (history.exhausted.has(tool.name)) {
    const error =
      `The tool ${quote(request)} is no longer offered: its calls have failed ${tool.max_retries} times, which is ` +
      "its limit. Go on without it.";
    return { error, isNotOffered: true };
  }
  if (isLoaded(tool, { tool_choice: toolChoice ?? null }, history)) return null;
  const error = `The tool ${quote(request)} is not loaded. Find it with ${SEARCH_TOOLS} first, then call it.`;
  return { error, isNotOffered: true };
}

function findArgumentFault(
  { request, fault }: ReplyCall,
  schema: Parameters<ValueChecker>[0] | null,
  check: ValueChecker,
): Fault | null {
  const name = quote(request);
  if (fault !== null) {
    return {
      error: `The arguments of ${name} cannot be used: ${fault}. Call it again with valid arguments.`,
    };
  }
  const faults = schema ? check(schema, request.args) : [];
  if (faults.length === 0) return null;
  return {
    error: `The arguments of ${name} do not fit its schema: ${faults.join("; ")}. Call it again with arguments that fit.`,
  };
}

function quote(request: ToolRequest): string {
  return JSON.stringify(request.tool_name.slice(0, 100));
}

/** Names of what is offered. Deferred tools are named by the search alone. */
function listTools({ tools, builtins, toolChoice, history = NO_TOOL_HISTORY }: Situation): string {
  const agent = { builtins: builtins ?? true, tool_choice: toolChoice ?? null };
  const offered = listOfferedTools({ agent, tools, history, mustAnswer: false });
  const names = [...offered.custom, ...offered.builtins].map(({ name }) => name);
  return names.length > 0 ? `The tools are: ${names.join(", ")}.` : "There are no tools.";
}

function isSearch({ tool_name }: ToolRequest, { tools, builtins }: Situation): boolean {
  return tool_name === SEARCH_TOOLS && builtins !== false && tools.some((tool) => tool.defer_loading);
}

function answerSearch(call: ToolRequest, search: ToolSearch): NewEvent {
  const result = search(String(call.args.query));
  return toolResult({ tool_req: call, result, truncated: false, output_artifact_path: null });
}
