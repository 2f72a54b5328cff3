// What holds for every planned session, whatever died while it ran. Each fault is told with its kind, to be counted.
import type pg from "pg";
import { fateOf, isPlanned, mustRun, needsApproval, toEdited, toSeen } from "./call-fates.ts";
import type { ChatMessage, ParsedChatRequest } from "./fake-model-server.ts";
import type { Ledger } from "./ledger.ts";
import { keysOf, type Plan, toAnswer } from "./planned-sessions.ts";
import type { PendingCall } from "./wire.ts";

export type FaultKind = "lost" | "gap" | "duplicate" | "wrong" | "history";

/** Something that does not hold. */
export interface Fault {
  kind: FaultKind;
  text: string;
}

interface StoredEvent {
  index: number;
  type: string;
  data: {
    kind?: string;
    tool_reqs?: PendingCall[];
    tool_req?: PendingCall;
    result?: unknown;
    pending_tool_calls?: PendingCall[];
    pending_approvals?: PendingCall[];
    decision?: string;
  };
}

interface StoredSession {
  status: string;
  error: string | null;
  answer: unknown;
  nextIndex: number;
  events: StoredEvent[];
}

/**
 * Checks a session that should have ended, as the database has it: the right answer, events without gaps and in order,
 * each step's effects once, each call settled once and with the value that its handler got.
 */
export async function checkSession(
  db: pg.Client,
  session: { id: string; plan: Plan; ledger: Ledger },
): Promise<Fault[]> {
  const { id, plan } = session;
  const faults: Fault[] = [];
  const add = (kind: FaultKind, text: string) =>
    faults.push({ kind, text: `session ${plan.number} (${id}): ${text}` });
  const stored = await readSession(db, id);
  if (!stored) add("lost", "is not there");
  else if (stored.status !== "completed") add("lost", `is ${stored.status}: ${stored.error ?? "no error"}`);
  else
    for (const check of [checkIndexes, checkCounts, checkOrder, checkApprovals, checkValues])
      check(stored, session, add);
  return faults;
}

type Check = (
  stored: StoredSession,
  session: { plan: Plan; ledger: Ledger },
  add: (kind: FaultKind, text: string) => void,
) => void;

async function readSession(db: pg.Client, id: string): Promise<StoredSession | undefined> {
  const { rows } = await db.query<StoredSession>(
    `SELECT status, error, answer, next_index AS "nextIndex",
            (SELECT coalesce(json_agg(event ORDER BY index), '[]')
               FROM (SELECT index, type, data FROM events WHERE session_id = $1) AS event) AS events
       FROM sessions WHERE id = $1`,
    [id],
  );
  return rows[0];
}

const kindOf = ({ type, data }: StoredEvent): string => data.kind ?? type;

const checkIndexes: Check = ({ events, nextIndex }, _session, add) => {
  const gap = events.findIndex(({ index }, position) => index !== position);
  if (gap !== -1) add("gap", `event ${gap} is missing, ${events[gap]?.index} follows`);
  if (events.length !== nextIndex) add("gap", `${events.length} events, but the next index is ${nextIndex}`);
};

const checkCounts: Check = ({ events }, { plan, ledger }, add) => {
  const steps = plan.steps.length + 1;
  const keys = keysOf(plan);
  const run = listRun(events, keys);
  const expected = {
    RequestStartEvent: 1,
    AgentStartedEvent: 1,
    message_event: 1,
    policy_event: steps,
    MetricsUpdateEvent: steps,
    tool_result: run.length,
    ToolApprovalEvent: keys.filter(needsApproval).length,
    ToolCallCancelledEvent: keys.filter((key) => fateOf(key) === "forgotten").length,
    answer_event: 1,
    AgentCompletionEvent: 1,
    LateToolResultEvent: 0,
  };
  for (const [kind, count] of Object.entries(expected)) {
    const found = events.filter((event) => kindOf(event) === kind).length;
    if (found !== count) add(found > count ? "duplicate" : "lost", `${found} ${kind} in place of ${count}`);
  }
  for (const key of keys) {
    const calls = [...ledger.callsOf(key), ...ledger.callsOf(toEdited(key))];
    if (calls.length > 1) add("duplicate", `${key} was looked up for ${calls.join(" and ")}`);
    if (calls.length > 0 && !run.includes(key))
      add("wrong", `${key} was looked up, and should not have been`);
  }
};

/** The keys whose calls run: of contested ones those that were allowed. */
function listRun(events: readonly StoredEvent[], keys: readonly string[]): string[] {
  const approvals = events.filter(({ type }) => type === "ToolApprovalEvent");
  const decisions = new Map(approvals.map(({ data }) => [data.tool_req?.args.key, data.decision]));
  return keys.filter((key) => mustRun(key, decisions.get(key)));
}

/** A call is asked for by a policy event, is answered before the next one, and is pending in between. */
const checkOrder: Check = ({ events }, _session, add) => {
  let open = new Set<string>();
  for (const event of events) {
    if (kindOf(event) === "policy_event") {
      if (open.size > 0) add("history", `event ${event.index} comes before the results of ${[...open]}`);
      const calls = event.data.tool_reqs ?? [];
      open = new Set(calls.filter((call) => isPlanned(call.tool_name)).map((call) => call.id));
    }
    const call = isResult(event) ? event.data.tool_req : null;
    if (call && isPlanned(call.tool_name) && !open.delete(call.id))
      add("duplicate", `event ${event.index} is a result of ${call.id}, which is settled`);
    const { pending_tool_calls: pending, pending_approvals: unapproved = [] } = event.data;
    const listed = pending && [...pending, ...unapproved].map(({ id }) => id);
    if (listed && (listed.length !== open.size || listed.some((id) => !open.has(id))))
      add("wrong", `event ${event.index} lists ${listed} as open in place of ${[...open]}`);
  }
  const last = events.at(-1);
  if (last?.type !== "AgentCompletionEvent") add("wrong", `the last event is ${last?.type}`);
};

const isResult = (event: StoredEvent) => kindOf(event) === "tool_result" || kindOf(event) === "error_event";

/** A call that needs approval is decided once, and neither offered nor answered before it is allowed. */
const checkApprovals: Check = ({ events }, _session, add) => {
  const waited = new Set<string>();
  const decisions = new Map<string, string | undefined>();
  for (const { index, type, data } of events) {
    const id = data.tool_req?.id ?? "";
    if (type === "ToolApprovalEvent" && decisions.has(id))
      add("duplicate", `event ${index} decides again on ${id}`);
    if (type === "ToolApprovalEvent") decisions.set(id, data.decision);
    for (const call of data.pending_approvals ?? []) waited.add(call.id);
    const offered = (data.pending_tool_calls ?? []).map((call) => call.id);
    for (const call of data.kind === "tool_result" ? [id] : offered)
      if (waited.has(call) && decisions.get(call) !== "allow")
        add("wrong", `event ${index} is about ${call}, which nobody allowed`);
  }
};

const checkValues: Check = ({ events, answer }, { plan, ledger }, add) => {
  for (const { data } of events.filter((event) => kindOf(event) === "tool_result")) {
    const value = ledger.valueOf(data.tool_req?.id ?? "");
    if (data.result !== value) add("wrong", `${data.tool_req?.id} has ${data.result}, its handler ${value}`);
  }
  const keys = keysOf(plan);
  const run = listRun(events, keys);
  const values = keys.map((key) => {
    const [callId = ""] = ledger.callsOf(fateOf(key) === "edited" ? toEdited(key) : key);
    return toSeen(key, run.includes(key) ? (ledger.valueOf(callId) ?? "nothing") : null);
  });
  if (answer !== toAnswer(values)) add("wrong", `the answer is ${answer} in place of ${toAnswer(values)}`);
};

/** Checks what the model was sent: exactly one result per call, right after the message that made the calls. */
export function checkHistories(requests: readonly ParsedChatRequest[]): Fault[] {
  return requests.flatMap(({ body }, number) => {
    const problem = findHistoryFault(body.messages);
    return problem === null
      ? []
      : [{ kind: "history" as const, text: `model request ${number + 1}: ${problem}` }];
  });
}

function findHistoryFault(messages: readonly ChatMessage[]): string | null {
  let open: string[] = [];
  for (const [position, message] of messages.entries()) {
    if (message.role === "tool") {
      if (open.shift() !== message.tool_call_id)
        return `message ${position} is a result of ${message.tool_call_id}, which is not the next open call`;
      continue;
    }
    if (open.length > 0) return `message ${position} comes before the results of ${open.join(", ")}`;
    open = message.tool_calls?.map((call) => call.id) ?? [];
    if (new Set(open).size !== open.length) return `message ${position} has a call id twice`;
  }
  return open.length > 0 ? `the results of ${open.join(", ")} are missing` : null;
}
