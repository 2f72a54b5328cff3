// Matching what a caller posts with the calls of a session. Pure: decides every receipt before anything is written.
import { createHash } from "node:crypto";
import type { CallState } from "./call-states.ts";
import type { Fault } from "./errors.ts";
import { type JsonObject, type JsonValue, toCanonicalJson } from "./json.ts";
import type { ToolRequest } from "./tools.ts";

/** One posted entry: the value of a tool, or the error it ended with. */
export type PostedResult = PostedValue | PostedError;

/** A tool's value. */
export interface PostedValue {
  kind: "tool_result";
  tool_req: PostedToolRequest;
  result: JsonValue;
  truncated: boolean;
  output_artifact_path: string | null;
}

/** A tool's error. */
export interface PostedError {
  kind: "error_event";
  tool_req: PostedToolRequest;
  error: string;
  origin: string;
}

/** The call that an entry is for. Without an id it is the pending call with the same name and arguments. */
export interface PostedToolRequest {
  tool_name: string;
  args: JsonObject;
  id: string | null;
}

/** A call that an entry can be for. */
export interface KnownCall {
  request: ToolRequest;
  state: CallState;
  contentHash: Buffer | null;
}

/**
 * What became of an entry. `late`: its call had been withdrawn, or its time was over; the result is kept, but not used.
 * `approval_required`: its call waits for an approval, which no result can stand in for.
 */
export const RECEIPT_STATUSES = [
  "accepted",
  "duplicate",
  "conflict",
  "late",
  "unknown",
  "approval_required",
] as const;

/** A status of {@link RECEIPT_STATUSES}. */
export type ReceiptStatus = (typeof RECEIPT_STATUSES)[number];

/** The answer to one entry. `id` is null when the entry fits no call and named none. */
export interface Receipt {
  id: string | null;
  status: ReceiptStatus;
}

/** An entry that settles a call. */
export interface Settlement {
  call: ToolRequest;
  posted: PostedResult;
  contentHash: Buffer;
}

/** The verdict on a whole body. With `faults` nothing of it may be written. */
export interface Verdict {
  receipts: Receipt[];
  settlements: Settlement[];
  /** First results of calls that had been withdrawn. */
  late: Settlement[];
  faults: Fault[];
}

/** Decides a receipt for each entry, in order. Within a body the first entry for a call wins. */
export function judgeResults(
  entries: readonly PostedResult[],
  calls: readonly KnownCall[],
  locOf: (index: number) => (string | number)[],
): Verdict {
  const verdict: Verdict = { receipts: [], settlements: [], late: [], faults: [] };
  const known = calls.map((call) => ({ ...call }));
  entries.forEach((posted, index) => {
    const match = findCall(posted, known);
    if ("fault" in match) {
      verdict.faults.push({
        loc: [...locOf(index), "tool_req", match.field],
        msg: match.fault,
        type: match.type,
      });
      return;
    }
    verdict.receipts.push(judgeEntry(posted, match.call, verdict));
  });
  return verdict;
}

function judgeEntry(posted: PostedResult, call: KnownCall | null, verdict: Verdict): Receipt {
  if (!call) return { id: posted.tool_req.id, status: "unknown" };
  const id = call.request.id;
  const contentHash = hashContent(posted);
  if (call.state === "awaiting_approval") return { id, status: "approval_required" };
  if (call.state === "withdrawn" || call.state === "timed_out") {
    // Kept once: a client that repeats itself must not make the history longer.
    if (call.contentHash === null) verdict.late.push({ call: call.request, posted, contentHash });
    call.contentHash ??= contentHash;
    return { id, status: "late" };
  }
  if (call.state !== "pending") {
    return { id, status: call.contentHash?.equals(contentHash) ? "duplicate" : "conflict" };
  }
  call.state = "answered";
  call.contentHash = contentHash;
  verdict.settlements.push({ call: call.request, posted, contentHash });
  return { id, status: "accepted" };
}

type Match = { call: KnownCall | null } | { fault: string; field: "id" | "tool_name"; type: string };

function findCall(posted: PostedResult, calls: readonly KnownCall[]): Match {
  const wanted = posted.tool_req;
  if (wanted.id !== null) {
    const call = calls.find((known) => known.request.id === wanted.id) ?? null;
    if (!call || call.request.tool_name === wanted.tool_name) return { call };
    const names = `${JSON.stringify(call.request.tool_name)}, not ${JSON.stringify(wanted.tool_name)}`;
    return { fault: `call ${wanted.id} is of tool ${names}`, field: "tool_name", type: "tool_name_mismatch" };
  }
  const args = toCanonicalJson(wanted.args);
  const fitting = calls.filter(
    ({ request }) => request.tool_name === wanted.tool_name && toCanonicalJson(request.args) === args,
  );
  const pending = fitting.filter((call) => call.state === "pending");
  if (pending.length > 1) {
    const ids = pending.map((call) => call.request.id).join(", ");
    return {
      fault: `several pending calls have this name and arguments: name one of ${ids}`,
      field: "id",
      type: "tool_call_ambiguous",
    };
  }
  if (pending[0]) return { call: pending[0] };
  // Posted again: it means the call that has this very answer, if there is one.
  const contentHash = hashContent(posted);
  return { call: fitting.find((call) => call.contentHash?.equals(contentHash)) ?? fitting.at(-1) ?? null };
}

/** A hash of what an entry says, whatever the order of its keys: equal hashes mean the same answer. */
function hashContent(posted: PostedResult): Buffer {
  const content: JsonValue =
    posted.kind === "tool_result"
      ? [posted.kind, posted.result, posted.truncated, posted.output_artifact_path]
      : [posted.kind, posted.error, posted.origin];
  return createHash("sha256").update(toCanonicalJson(content)).digest();
}
