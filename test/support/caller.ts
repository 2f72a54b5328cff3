// The caller of planned sessions: creates them, follows their changes, decides on calls, runs them, posts the results.
import { decideAll, report } from "./approver.ts";
import { fateOf } from "./call-fates.ts";
import type { PatientWire } from "./patient-wire.ts";
import { type Plan, toSessionRequest } from "./planned-sessions.ts";
import { type PendingCall, resultFor } from "./wire.ts";

export interface CallerOptions {
  wire: PatientWire;
  /** Runs one call; what it gives is posted. */
  runTool: (key: string, callId: string) => string | Promise<string>;
  /** Whether a result is posted twice, at the same time. */
  postsTwice?: () => boolean;
  /** Told of each receipt's status, and of the reply's when there is none. */
  onReceipt?: (status: string) => void;
}

/** Creates a session. The same plan gives the same session, whoever sends it. */
export async function createPlanned(wire: PatientWire, plan: Plan): Promise<string> {
  const headers = { "idempotency-key": `plan-${plan.number}` };
  const reply = await wire.send("POST", "/sessions", { body: toSessionRequest(plan), headers });
  if (reply.status !== 201) throw new Error(`create answered ${reply.status}: ${JSON.stringify(reply.body)}`);
  return reply.body.id;
}

const TERMINAL = new Set(["completed", "failed", "timed_out", "interrupted"]);

/**
 * Serves a session until it has ended.
 *
 * @throws when the polls did not give each event once, or a post was refused for a reason that is no other caller's
 */
export async function serveSession(id: string, options: CallerOptions): Promise<void> {
  const { wire } = options;
  const running = new Map<string, Promise<void>>();
  const deciding = new Map<string, Promise<void>>();
  const seen: unknown[] = [];
  for (;;) {
    const path = `/sessions/${id}/changes?from_index=${seen.length}&wait_for_seconds=5`;
    const { status, body } = await wire.send("GET", path);
    if (status === 204) continue;
    if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
    seen.push(...body.new_events);
    if (body.next_index !== seen.length) throw new Error(`${path} gave ${body.next_index} as its next index`);
    if (TERMINAL.has(body.status)) break;
    const state = seen.findLast((event) => (event as { type: string }).type === "ActiveStateChangeEvent");
    for (const call of listOf(state, "pending_approvals")) {
      if (!deciding.has(call.id)) deciding.set(call.id, decideAll(id, call, options));
    }
    for (const call of listOf(state, "pending_tool_calls")) {
      if (!running.has(call.id)) running.set(call.id, runAndPost(id, call, options));
    }
    // Throws when a run has failed; waits for none.
    await Promise.race([...running.values(), ...deciding.values(), null]);
  }
  await Promise.all([...running.values(), ...deciding.values()]);
  const { body } = await wire.send("GET", `/sessions/${id}/changes`);
  if (JSON.stringify(body.new_events) !== JSON.stringify(seen))
    throw new Error(`session ${id}: the polls gave other events than the whole history`);
}

type List = "pending_tool_calls" | "pending_approvals";

function listOf(state: unknown, list: List): PendingCall[] {
  return (state as { data: { [K in List]?: PendingCall[] } } | undefined)?.data[list] ?? [];
}

async function runAndPost(sessionId: string, call: PendingCall, options: CallerOptions): Promise<void> {
  const key = String(call.args.key);
  if (fateOf(key) === "forgotten") return;
  if (fateOf(key) === "reported") await report(sessionId, call, options);
  const value = await options.runTool(key, call.id);
  const post = () => postResult(sessionId, call, value, options);
  await Promise.all(options.postsTwice?.() ? [post(), post()] : [post()]);
}

async function postResult(
  sessionId: string,
  call: PendingCall,
  value: string,
  { wire, onReceipt }: CallerOptions,
): Promise<void> {
  const path = `/sessions/${sessionId}/tool_results`;
  const { status, body } = await wire.send("POST", path, { body: resultFor(call, value) });
  // A repeat that comes when the session has ended is refused, and changes nothing.
  if (status === 409 && body.code === "session_finished") return onReceipt?.(body.code);
  if (status !== 202) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
  for (const receipt of body.receipts) onReceipt?.(receipt.status);
}
