// Calls whose time is over: no result came, or no decision.
import type pg from "pg";
import { denial, type NewEvent, toolApproval } from "../domain/events.ts";
import { type OpenCall, toPending } from "../domain/plan-calls.ts";
import type { CallChange } from "../postgres/call-changes.ts";
import { databaseNowMs, type SessionRow } from "../postgres/session-row.ts";
import { pickOpen, readOpenCalls } from "../postgres/tool-calls.ts";
import type { SessionUpdate } from "../postgres/update-session.ts";
import { hasWaitingMessages } from "../postgres/waiting-messages.ts";
import { toFailed } from "./end-session.ts";
import { pauseAtBoundary } from "./pause-session.ts";
import { restartAfter } from "./restart.ts";
import { toDeadlinePatch, toSettled } from "./settle-calls.ts";
import { SERVER, toWithdrawals } from "./withdraw-calls.ts";

/** What becomes of a locked session that has calls whose time is over, by the database's clock. */
export async function toCallExpiry(tx: pg.ClientBase, session: SessionRow): Promise<SessionUpdate> {
  const rows = await readOpenCalls(tx, session.id);
  const isOver = new Set(rows.filter((row) => row.isOver).map(({ id }) => id));
  const open = pickOpen(rows);
  const over = open.filter(({ request }) => isOver.has(request.id));
  const fatal = over.find(({ state, onTimeout }) => state === "pending" && onTimeout === "fail");
  if (fatal) return toTimeoutFailure(tx, session, { open, over, fatal });
  const others = open.filter((call) => !over.includes(call));
  if (over.length === 0) return { patch: toDeadlinePatch(session, open), events: [], due: "unchanged" };

  const timedOut = toWithdrawals(
    over.filter(({ state }) => state === "pending"),
    "timed_out",
  );
  const decided = over
    .filter(({ state }) => state === "awaiting_approval")
    .map((call) => decide(call, databaseNowMs(session)));
  const allowed = new Map(decided.flatMap(({ allowed }) => (allowed ? [[allowed.request.id, allowed]] : [])));
  // In the order the model asked, as ever.
  const stillOpen = open.flatMap((call) =>
    others.includes(call) ? [call] : (allowed.get(call.request.id) ?? []),
  );
  const settled = toSettled(session, stillOpen);
  return {
    ...settled,
    events: [...timedOut.events, ...decided.flatMap(({ events }) => events), ...settled.events],
    changedCalls: [...timedOut.changedCalls, ...decided.map(({ change }) => change)],
  };
}

/** A tool that must not come late: the session fails, and nobody waits for its other calls. */
async function toTimeoutFailure(
  tx: pg.ClientBase,
  session: SessionRow,
  calls: { open: OpenCall[]; over: OpenCall[]; fatal: OpenCall },
): Promise<SessionUpdate> {
  const { open, over, fatal } = calls;
  const timedOut = toWithdrawals(over, "timed_out");
  const withdrawn = toWithdrawals(
    open.filter((call) => !over.includes(call)),
    "session_failed",
  );
  const seconds = (fatal.timeoutMs ?? 0) / 1_000;
  const error = `Tool ${fatal.request.tool_name} gave no result within ${seconds} s, and its on_timeout is "fail".`;
  const reason = "tool_timeout";
  const failure = toFailed(session, { error, errorCode: "timeout", reason }, "call_failed");
  const update: SessionUpdate = {
    ...failure,
    events: [...timedOut.events, ...withdrawn.events, ...failure.events],
    changedCalls: [...timedOut.changedCalls, ...withdrawn.changedCalls],
  };
  if (!(await hasWaitingMessages(tx, session.id))) return update;
  // The run that the message wants begins when somebody resumes what is paused.
  return pauseAtBoundary({ ...session, pauseRequested: session.status === "paused" }, restartAfter(update));
}

/** What counts when nobody decided in time, as it was agreed for the call. */
function decide(
  call: OpenCall,
  nowMs: number,
): { events: NewEvent[]; change: CallChange; allowed: OpenCall | null } {
  const { request, onApprovalTimeout: decision } = call;
  const approval = toolApproval({
    tool_req: request,
    decision,
    message: NOBODY_DECIDED,
    remember: false,
    edited: false,
    decided_by: null,
  });
  const common = { id: request.id, decision, decidedBy: SERVER, decisionMessage: NOBODY_DECIDED };
  if (decision === "allow") {
    const allowed = toPending(call, nowMs);
    const { deadlineAt } = allowed;
    const change: CallChange = { ...common, state: "pending", deadlineAt, offeredTool: request.tool_name };
    return { events: [approval], change, allowed };
  }
  return {
    events: [approval, denial(request, NOBODY_DECIDED)],
    change: { ...common, state: "denied", deadlineAt: null, settledBy: SERVER, reason: NOBODY_DECIDED },
    allowed: null,
  };
}

const NOBODY_DECIDED = "Nobody decided in time.";
