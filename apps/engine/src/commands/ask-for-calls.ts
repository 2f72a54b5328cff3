// The calls of a step: what the session waits for because of them, which are not made, and how each is recorded. Pure.
import { denial, errorEvent, type NewEvent, stateAwaiting } from "../domain/events.ts";
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { earliestDeadline, listOpen, planCalls } from "../domain/plan-calls.ts";
import { isSameTool } from "../domain/same-tool.ts";
import { mustMove } from "../domain/session-state.ts";
import type { Settled } from "../domain/tool-history.ts";
import { SUBMIT_ANSWER, type ToolRequest } from "../domain/tools.ts";
import type { NewCall } from "../postgres/call-changes.ts";
import { type ClaimedSessionRow, databaseNowMs } from "../postgres/session-row.ts";
import type { SessionUpdate } from "../postgres/update-session.ts";
import type { FinishedStep, StepOutcome } from "./finish-step.ts";
import { SERVER } from "./withdraw-calls.ts";

/** The outcome of a step that asks for nothing more: its next one is due. */
export const GO_ON: StepOutcome = { kind: "again", corrections: 0, nudges: 0, uselessSteps: 0 };

/** Calls wait for the caller or for an approval; those that the session denies without asking have their result. */
export function toAsked(session: ClaimedSessionRow, calls: readonly ToolRequest[]): SessionUpdate {
  const { tools, agent, remembered } = session;
  const { open, denied } = planCalls(calls, { tools, agent, remembered, nowMs: databaseNowMs(session) });
  const counts = { corrections: 0, nudges: 0, uselessSteps: 0 };
  const denials = denied.map(({ request }) => denial(request, DENIED_BEFORE));
  const deniedCalls = denied.map(({ request, terms }): NewCall => {
    return { request, ...terms, position: 0, state: "denied", settledBy: SERVER, reason: DENIED_BEFORE };
  });
  if (open.length === 0) {
    const status = mustMove(session, "step_goes_on");
    return { patch: { ...counts, status }, events: denials, calls: deniedCalls, due: "now" };
  }
  const isForResults = open.some(({ state }) => state === "pending");
  const status = mustMove(session, isForResults ? "step_asked_for_tools" : "step_asked_for_approval");
  const callDeadlineAt = earliestDeadline(open);
  return {
    patch: { ...counts, status, ...(callDeadlineAt === null ? {} : { callDeadlineAt }) },
    events: [stateAwaiting(listOpen(open)), ...denials],
    calls: [...open.map((call) => ({ ...call, position: 0 })), ...deniedCalls],
    due: "not",
  };
}

const DENIED_BEFORE = "Calls of this tool were denied for the whole session.";

type Judged = Pick<FinishedStep, "outcome" | "replies">;

/** Takes calls out of what a step asks for, and tells the model why they were not made. */
export function refuseCalls(step: Judged, why: string, isRefused: (call: ToolRequest) => boolean): Judged {
  if (step.outcome.kind !== "ask") return step;
  const refused = step.outcome.calls.filter(isRefused);
  if (refused.length === 0) return step;
  const calls = step.outcome.calls.filter((call) => !refused.includes(call));
  const internal = { settled: "not_offered" satisfies Settled };
  const replies = [
    ...step.replies,
    ...refused.map((call) => ({ ...errorEvent(why, "server", call), internal })),
  ];
  return { outcome: calls.length > 0 ? { kind: "ask", calls } : GO_ON, replies };
}

/** What the model is told of calls that it made although an answer was asked for. */
export const NOT_STARTED = "The call was not made: an answer was asked for.";
const REPLACED =
  "The call was not made: the tool was replaced or removed meanwhile. Look at the tools again.";

/** The tools were replaced while the model was asked: calls count whose tool is still the one that it saw. */
export function withoutReplacedTools(
  step: FinishedStep,
  { claimed, session }: { claimed: ClaimedSessionRow; session: ClaimedSessionRow },
): FinishedStep {
  if (claimed.toolsVersion === session.toolsVersion) return step;
  const isReplaced = ({ tool_name }: ToolRequest) => !isSameTool(tool_name, claimed.tools, session.tools);
  return { ...step, ...refuseCalls(step, REPLACED, isReplaced) };
}

/**
 * The rows of a step's calls, in the model's order: those that are open, and those that the server has answered itself.
 * The call that gives an answer is none.
 */
export function toNewCalls(policy: NewEvent, update: SessionUpdate): NewCall[] {
  const positions = new Map((policy.data.tool_reqs as JsonObject[]).map((call, place) => [call.id, place]));
  const planned = update.calls ?? [];
  const known = new Set(planned.map(({ request }) => request.id));
  const replied = update.events
    .flatMap(({ data }) => toRepliedCall(data))
    .filter(({ request }) => !known.has(request.id));
  return [...planned, ...replied].map((call) => ({ ...call, position: positions.get(call.request.id) ?? 0 }));
}

/** A call that the server has answered in the same step: as what a built-in tool returned, or why it was not made. */
function toRepliedCall(data: JsonObject): NewCall[] {
  const call = data.tool_req;
  if (!isJsonObject(call) || call.tool_name === SUBMIT_ANSWER) return [];
  const replied = { request: call as unknown as ToolRequest, position: 0, settledBy: SERVER };
  if (data.kind === "tool_result") return [{ ...replied, state: "answered" }];
  return data.kind === "error_event" ? [{ ...replied, state: "refused", reason: String(data.error) }] : [];
}
