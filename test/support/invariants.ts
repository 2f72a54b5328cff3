// What holds for every planned session, whatever died while it ran. Each fault is told with its kind, to be counted.
import type pg from "pg";
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
  else for (const check of [checkIndexes, checkCounts, checkOrder, checkValues]) check(stored, session, add);
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
  const expected = {
    RequestStartEvent: 1,
    AgentStartedEvent: 1,
    message_event: 1,
    policy_event: steps,
    MetricsUpdateEvent: steps,
    tool_result: keys.length,
    answer_event: 1,
    AgentCompletionEvent: 1,
    LateToolResultEvent: 0,
  };
  for (const [kind, count] of Object.entries(expected)) {
    const found = events.filter((event) => kindOf(event) === kind).length;
    if (found !== count) add(found > count ? "duplicate" : "lost", `${found} ${kind} in place of ${count}`);
  }
  for (const key of keys) {
    const calls = ledger.callsOf(key);
    if (calls.length > 1) add("duplicate", `${key} was looked up for ${calls.join(" and ")}`);
  }
};

/** A call is asked for by a policy event, is answered before the next one, and is pending in between. */
const checkOrder: Check = ({ events }, _session, add) => {
  let open = new Set<string>();
  for (const event of events) {
    if (kindOf(event) === "policy_event") {
      if (open.size > 0) add("history", `event ${event.index} comes before the results of ${[...open]}`);
      const calls = event.data.tool_reqs ?? [];
      open = new Set(calls.filter((call) => call.tool_name === "look_up").map((call) => call.id));
    }
    const id = kindOf(event) === "tool_result" && event.data.tool_req?.id;
    if (id && !open.delete(id))
      add("duplicate", `event ${event.index} is a result of ${id}, which is settled`);
    const pending = event.data.pending_tool_calls?.map((call) => call.id);
    if (pending && (pending.length !== open.size || pending.some((call) => !open.has(call))))
      add("wrong", `event ${event.index} lists ${pending} as pending in place of ${[...open]}`);
  }
  const last = events.at(-1);
  if (last?.type !== "AgentCompletionEvent") add("wrong", `the last event is ${last?.type}`);
};

const checkValues: Check = ({ events, answer }, { plan, ledger }, add) => {
  for (const { data } of events.filter((event) => kindOf(event) === "tool_result")) {
    const value = ledger.valueOf(data.tool_req?.id ?? "");
    if (data.result !== value) add("wrong", `${data.tool_req?.id} has ${data.result}, its handler ${value}`);
  }
  const values = keysOf(plan).map((key) => ledger.valueOf(ledger.callsOf(key)[0] ?? "") ?? "nothing");
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
