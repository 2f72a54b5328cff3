// What becomes of calls, in the words of the design: what each waits for, which one a body means, and its receipts. Pure.
import type { Decided, Decision, ModelCall, ModelSession, Posted } from "./modelled-session.ts";
import { findTool, fitsTool } from "./walk-tools.ts";

type Asked = { tool: string; args: string };

/** The calls that a step's worker can make something of. */
export const findFit = (calls: readonly Asked[], { toldTools }: ModelSession) =>
  calls.filter(({ tool, args }) => {
    const offered = findTool(toldTools, tool);
    return offered !== undefined && fitsTool(offered, args);
  });

/** Calls count whose tool is the one that the step was offered. */
export const findSame = (calls: readonly Asked[], { toldTools, tools }: ModelSession) =>
  calls.filter(({ tool }) => findTool(toldTools, tool) === findTool(tools, tool));

/** A call as it is stored: it waits for one thing or the other, or the session has denied it before. */
export function toAskedCall({ tool: name, args }: Asked, s: ModelSession, now: number): ModelCall {
  const tool = findTool(s.tools, name);
  const asked: ModelCall = {
    ...{ tool: name, args, state: "denied", value: null, deadline: null },
    timeoutS: tool?.timeout_s ?? null,
    isFatal: tool?.on_timeout === "fail",
    onNobody: tool?.on_approval_timeout ?? "deny",
    ...{ decided: null, claimant: null, claimedUntil: null },
  };
  const decision = tool?.approval === "always" ? s.remembered[name] : "allow";
  if (decision === "deny") return asked;
  if (decision === "allow") return { ...asked, ...toPending(asked, now) };
  const waitS = tool?.approval_timeout_s ?? null;
  return { ...asked, state: "awaiting_approval", deadline: waitS === null ? null : now + waitS };
}

/** A call is offered, and its time begins. */
export function toPending({ timeoutS }: ModelCall, now: number): Pick<ModelCall, "state" | "deadline"> {
  return { state: "pending", deadline: timeoutS === null ? null : now + timeoutS };
}

/** Decides a call, by somebody or by its time. */
export function decideCall(call: ModelCall, by: { decision: Decision; decided: string }, now: number): void {
  call.decided = by.decided;
  if (by.decision === "allow") Object.assign(call, toPending(call, now));
  else Object.assign(call, { state: "denied", deadline: null });
}

/** What counts as the same decision. */
export const toDecided = ({ decision, message, args, remember }: Decided) =>
  JSON.stringify([decision, message, args, remember]);

export function judgeResult(call: ModelCall | null, value: string): string {
  if (!call) return "unknown";
  if (call.state === "awaiting_approval") return "approval_required";
  if (call.state === "pending") return "accepted";
  if (call.state === "withdrawn" || call.state === "timed_out") return "late";
  return call.value === value ? "duplicate" : "conflict";
}

export function judgeDecision(call: ModelCall | null, decided: string): string {
  if (!call) return "unknown";
  if (call.state === "awaiting_approval") return "accepted";
  if (call.decided === null)
    return call.state === "withdrawn" || call.state === "timed_out" ? "late" : "conflict";
  if (call.decided === "nobody") return "late";
  return call.decided === decided ? "duplicate" : "conflict";
}

/** What a body is told of which nothing was taken. */
export function toUselessError(receipts: readonly string[], conflict: string): string {
  if (receipts.every((receipt) => receipt === "unknown")) return "calls_unknown";
  return receipts.includes("approval_required") ? "approval_required" : conflict;
}

/** The call at a place; they go round. */
export function callAt(calls: readonly ModelCall[], place: number | null): ModelCall | null {
  return place === null ? null : (calls[place % Math.max(calls.length, 1)] ?? null);
}

/** The call that an entry means. */
export function findCall(
  calls: readonly ModelCall[],
  { call: place, by, isMisnamed, value }: Posted,
): ModelCall | null | "fault" {
  const named = callAt(calls, place);
  if (!named) return null;
  if (by === "id") return isMisnamed ? "fault" : named;
  if (isMisnamed) return null;
  const fitting = calls.filter((call) => call.tool === named.tool && call.args === named.args);
  const pending = fitting.filter((call) => call.state === "pending");
  if (pending.length > 1) return "fault";
  return pending[0] ?? fitting.find((call) => call.value === value) ?? fitting.at(-1) ?? null;
}
