// The assignments of an UPDATE that changes a session: what the patch says, and what follows from it.
import { stringifyJson } from "../domain/json.ts";
import { toText } from "../domain/text.ts";
import type { AddValue } from "./prepared.ts";
import { inMs, toClockAssignments } from "./session-clocks.ts";
import type { SessionPatch } from "./session-row.ts";
import type { Due, SessionUpdate } from "./update-session.ts";

/** Who holds a step, and for how long. */
export interface ClaimTerms {
  worker: string;
  /** Workers that keep the session when they ran its last step. */
  preferred?: readonly string[];
  leaseMs: number;
  /** True when somebody else claims it for the worker. */
  isGiven?: boolean;
}

/** How each field of a patch is stored. */
const COLUMNS: Record<keyof SessionPatch | "previousAnswer", { column: string; isJson: boolean }> = {
  status: { column: "status", isJson: false },
  pausedFrom: { column: "paused_from", isJson: false },
  pauseRequested: { column: "pause_requested", isJson: false },
  lastStep: { column: "last_step", isJson: false },
  steps: { column: "steps", isJson: false },
  runSteps: { column: "run_steps", isJson: false },
  runTokens: { column: "run_tokens", isJson: false },
  corrections: { column: "corrections", isJson: false },
  nudges: { column: "nudges", isJson: false },
  uselessSteps: { column: "useless_steps", isJson: false },
  modelFailures: { column: "model_failures", isJson: false },
  usage: { column: "usage", isJson: true },
  answer: { column: "answer", isJson: true },
  previousAnswer: { column: "previous_answer", isJson: true },
  answerText: { column: "answer_text", isJson: false },
  outcome: { column: "outcome", isJson: false },
  error: { column: "error", isJson: false },
  errorCode: { column: "error_code", isJson: false },
  reason: { column: "reason", isJson: false },
  callDeadlineAt: { column: "call_deadline_at", isJson: false },
  runIndex: { column: "run_index", isJson: false },
  tools: { column: "tools", isJson: true },
  toolsVersion: { column: "tools_version", isJson: false },
  remembered: { column: "remembered_decisions", isJson: true },
};

/** What an update sets, but for the events' count. */
export function toAssignments(update: SessionUpdate, add: AddValue): string[] {
  const { finished, claim } = update;
  const assignments = [
    ...toPatchAssignments(update, add),
    ...toClockAssignments(update, add),
    ...toDueAssignments(update.due, add),
  ];
  if (update.releaseLease) assignments.push("fence = fence + 1", "claims = 0", "lease_until = NULL");
  if (claim) assignments.push(...toClaimAssignments(claim, add));
  if (update.startedNow) assignments.push("started_at = coalesce(started_at, clock_timestamp())");
  if (finished === "now") assignments.push("finished_at = clock_timestamp()");
  if (finished === "restarted") assignments.push("finished_at = NULL");
  if (update.answerIsOld) {
    assignments.push("answer = NULL");
    if (update.patch.answer === undefined)
      assignments.push("previous_answer = coalesce(answer, previous_answer)");
  }
  return assignments;
}

/** What a claim sets: the token grows, and the lease begins. */
export function toClaimAssignments(claim: ClaimTerms, add: AddValue): string[] {
  return [
    "fence = fence + 1",
    "claims = claims + 1",
    `worker = ${toWorker(claim, add)}`,
    "claimed_at = statement_timestamp()",
    // The same moment, while the worker is still to be heard of. One that claims for itself is heard of as it does.
    `heartbeat_at = ${claim.isGiven ? "statement_timestamp()" : "clock_timestamp()"}`,
    `lease_until = ${inMs(claim.leaseMs, add)}`,
  ];
}

function toWorker({ worker, preferred = [] }: ClaimTerms, add: AddValue): string {
  const other = `${add(worker)}::text`;
  return preferred.length > 0
    ? `CASE WHEN worker = ANY(${add(preferred)}::text[]) THEN worker ELSE ${other} END`
    : other;
}

function toPatchAssignments({ patch, answerIsOld }: SessionUpdate, add: AddValue): string[] {
  return (Object.keys(patch) as (keyof SessionPatch)[]).map((field) => {
    // An answer that is old when it is written is the previous one at once.
    const { column, isJson } = COLUMNS[field === "answer" && answerIsOld ? "previousAnswer" : field];
    const value = patch[field] ?? null;
    const stored = isJson && value !== null ? stringifyJson(value) : value;
    return `${column} = ${add(typeof stored === "string" && !isJson ? toText(stored) : stored)}`;
  });
}

function toDueAssignments(due: Due, add: AddValue): string[] {
  if (due === "unchanged") return [];
  if (due === "now") return ["due_at = clock_timestamp()"];
  if (due === "not") return ["due_at = NULL", "held_due_at = NULL"];
  if (due === "hold") return ["held_due_at = due_at", "due_at = NULL"];
  if (due === "resume") return ["due_at = greatest(held_due_at, clock_timestamp())", "held_due_at = NULL"];
  if ("holdInMs" in due) return [`held_due_at = ${inMs(due.holdInMs, add)}`, "due_at = NULL"];
  return [`due_at = ${inMs(due.inMs, add)}`];
}
