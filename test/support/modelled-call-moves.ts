// What is done to the calls of a session of the model, and what the session comes to by it.
import {
  callAt,
  decideCall,
  findCall,
  judgeDecision,
  judgeResult,
  toDecided,
  toPending,
  toUselessError,
} from "./modelled-calls.ts";
import { SessionMoves } from "./modelled-moves.ts";
import {
  type Decided,
  type Expected,
  FINISHED,
  isEnd,
  isOpen,
  type ModelCall,
  type ModelSession,
  type Posted,
  placesOf,
  SILENT,
} from "./modelled-session.ts";
import { findTool, fitsTool, type Toolset } from "./walk-tools.ts";

/** Results, decisions, progress, claims of calls, other tools, and calls whose time is over. */
export class CallMoves extends SessionMoves {
  post(s: ModelSession, entries: readonly Posted[]): Expected {
    if (isEnd(s.status)) return FINISHED;
    const calls = structuredClone(s.calls);
    let isSilent = true;
    const receipts: string[] = [];
    for (const entry of entries) {
      const call = findCall(calls, entry);
      if (call === "fault") return { isSilent: true, error: "invalid_request" };
      const receipt = judgeResult(call, entry.value);
      receipts.push(receipt);
      if (!call || (receipt !== "accepted" && (receipt !== "late" || call.value !== null))) continue;
      isSilent = false;
      call.value = entry.value;
      if (receipt === "accepted") Object.assign(call, { state: "answered", deadline: null });
    }
    const isNews = receipts.includes("accepted");
    s.calls = calls;
    const resumed = isNews && this.#settle(s);
    if (isNews || receipts.includes("duplicate"))
      return { isSilent, result: { receipts, resumed, ...this.#listOpen(s) } };
    return { isSilent, error: toUselessError(receipts, "result_conflict") };
  }

  decide(s: ModelSession, entries: readonly Decided[]): Expected {
    if (this.#hasUnfitArguments(s, entries)) return { isSilent: true, error: "invalid_request" };
    if (isEnd(s.status)) return FINISHED;
    const calls = structuredClone(s.calls);
    const accepted: [ModelCall, Decided][] = [];
    const receipts = entries.map((entry) => {
      const call = callAt(calls, entry.call);
      const decided = toDecided(entry);
      const receipt = judgeDecision(call, decided);
      if (!call || receipt !== "accepted") return receipt;
      decideCall(call, { decision: entry.decision, decided }, this.now);
      if (entry.args !== null) call.args = entry.args;
      accepted.push([call, entry]);
      return receipt;
    });
    const isSilent = accepted.length === 0;
    if (isSilent && !receipts.includes("duplicate"))
      return { isSilent, error: toUselessError(receipts, "approval_conflict") };
    s.calls = calls;
    for (const [{ tool }, entry] of accepted) if (entry.remember) s.remembered[tool] = entry.decision;
    // The last of several remembered decisions on a tool is the one that counts for its other calls.
    for (const [{ tool }, entry] of accepted.toReversed())
      if (entry.remember) this.#decideRest(s, tool, entry);
    const resumed = !isSilent && this.#settle(s);
    return { isSilent, result: { receipts, resumed, ...this.#listOpen(s) } };
  }

  progress(s: ModelSession, place: number): Expected {
    const error = this.#whyNotPending(s, place);
    const call = callAt(s.calls, place);
    if (error || !call) return { isSilent: true, error: error ?? "call_not_found" };
    Object.assign(call, toPending(call, this.now));
    return { result: call.deadline === null ? null : "a deadline" };
  }

  /** A claim changes who runs a call, and nothing else. */
  claimCall(s: ModelSession, claim: { call: number; claimant: string; leaseS: number }): Expected {
    const error = this.#whyNotPending(s, claim.call);
    const call = callAt(s.calls, claim.call);
    if (error || !call) return { isSilent: true, error: error ?? "call_not_found" };
    const isFree = call.claimedUntil === null || call.claimedUntil <= this.now;
    if (!isFree && call.claimant !== claim.claimant) return { isSilent: true, error: "call_claimed" };
    const isGivenBack = claim.leaseS === 0;
    const previous = call.claimant;
    call.claimant = isGivenBack ? null : claim.claimant;
    call.claimedUntil = isGivenBack ? null : this.now + claim.leaseS;
    return { result: { isHeld: !isGivenBack, previous } };
  }

  /** Between turns only; decisions stay remembered for tools that stay as they are. */
  replaceTools(s: ModelSession, tools: Toolset): Expected {
    if (s.calls.some(isOpen)) return { isSilent: true, error: "calls_pending" };
    for (const tool of Object.keys(s.remembered))
      if (findTool(s.tools, tool) !== findTool(tools, tool)) delete s.remembered[tool];
    s.tools = tools;
    return {};
  }

  /** What becomes of calls whose time is over; silent when there is none. */
  protected expireCalls(s: ModelSession): Expected {
    const over = s.calls.filter(
      (call) => isOpen(call) && call.deadline !== null && call.deadline <= this.now,
    );
    if (over.length === 0) return SILENT;
    const isFatal = over.some((call) => call.state === "pending" && call.isFatal);
    for (const call of over) {
      if (isFatal || call.state === "pending") Object.assign(call, { state: "timed_out", deadline: null });
      else decideCall(call, { decision: call.onNobody, decided: "nobody" }, this.now);
    }
    if (!isFatal) this.#settle(s);
    else {
      this.withdraw(s);
      this.failRun(s, "tool_timeout");
    }
    return {};
  }

  /** Some calls are settled or decided. True when the next step is due by it. */
  #settle(s: ModelSession): boolean {
    const next = this.toAwaited(s) ?? "running";
    this.moveActive(s, next);
    return next === "running" && s.status !== "paused";
  }

  #listOpen({ calls }: ModelSession) {
    return { pending: placesOf(calls, "pending"), approvals: placesOf(calls, "awaiting_approval") };
  }

  #decideRest(s: ModelSession, tool: string, entry: Decided): void {
    const decided = toDecided({ ...entry, args: null });
    for (const call of s.calls)
      if (call.tool === tool && call.state === "awaiting_approval")
        decideCall(call, { decision: entry.decision, decided }, this.now);
  }

  /** The first entry for a call counts. */
  #hasUnfitArguments(s: ModelSession, entries: readonly Decided[]): boolean {
    const seen = new Set<ModelCall>();
    return entries.some(({ call: place, args }) => {
      const call = callAt(s.calls, place);
      if (call?.state !== "awaiting_approval" || seen.has(call)) return false;
      seen.add(call);
      const tool = findTool(s.tools, call.tool);
      return args !== null && tool !== undefined && !fitsTool(tool, args);
    });
  }

  #whyNotPending(s: ModelSession, place: number): string | null {
    if (isEnd(s.status)) return "session_finished";
    const call = callAt(s.calls, place);
    if (!call) return "call_not_found";
    if (call.state === "awaiting_approval") return "approval_required";
    return call.state === "pending" ? null : "call_not_pending";
  }
}
