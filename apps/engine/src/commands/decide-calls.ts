import {
  type ApprovalReceipt,
  hashDecision,
  judgeApprovals,
  type PostedApproval,
} from "../domain/approvals.ts";
import { type Fault, TandemError } from "../domain/errors.ts";
import { denial, type NewEvent, toolApproval } from "../domain/events.ts";
import type { SessionKey } from "../domain/ids.ts";
import { stringifyJson } from "../domain/json.ts";
import { createValueChecker } from "../domain/json-schema.ts";
import { type OpenCall, type RememberedDecisions, toPending } from "../domain/plan-calls.ts";
import { MAX_ARGUMENT_CHARACTERS } from "../domain/tools.ts";
import { announce, type Engine } from "../engine.ts";
import type { CallChange } from "../postgres/call-changes.ts";
import { readToolbox } from "../postgres/read-toolbox.ts";
import { databaseNowMs, type SessionRow } from "../postgres/session-row.ts";
import { pickOpen, readSessionWithCalls, readToolCalls } from "../postgres/tool-calls.ts";
import { type SessionUpdate, updateSession } from "../postgres/update-session.ts";
import { changeSession, refuseFinished, refuseMissing } from "./change-session.ts";
import { toSettled } from "./settle-calls.ts";

/** A body of decisions, already checked for its form. `locOf` names an entry's place in it. */
export interface PostedApprovals extends SessionKey {
  /** Whose key it came with. */
  userName: string;
  entries: PostedApproval[];
  locOf: (index: number) => (string | number)[];
}

/** One receipt per decision, and what is open after them. */
export interface ApprovalsReceipt {
  receipts: ApprovalReceipt[];
  /** Calls that wait for a result. */
  pending: string[];
  /** Calls that wait for a decision. */
  pending_approvals: string[];
  resumed: boolean;
}

/**
 * Decides on calls that need approval. An allowed call is offered to the caller, with its own time for a result; a denied
 * one has its result, which the model sees. A decision is never a result, nor the other way round.
 *
 * @throws {TandemError} `session_not_found`, `session_finished`, `calls_unknown`, `approval_conflict` when no decision was
 *   taken, or `invalid_request` for arguments that do not fit the tool; then nothing has changed
 */
export async function decideCalls(engine: Engine, input: PostedApprovals): Promise<ApprovalsReceipt> {
  // Before the row is locked, which takes its time. Tools are not replaced while calls are open.
  await refuseUnfitArguments(engine, input);
  const { receipt, change } = await changeSession(engine, input, async (tx, session) => {
    refuseFinished(session, "takes no more decisions");
    const ids = toIds(input);
    const calls = await readToolCalls(tx, session.id, { ids, toolNames: [] });
    const { receipts, accepted } = judgeApprovals(input.entries, calls);
    const open = pickOpen(calls);
    refuseUseless(receipts, open);
    // A repeat changes nothing, in whatever state the session is by now.
    const decided =
      accepted.length > 0 ? decide(session, { open, accepted, userName: input.userName }) : { open };
    const change = "update" in decided ? await updateSession(tx, session, decided.update) : null;
    const idsOf = (state: OpenCall["state"]) =>
      decided.open.filter((call) => call.state === state).map(({ request }) => request.id);
    const resumed = change?.due === "now";
    const receipt = {
      receipts,
      pending: idsOf("pending"),
      pending_approvals: idsOf("awaiting_approval"),
      resumed,
    };
    return { receipt, change };
  });
  if (change) await announce(engine, change);
  return receipt;
}

/** A name of a call with NUL is no name of one, and the database takes none. */
const toIds = ({ entries }: PostedApprovals) =>
  entries.map(({ callId }) => callId).filter((id) => !id.includes("\u0000"));

/** Longest time for checking the arguments of a whole body, in milliseconds of computing: others wait meanwhile. */
const CHECK_BUDGET_MS = 500;

/** Edited arguments pass what those of a model pass: they are offered to the same clients. */
async function refuseUnfitArguments(engine: Engine, input: PostedApprovals): Promise<void> {
  if (input.entries.every(({ args }) => args === null)) return;
  const found = await readSessionWithCalls(engine.pool, input, { ids: toIds(input), toolNames: [] });
  if (!found) return refuseMissing(input);
  const { tools } = (await readToolbox(engine.pool, input)) ?? refuseMissing(input);
  const waiting = new Map(
    found.calls.flatMap((call) => (call.state === "awaiting_approval" ? [[call.id, call]] : [])),
  );
  const check = createValueChecker(CHECK_BUDGET_MS);
  const faults = input.entries.flatMap(({ callId, args }, index): Fault[] => {
    const call = waiting.get(callId);
    // The first entry for a call counts, and only for one that waits: what repeats a decision is not checked anew.
    waiting.delete(callId);
    if (args === null || !call) return [];
    const loc = [...input.locOf(index), "args"];
    if (stringifyJson(args).length > MAX_ARGUMENT_CHARACTERS) {
      const msg = `the arguments are longer than ${MAX_ARGUMENT_CHARACTERS} characters`;
      return [{ loc, msg, type: "too_long" }];
    }
    const schema = tools.find(({ name }) => name === call.toolName)?.input_schema;
    return (schema ? check(schema, args) : []).map((fault) => ({
      loc,
      msg: `the arguments do not fit tool ${JSON.stringify(call.toolName)}: ${fault}`,
      type: "tool_arguments",
    }));
  });
  const [first] = faults;
  if (first) throw new TandemError("invalid_request", first.msg, { faults });
}

/** What each accepted decision makes of its call, and what a remembered one makes of the others of its tool. */
function decide(
  session: SessionRow,
  {
    open,
    accepted,
    userName,
  }: { open: readonly OpenCall[]; accepted: readonly PostedApproval[]; userName: string },
): { update: SessionUpdate; open: OpenCall[] } {
  const byId = new Map(accepted.map((entry) => [entry.callId, entry]));
  const toolOf = new Map(open.map(({ request }) => [request.id, request.tool_name]));
  const remembering = accepted.filter(({ remember }) => remember);
  const byTool = new Map(remembering.map((entry) => [toolOf.get(entry.callId), entry]));
  const events: NewEvent[] = [];
  const changedCalls: CallChange[] = [];
  const stillOpen = open.flatMap((call): OpenCall[] => {
    const tool = call.request.tool_name;
    const isWaiting = call.state === "awaiting_approval";
    const remembered = byTool.get(tool);
    const entry =
      byId.get(call.request.id) ?? (isWaiting && remembered ? { ...remembered, args: null } : undefined);
    if (!entry) return [call];
    const made = toDecided(call, { entry, userName, nowMs: databaseNowMs(session) });
    events.push(...made.events);
    changedCalls.push(made.change);
    return made.open;
  });
  const settled = toSettled(session, stillOpen);
  const remembered: RememberedDecisions = {
    ...session.remembered,
    ...Object.fromEntries([...byTool].map(([tool, { decision }]) => [tool, decision])),
  };
  const patch = { ...settled.patch, ...(byTool.size > 0 ? { remembered } : {}) };
  return {
    update: { ...settled, patch, events: [...events, ...settled.events], changedCalls },
    open: stillOpen,
  };
}

function toDecided(
  call: OpenCall,
  { entry, userName, nowMs }: { entry: PostedApproval; userName: string; nowMs: number },
): { events: NewEvent[]; change: CallChange; open: OpenCall[] } {
  const { decision, message, remember, args } = entry;
  const request = { ...call.request, ...(args === null ? {} : { args }) };
  const common = {
    ...{ id: request.id, decision, decidedBy: userName, decisionMessage: message },
    decisionHash: hashDecision(entry),
  };
  const approval = toolApproval({
    ...{ tool_req: request, decision, message, remember },
    edited: args !== null,
    decided_by: userName,
  });
  if (decision === "deny") {
    const reason = message ?? "denied";
    return {
      events: [approval, denial(request, message)],
      change: { ...common, state: "denied", deadlineAt: null, settledBy: userName, reason },
      open: [],
    };
  }
  const allowed = toPending({ ...call, request }, nowMs);
  const change: CallChange = {
    ...{ ...common, state: "pending", deadlineAt: allowed.deadlineAt },
    offeredTool: request.tool_name,
  };
  return { events: [approval], change: args === null ? change : { ...change, args }, open: [allowed] };
}

/** A body of which nothing was accepted or known is an error, with the receipts that say why. */
function refuseUseless(receipts: ApprovalReceipt[], open: readonly OpenCall[]): void {
  if (receipts.some(({ status }) => status === "accepted" || status === "duplicate")) return;
  const waiting = open.filter(({ state }) => state === "awaiting_approval").map(({ request }) => request.id);
  const extra = { receipts: receipts.map((receipt) => ({ ...receipt })), pending_approvals: waiting };
  const hint =
    waiting.length > 0 ? `Calls that wait for a decision: ${waiting.join(", ")}.` : "No call waits for one.";
  if (receipts.every(({ status }) => status === "unknown")) {
    throw new TandemError("calls_unknown", `No decision fits a call of this session. ${hint}`, { extra });
  }
  const why = "The calls need no decision, were decided otherwise, or wait no longer.";
  throw new TandemError("approval_conflict", `${why} ${hint}`, { extra });
}
