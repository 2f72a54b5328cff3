/** Plans the tool calls that a message asks for, before it is known which of them were already made. */

import type { Supply } from "./build-arguments.ts";
import { countShared, FIT_THRESHOLD, profileTool, scoreTool, type ToolProfile } from "./choose-tool.ts";
import type { Conversation } from "./conversation.ts";
import { type FillableTool, type FillResult, fillArguments } from "./fill-arguments.ts";
import type { JsonRecord } from "./json-schema.ts";
import { splitRequests, type ToolRequest } from "./split-requests.ts";
import { toNameWords } from "./words.ts";

export interface PlannedCall {
  readonly toolName: string;
  readonly args: JsonRecord;
}

/** A tool that the message asks for but does not give everything for. */
export interface Gap {
  readonly toolName: string;
  /** Required parameters without a value; empty when the schema cannot be met. */
  readonly missing: readonly string[];
}

export interface Plan {
  readonly calls: readonly PlannedCall[];
  readonly gaps: readonly Gap[];
}

/** How the model asks for what is missing; a reply to it is recognised by the same words. */
export function describeGap({ toolName, missing }: Gap): string {
  if (missing.length === 0) return `I could not find arguments for ${toolName} that fit its schema.`;
  return `To use ${toolName} I need: ${missing.join(", ")}.`;
}

/** A message that scores this much for another tool is a new request, not the reply to a question. */
const CLEAR_SCORE = 4;
const GAP_ASKED = /To use (\S{1,100}) I need: ([^\n]{1,500})\.(?:\s|$)/;
const FOLLOW_UP = /^\s*(?:and|what about|how about|same for|now)\b/i;
const QUESTION = /\?\s*$|^\s*(?:who|what|when|where|why|how|which|is|are|does|did|can)\b/i;
const GREETING =
  /^(?:(?:hello|hi|hey|thanks|thank you|good (?:morning|evening|day)|bye|ok|okay|there|very much|so much|a lot)\b[\s,!.?]*)+$/i;
/** Questions about the model itself. */
const ABOUT_ITSELF = /^[^\n]{0,20}\b(?:help me|what can you do|who are you|what are you)[\s?!.]*$/i;
/** Runners-up tried when the best tool cannot be filled must score at least this share of the best. */
const RUNNER_UP_SHARE = 0.75;

/** `facts` supplies required values that the message leaves open: results of earlier calls. */
export function planCalls(conversation: Conversation, tools: readonly FillableTool[], facts?: Supply): Plan {
  const { message } = conversation;
  if (message === "" || tools.length === 0 || GREETING.test(message) || ABOUT_ITSELF.test(message))
    return { calls: [], gaps: [] };
  const answered = replyToGap(conversation, tools);
  const profiles = tools.map(profileTool);
  const shared = countShared(profiles);
  const changedTopic = profiles.some(
    (profile) => profile.tool !== answered?.tool && scoreTool(profile, message, shared) >= CLEAR_SCORE,
  );
  if (answered !== undefined && !changedTopic) return toPlan([answered], facts);
  const requests = mergeUnfillable(message, splitRequests(message, profiles, shared), facts);
  if (requests.length > 1) return toPlan(requests.map(toFill), facts);
  const ranked = profiles
    .map((profile) => ({ profile, text: message, score: scoreTool(profile, message, shared) }))
    .filter((request) => request.score >= FIT_THRESHOLD)
    .sort((a, b) => b.score - a.score);
  if (ranked.length > 0) return planBest(ranked, facts);
  return planWithoutMatch(conversation, profiles, facts);
}

interface Fill {
  readonly tool: FillableTool;
  readonly text: string;
  readonly takesLeftovers: boolean;
}

function toFill({ profile, text }: ToolRequest): Fill {
  return { tool: profile.tool, text, takesLeftovers: true };
}

function fill(request: Fill, facts: Supply | undefined): FillResult {
  return fillArguments(facts === undefined ? request : { ...request, last: facts });
}

function toPlan(fills: readonly Fill[], facts: Supply | undefined): Plan {
  const calls: PlannedCall[] = [];
  const gaps: Gap[] = [];
  for (const request of fills) {
    const result = fill(request, facts);
    const toolName = request.tool.name;
    for (const args of result.calls)
      if (!calls.some((call) => isSame(call, { toolName, args }))) calls.push({ toolName, args });
    if (result.calls.length === 0) gaps.push({ toolName, missing: result.missing });
  }
  return { calls, gaps };
}

export function isSame(a: PlannedCall, b: PlannedCall): boolean {
  return a.toolName === b.toolName && JSON.stringify(a.args) === JSON.stringify(b.args);
}

/** Two requests for the same tool are one when either lacks something: "Book a table. Book it for 4 people." */
function mergeUnfillable(
  message: string,
  requests: readonly ToolRequest[],
  facts: Supply | undefined,
): ToolRequest[] {
  const merged: ToolRequest[] = [];
  for (const request of requests) {
    const last = merged.at(-1);
    const isRepeat = last !== undefined && last.profile === request.profile;
    const canStand = isRepeat && [last, request].every((each) => fill(toFill(each), facts).calls.length > 0);
    if (!isRepeat || canStand) merged.push(request);
    else {
      const from = Math.max(0, message.indexOf(last.text));
      merged[merged.length - 1] = {
        ...last,
        text: message.slice(from, message.lastIndexOf(request.text) + request.text.length),
      };
    }
  }
  return merged;
}

/** The best tool that can be filled, if it is nearly as good as the best; else what the best one lacks. */
function planBest(ranked: readonly ToolRequest[], facts: Supply | undefined): Plan {
  const [best] = ranked;
  const close = ranked.slice(0, 4).filter((request) => request.score >= (best?.score ?? 0) * RUNNER_UP_SHARE);
  for (const request of close) {
    const plan = toPlan([toFill(request)], facts);
    if (plan.calls.length > 0) return plan;
  }
  return best === undefined ? { calls: [], gaps: [] } : toPlan([toFill(best)], facts);
}

/** Nothing names a tool: go on with the last one, use the only one, or search. */
function planWithoutMatch(
  conversation: Conversation,
  profiles: readonly ToolProfile[],
  facts: Supply | undefined,
): Plan {
  const { message } = conversation;
  const last = conversation.earlierOutcomes.at(-1)?.toolName;
  const continued = FOLLOW_UP.test(message)
    ? profiles.find((profile) => profile.tool.name === last)
    : undefined;
  const only = profiles.length === 1 ? profiles[0] : undefined;
  const searcher = QUESTION.test(message) ? profiles.find(isSearch) : undefined;
  const profile = continued ?? only ?? searcher;
  if (profile === undefined) return { calls: [], gaps: [] };
  const request = { tool: profile.tool, text: message, takesLeftovers: isSearch(profile) };
  const { calls, found } = fill(request, facts);
  if (found === 0) return { calls: [], gaps: [] };
  return { calls: calls.map((args) => ({ toolName: profile.tool.name, args })), gaps: [] };
}

function isSearch(profile: ToolProfile): boolean {
  const asks = toNameWords(profile.tool.name).some((word) =>
    /^(?:search|ask|lookup|query|find|answer|faq)$/.test(word),
  );
  return asks && profile.requiredCount === 1;
}

/** The user answers "To use get_weather I need: city." with "Paris". */
function replyToGap(conversation: Conversation, tools: readonly FillableTool[]): Fill | undefined {
  const [, toolName, missing = ""] = GAP_ASKED.exec(conversation.lastAnswer) ?? [];
  const tool = tools.find((candidate) => candidate.name === toolName);
  if (tool === undefined) return undefined;
  const { earlierMessage, message } = conversation;
  const isOne = !missing.includes(",");
  const label = (missing.split(".").at(-1) ?? "").replace(/_/g, " ");
  const text = isOne ? `${earlierMessage}\n${label}: ${message}` : `${earlierMessage}\n${message}`;
  return { tool, text, takesLeftovers: true };
}
