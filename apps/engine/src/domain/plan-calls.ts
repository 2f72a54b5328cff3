// What becomes of the calls that a model made: which wait for the caller, which for an approval, and until when. Pure.
import type { AgentDefinition } from "./agents.ts";
import type { OpenCalls, PendingCall } from "./events.ts";
import type {
  ApprovalReason,
  Capability,
  Decision,
  ON_APPROVAL_TIMEOUT,
  ON_TIMEOUT,
  ToolDefinition,
  ToolRequest,
} from "./tools.ts";

/** Decisions that count for all calls of a tool in the session, by its name. */
export type RememberedDecisions = { [tool: string]: Decision };

/** What a call needs for as long as it is open. It stands on the call's row: nobody looks at the tool again. */
export interface CallTerms {
  capability: Capability;
  /** How long it may wait for its result once it is offered, in milliseconds; null for ever. */
  timeoutMs: number | null;
  onTimeout: (typeof ON_TIMEOUT)[number];
  maxResultTokens: number | null;
  /** Why it needs approval; null when it needs none. */
  approvalReason: ApprovalReason | null;
  onApprovalTimeout: (typeof ON_APPROVAL_TIMEOUT)[number];
}

/** A call that is open. */
export interface OpenCall extends CallTerms {
  request: ToolRequest;
  state: "pending" | "awaiting_approval";
  /** When it waits no longer; null when it may wait for ever. */
  deadlineAt: Date | null;
  /** True when it was allowed with other arguments than those the model gave. */
  isEdited?: boolean;
}

/** The calls of a step: those that wait, and those that the session denies without asking. */
export interface PlannedCalls {
  open: OpenCall[];
  denied: { request: ToolRequest; terms: CallTerms }[];
}

/** What calls are planned by. */
export interface CallPlanning {
  tools: readonly ToolDefinition[];
  agent: AgentDefinition;
  remembered: RememberedDecisions;
  /** The database's time, in milliseconds. */
  nowMs: number;
}

/** Decides what each call waits for. */
export function planCalls(calls: readonly ToolRequest[], planning: CallPlanning): PlannedCalls {
  const planned: PlannedCalls = { open: [], denied: [] };
  for (const request of calls) {
    const tool = planning.tools.find(({ name }) => name === request.tool_name);
    const terms = toTerms(tool, planning.agent);
    const decision = terms.approvalReason === null ? "allow" : recall(planning.remembered, request.tool_name);
    if (decision === "deny") planned.denied.push({ request, terms });
    else if (decision === "allow") planned.open.push(toPending({ request, ...terms }, planning.nowMs));
    else {
      const waitMs = toMs(firstSet(tool?.approval_timeout_s, planning.agent.approval_timeout_s));
      planned.open.push({
        request,
        ...terms,
        state: "awaiting_approval",
        deadlineAt: toDeadline(planning.nowMs, waitMs),
      });
    }
  }
  return planned;
}

/** A call as it waits for its result from now on. */
export function toPending(call: CallTerms & { request: ToolRequest }, nowMs: number): OpenCall {
  return { ...call, state: "pending", deadlineAt: toDeadline(nowMs, call.timeoutMs) };
}

/** The moment at which a wait is over. */
export function toDeadline(nowMs: number, waitMs: number | null): Date | null {
  return waitMs === null ? null : new Date(Math.ceil(nowMs + waitMs));
}

/** The open calls as events list them. */
export function listOpen(calls: readonly OpenCall[]): OpenCalls {
  return {
    results: calls.filter(({ state }) => state === "pending").map(toPendingCall),
    approvals: calls
      .filter(({ state }) => state === "awaiting_approval")
      .map((call) => ({ ...toPendingCall(call), reason: call.approvalReason ?? "tool" })),
  };
}

/** The earliest deadline of open calls; null when none has one. */
export function earliestDeadline(calls: readonly OpenCall[]): Date | null {
  const times = calls.flatMap(({ deadlineAt }) => (deadlineAt === null ? [] : [deadlineAt.getTime()]));
  return times.length === 0 ? null : new Date(Math.min(...times));
}

function toPendingCall({ request, deadlineAt, capability }: OpenCall): PendingCall {
  return { ...request, deadline: deadlineAt?.toISOString() ?? null, capability };
}

function toTerms(tool: ToolDefinition | undefined, agent: AgentDefinition): CallTerms {
  return {
    capability: tool?.capability ?? "read",
    timeoutMs: toMs(firstSet(tool?.timeout_s, agent.tool_timeout_s)),
    onTimeout: tool?.on_timeout ?? "error",
    maxResultTokens: tool?.max_result_tokens ?? null,
    approvalReason: findApprovalReason(tool, agent),
    onApprovalTimeout: tool?.on_approval_timeout ?? "deny",
  };
}

/** The tool has the first word, then the agent. With `permissions: "host"` the caller's handler decides. */
function findApprovalReason(
  tool: ToolDefinition | undefined,
  { approval, permissions }: AgentDefinition,
): ApprovalReason | null {
  if (permissions === "host" || tool?.approval === "never") return null;
  if (tool?.approval === "always") return "tool";
  if (approval === "always") return "agent";
  return approval === "actuator" && tool?.capability === "actuator" ? "actuator" : null;
}

/** The names of tools are a caller's: one of them may be the name of what every object has. */
function recall(remembered: RememberedDecisions, tool: string): Decision | undefined {
  return Object.hasOwn(remembered, tool) ? remembered[tool] : undefined;
}

/** Null is a value: it waits for ever. */
function firstSet(...values: (number | null | undefined)[]): number | null {
  return values.find((value) => value !== undefined) ?? null;
}

function toMs(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1_000;
}
