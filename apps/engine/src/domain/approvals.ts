// Decisions on calls that need approval. Pure: every receipt is known before anything is written.
import { createHash } from "node:crypto";
import type { CallState } from "./call-states.ts";
import { type JsonObject, toCanonicalJson } from "./json.ts";
import type { Decision } from "./tools.ts";

/** One posted decision. */
export interface PostedApproval {
  callId: string;
  decision: Decision;
  /** For the model when it is a denial, for the record when not. */
  message: string | null;
  /** Other arguments than those that the model gave; null leaves them. */
  args: JsonObject | null;
  /** Whether it counts for all later calls of the tool in the session, and for those that wait now. */
  remember: boolean;
}

/** A call that a decision can be for. */
export interface DecidableCall {
  id: string;
  state: CallState;
  decision: Decision | null;
  /** Null when nobody decided in time. */
  decisionHash: Buffer | null;
}

/**
 * What became of a decision. `duplicate`: the same was decided before. `conflict`: another was, or the call needs none.
 * `late`: the call was withdrawn, or its time was over.
 */
export const APPROVAL_STATUSES = ["accepted", "duplicate", "conflict", "late", "unknown"] as const;

/** The answer to one decision. */
export interface ApprovalReceipt {
  id: string;
  status: (typeof APPROVAL_STATUSES)[number];
}

/** Decides a receipt for each entry, in order. Within a body the first entry for a call wins. */
export function judgeApprovals(
  entries: readonly PostedApproval[],
  calls: readonly DecidableCall[],
): { receipts: ApprovalReceipt[]; accepted: PostedApproval[] } {
  const known = new Map(calls.map((call) => [call.id, { ...call }]));
  const accepted: PostedApproval[] = [];
  const receipts = entries.map((entry): ApprovalReceipt => {
    const call = known.get(entry.callId);
    const hash = hashDecision(entry);
    const status = call ? judge(call, hash) : "unknown";
    if (call && status === "accepted") {
      known.set(call.id, { ...call, state: "pending", decision: entry.decision, decisionHash: hash });
      accepted.push(entry);
    }
    return { id: entry.callId, status };
  });
  return { receipts, accepted };
}

function judge(call: DecidableCall, hash: Buffer): ApprovalReceipt["status"] {
  if (call.state === "awaiting_approval") return "accepted";
  if (call.decision === null) {
    return call.state === "withdrawn" || call.state === "timed_out" ? "late" : "conflict";
  }
  if (call.decisionHash === null) return "late";
  return call.decisionHash.equals(hash) ? "duplicate" : "conflict";
}

/** A hash of what was decided: equal hashes mean the same decision. */
export function hashDecision({ decision, message, args, remember }: PostedApproval): Buffer {
  return createHash("sha256")
    .update(toCanonicalJson([decision, message, args, remember]))
    .digest();
}
