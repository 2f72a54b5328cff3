// What happens to sessions, as metrics and spans.
import type { SessionMove } from "../domain/session-move.ts";
import { isTerminal, type SessionStatus } from "../domain/session-state.ts";
import { toCreationMs, toRootSpanId } from "./spans.ts";
import type { Telemetry } from "./telemetry.ts";

/** What a wait is called that ends with its state. In the other states a worker has the step, or is to have it. */
const WAITS: Partial<Record<SessionStatus, string>> = {
  queued: "wait for a slot",
  paused: "paused",
  idle: "wait for a message",
  awaiting_tool_results: "wait for tool results",
  awaiting_approval: "wait for an approval",
};

/** Counts a session's move, and adds what has ended with it to its trace. Call it after the commit. */
export function noteMove({ metrics, tracer }: Telemetry, sessionId: string, move: SessionMove): void {
  const { from, to, reason } = move;
  if (isTerminal(from)) metrics.restarted.inc();
  if (from === "awaiting_tool_results" && to === "running") metrics.toolWait.observe(move.afterMs / 1_000);
  if (reason !== null) metrics.ended.inc({ status: to, reason });
  if (!tracer.isOn) return;
  const endMs = Date.now();
  const wait = WAITS[from];
  if (wait !== undefined) {
    tracer.record({ sessionId, name: wait, startMs: endMs - move.afterMs, endMs, attributes: {} });
  }
  if (reason === null) return;
  tracer.record({
    sessionId,
    ...(move.isFirstEnd ? toRoot(sessionId) : { name: "end of a later run", startMs: endMs }),
    endMs,
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.conversation.id": sessionId,
      "tandem.session.status": to,
      "tandem.session.reason": reason,
    },
    isError: to === "failed" || to === "timed_out",
  });
}

/** The session's own span. A trace has one: what a message adds after the end goes below it. */
function toRoot(sessionId: string) {
  return { name: "session", id: toRootSpanId(sessionId), parentId: null, startMs: toCreationMs(sessionId) };
}
