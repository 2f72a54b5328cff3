// Sessions with calls of every fate: allowed, allowed with other arguments, denied, decided by nobody, run, and run too
// late. Their message names the calls, and what each must come to is known before.
import type pg from "pg";
import type { ModelScript } from "./fake-model-server.ts";
import type { PatientWire } from "./patient-wire.ts";
import { type PendingCall, resultFor } from "./wire.ts";

/** What becomes of a call: the tools of these sessions, by their names. */
export const FATES = ["allowed", "edited", "denied", "forgotten", "lenient", "run", "slow"] as const;

/** A fate of {@link FATES}. */
export type Fate = (typeof FATES)[number];

/** The course of a session: the calls that it makes in each of so many steps. */
export interface Course {
  steps: number;
  fates: readonly Fate[];
  /** Seconds after which nobody decides any more on `forgotten` and `lenient` calls, and `slow` ones are late. Default 0.6. */
  waitS?: number;
}

const needsApproval = { approval: "always", capability: "actuator" };
const toTerms = (waitS: number): Record<Fate, object> => ({
  allowed: needsApproval,
  edited: needsApproval,
  denied: needsApproval,
  forgotten: { ...needsApproval, approval_timeout_s: waitS },
  lenient: { ...needsApproval, approval_timeout_s: waitS, on_approval_timeout: "allow" },
  run: {},
  slow: { timeout_s: waitS },
});

const input_schema = { type: "object", properties: { key: { type: "string" } }, required: ["key"] };

/** The request that starts a session with this course. */
export function toDecidedRequest({ steps, fates, waitS = 0.6 }: Course) {
  const terms = toTerms(waitS);
  const tools = FATES.map((name) => ({ name, description: "Does it.", input_schema, ...terms[name] }));
  return { agent: { name: "decided", tools }, messages: `${steps}: ${fates.join(" ")}` };
}

/** A model that makes the calls, and answers with what all of them came to. */
export const decidedScript: ModelScript = ({ body }) => {
  const text = String(body.messages.find(({ role }) => role === "user")?.content);
  const [steps, fates = ""] = text.split(": ");
  const step = body.messages.filter(({ tool_calls }) => tool_calls?.length).length;
  if (step === Number(steps)) {
    const results = body.messages.filter(({ role }) => role === "tool");
    return { text: JSON.stringify(results.map(({ content }) => content)) };
  }
  return { toolCalls: fates.split(" ").map((name) => ({ name, arguments: { key: `${name} ${step}` } })) };
};

/** What the model must be told of a call. */
const TOLD: Record<Fate, (key: string) => string> = {
  allowed: (key) => `ran ${key}`,
  edited: (key) =>
    `ran ${key}, edited\n\n[Before the call was approved, its arguments were changed to {"key":"${key}, edited"}]`,
  denied: () => "Error: The call was denied, and not run: No.",
  forgotten: () => "Error: The call was denied, and not run: Nobody decided in time.",
  lenient: (key) => `ran ${key}`,
  run: (key) => `ran ${key}`,
  slow: () => "Error: The call's time was over before a result came. Whether the tool ran is unknown.",
};

/** The answer of a session that went as it should. */
function toDecidedAnswer({ steps, fates }: Course): string {
  const ofStep = (_: unknown, step: number) => fates.map((fate) => TOLD[fate](`${fate} ${step}`));
  return JSON.stringify(Array.from({ length: steps }, ofStep).flat());
}

const decisions: Partial<Record<string, (call: PendingCall) => object>> = {
  allowed: () => ({ decision: "allow" }),
  edited: ({ args }) => ({ decision: "allow", args: { key: `${args.key}, edited` } }),
  denied: () => ({ decision: "deny", message: "No." }),
};

/** The decision that is due on a call; null when it is left to its time. */
export function toDecision(call: PendingCall): object | null {
  const decision = decisions[call.tool_name]?.(call);
  return decision ? { call_id: call.id, ...decision } : null;
}

/**
 * Decides, runs and posts until the session has ended, everything twice at the same time.
 *
 * @throws when a post is refused for another reason than that it came before
 */
export async function serveDecided(id: string, wire: PatientWire): Promise<void> {
  const done = new Set<string>();
  const post = async (what: string, path: string, body: object) => {
    if (done.has(what)) return;
    done.add(what);
    const send = () => wire.send("POST", `/sessions/${id}/${path}`, { body });
    for (const reply of await Promise.all([send(), send()])) {
      if (reply.status === 202 || reply.body.code === "session_finished") continue;
      throw new Error(`${path} answered ${reply.status}: ${reply.text}`);
    }
  };
  for (;;) {
    const { status, body } = await wire.send("GET", `/sessions/${id}/changes?wait_for_seconds=0`);
    if (status !== 200) throw new Error(`changes answered ${status}`);
    if (["completed", "failed"].includes(body.status)) return;
    const last = body.new_events.findLast(({ type }: { type: string }) => type === "ActiveStateChangeEvent");
    const pending: PendingCall[] = last?.data.pending_tool_calls ?? [];
    const approvals: PendingCall[] = last?.data.pending_approvals ?? [];
    const decided = approvals.map((call) => {
      const decision = toDecision(call);
      return decision && post(`decide ${call.id}`, "approvals", decision);
    });
    const ran = pending
      .filter(({ tool_name }) => tool_name !== "slow")
      .map((call) => post(`run ${call.id}`, "tool_results", resultFor(call, `ran ${call.args.key}`)));
    await Promise.all([...decided, ...ran, new Promise((resolve) => setTimeout(resolve, 40))]);
  }
}

/** What is wrong with an ended session, as the database has it: each call settled and decided once, each step taken once. */
export async function findDecidedFaults(
  db: pg.Client,
  { id, steps, fates }: Course & { id: string },
): Promise<string[]> {
  const { rows } = await db.query(
    `SELECT status, answer #>> '{}' AS answer, next_index, call_deadline_at,
            (SELECT json_agg(json_build_array(index, coalesce(data ->> 'kind', type), data -> 'tool_req' ->> 'id')
                             ORDER BY index) FROM events WHERE session_id = $1) AS events,
            (SELECT count(*)::int FROM tool_calls WHERE session_id = $1 AND state IN ('pending', 'awaiting_approval')) AS open
       FROM sessions WHERE id = $1`,
    [id],
  );
  const { events, ...session } = rows[0] as { events: [number, string, string | null][] } & Record<
    string,
    unknown
  >;
  const count = (...kinds: string[]) => events.filter(([, kind]) => kinds.includes(kind)).length;
  const results = events.filter(([, kind]) => kind === "tool_result" || kind === "error_event");
  const asking = fates.filter((fate) => fate !== "run" && fate !== "slow").length;
  const found = {
    ...session,
    gaps: events.filter(([index], place) => index !== place).length,
    steps: count("policy_event"),
    ends: count("answer_event", "AgentErrorEvent"),
    results: results.length,
    settled: new Set(results.map(([, , call]) => call)).size,
    decisions: count("ToolApprovalEvent"),
    cancelled: count("ToolCallCancelledEvent"),
    late: count("LateToolResultEvent"),
  };
  const wanted = {
    status: "completed",
    answer: toDecidedAnswer({ steps, fates }),
    next_index: events.length,
    call_deadline_at: null,
    open: 0,
    gaps: 0,
    steps: steps + 1,
    ends: 1,
    results: steps * fates.length,
    settled: steps * fates.length,
    decisions: steps * asking,
    cancelled: steps * fates.filter((fate) => fate === "slow").length,
    late: 0,
  };
  return Object.entries(wanted).flatMap(([what, value]) => {
    const is = (found as Record<string, unknown>)[what];
    return is === value ? [] : [`session ${id}: ${what} is ${is} in place of ${value}`];
  });
}
