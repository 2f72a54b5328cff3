// What holds of the calls of every session at every moment: what the events say of each is what its row says.
import type { StoredEvent } from "@tandem/engine/domain/events";
import type pg from "pg";

interface CallRow {
  id: string;
  state: "awaiting_approval" | "pending" | "answered" | "denied" | "timed_out" | "withdrawn" | "refused";
  /** As events list it while it is open. */
  listed: string;
  decision: "allow" | "deny" | null;
}

/** The calls of a session in the order in which the model asked. */
export async function readCalls(db: pg.ClientBase, sessionId: string): Promise<CallRow[]> {
  const { rows } = await db.query<CallRow>(
    `SELECT id, state, decision,
            concat_ws(' ', id, tool_name, args, capability, deadline_at IS NOT NULL,
                      CASE WHEN state = 'awaiting_approval' THEN approval_reason END) AS listed
       FROM tool_calls WHERE session_id = $1 ORDER BY step, position`,
    [sessionId],
  );
  return rows;
}

interface CallHistory {
  /** The session's state, or the one under its pause. */
  active: string;
  isDeadlineKept: boolean;
  events: readonly StoredEvent[];
  calls: readonly CallRow[];
}

/** Each call has one fate: it is open and is listed so, or it has one result; and it has it in the right order. */
export function findCallFaults(history: CallHistory): string[] {
  const { active, isDeadlineKept, events, calls } = history;
  const pending = calls.filter(({ state }) => state === "pending");
  const unapproved = calls.filter(({ state }) => state === "awaiting_approval");
  const awaited = unapproved.length > 0 ? "awaiting_approval" : "nothing";
  const wanted = pending.length > 0 ? "awaiting_tool_results" : awaited;
  return [
    ...claim(
      active === wanted || (wanted === "nothing" && !active.startsWith("awaiting")),
      `${active}, but its calls wait as ${wanted}`,
    ),
    ...claim(isDeadlineKept, "the session's deadline is not that of its calls"),
    ...findListFaults(events, { pending, unapproved }),
    ...findResultFaults(history),
    ...findApprovalFaults(history),
  ];
}

const claim = (isTrue: boolean, what: string): string[] => (isTrue ? [] : [what]);

interface Listed {
  id: string;
  tool_name: string;
  args: object;
  capability: string;
  deadline: string | null;
  reason?: string;
}

/** The lists of the last state that was told; a state without calls has none. */
function findListFaults(
  events: readonly StoredEvent[],
  rows: { pending: readonly CallRow[]; unapproved: readonly CallRow[] },
): string[] {
  const last = events.findLast(({ type }) => type === "ActiveStateChangeEvent")?.data;
  const isOpen = rows.pending.length + rows.unapproved.length > 0;
  return (["pending", "unapproved"] as const).flatMap((which) => {
    const listed = listOf(last, which === "pending" ? "pending_tool_calls" : "pending_approvals");
    const told = listed.map(toListed);
    const stored = rows[which].map((row) => row.listed);
    // Who ends a session does not tell its lists anew.
    return claim(!isOpen || `${told}` === `${stored}`, `${which} as told: ${told}; as stored: ${stored}`);
  });
}

const listOf = (data: StoredEvent["data"] | undefined, key: string) =>
  (data?.[key] ?? []) as unknown as Listed[];

function toListed({ id, tool_name, args, capability, deadline, reason }: Listed): string {
  const hasDeadline = deadline === null ? "f" : "t";
  const parts = [id, tool_name, JSON.stringify(args), capability, hasDeadline, reason];
  return parts.filter((part) => part !== undefined).join(" ");
}

/** One result for each call that is settled, and before the model says something more. */
function findResultFaults({ events, calls }: CallHistory): string[] {
  const open = new Set(calls.flatMap(({ id, state }) => (OPEN.has(state) ? [id] : [])));
  const asked: string[] = [];
  const results = new Map<string, number>();
  const faults: string[] = [];
  for (const { data } of events) {
    const id = toResultId(data);
    if (id !== null) {
      results.set(id, (results.get(id) ?? 0) + 1);
      faults.push(...claim(asked.includes(id), `a result of ${id}, which nobody had asked for`));
    }
    if (data.kind !== "policy_event") continue;
    const unsettled = asked.filter((call) => !results.has(call));
    faults.push(...claim(unsettled.length === 0, `the model went on without results of ${unsettled}`));
    asked.push(...(data.tool_reqs as unknown as Listed[]).map(({ id }) => id));
  }
  const counts = asked.map((id) => ({ id, is: results.get(id) ?? 0, wanted: open.has(id) ? 0 : 1 }));
  return [
    ...faults,
    ...claim(new Set(asked).size === asked.length, "two calls have one id"),
    ...counts.flatMap(({ id, is, wanted }) => claim(is === wanted, `${is} results of ${id}, not ${wanted}`)),
  ];
}

const OPEN: ReadonlySet<CallRow["state"]> = new Set(["pending", "awaiting_approval"]);

function toResultId(data: StoredEvent["data"]): string | null {
  const isResult = data.kind === "tool_result" || data.kind === "error_event";
  return (isResult && (data.tool_req as { id?: string } | null | undefined)?.id) || null;
}

/** A call is offered only once it is allowed, one that is denied never, and each is decided once. */
function findApprovalFaults({ events, calls }: CallHistory): string[] {
  const decisions = new Map<string, unknown>();
  const waited = new Set<string>();
  const faults: string[] = [];
  for (const { type, data } of events) {
    if (type === "ToolApprovalEvent") {
      const { id } = data.tool_req as unknown as Listed;
      faults.push(...claim(!decisions.has(id), `${id} is decided twice`));
      faults.push(...claim(waited.has(id), `${id} is decided, and waited for nothing`));
      decisions.set(id, data.decision);
    }
    for (const { id } of listOf(data, "pending_approvals")) waited.add(id);
    for (const { id } of listOf(data, "pending_tool_calls"))
      faults.push(...claim(!waited.has(id) || decisions.get(id) === "allow", `${id} is offered unapproved`));
    const id = data.kind === "tool_result" ? toResultId(data) : null;
    const mayRun = id === null || !waited.has(id) || decisions.get(id) === "allow";
    faults.push(...claim(mayRun, `${id} has a result without an approval`));
  }
  return [
    ...faults,
    ...calls.flatMap(({ id, state, decision }) => [
      ...claim(
        (decisions.get(id) ?? null) === decision,
        `${id}: told ${decisions.get(id)}, stored ${decision}`,
      ),
      ...claim(decision !== "deny" || state === "denied", `${id} was denied, and is ${state}`),
      ...claim(
        !waited.has(id) || decision !== null || !RUN.has(state),
        `${id} was not decided, and is ${state}`,
      ),
    ]),
  ];
}

const RUN: ReadonlySet<CallRow["state"]> = new Set(["pending", "answered"]);
