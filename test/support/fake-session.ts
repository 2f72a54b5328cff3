// The one session of a fake Tandem server: its events, its calls, its state.

export interface FakeCall {
  tool_name: string;
  args: Record<string, unknown>;
  id: string;
}

export interface FakeApproval extends FakeCall {
  reason: string;
  deadline: string | null;
}

/** A call of the model. */
export function fakeCall(toolName: string, args: Record<string, unknown> = {}, id = "call_1"): FakeCall {
  return { tool_name: toolName, args, id };
}

/** A call that waits for an approval, for ever unless said otherwise. */
export function fakeApproval(call: FakeCall, deadline: string | null = null): FakeApproval {
  return { ...call, reason: "tool", deadline };
}

/** Changes as a test says, and wakes those who read it. */
export class FakeSession {
  status = "pending";
  events: unknown[] = [];
  pending: FakeCall[] = [];
  approvals: FakeApproval[] = [];
  answerValue: unknown = null;
  error: string | null = null;
  /** Polls and streams that wait; `isOver` ends a poll that has nothing to tell. */
  readonly pollers = new Set<(news: { isOver: boolean }) => void>();

  get isTerminal(): boolean {
    return ["completed", "interrupted", "failed"].includes(this.status);
  }

  append(...events: { type: string; data: unknown }[]): void {
    for (const event of events) this.events.push({ timestamp: new Date().toISOString(), ...event });
    this.wake({ isOver: false });
  }

  wake(news: { isOver: boolean }): void {
    for (const poller of this.pollers) poller(news);
  }

  call(calls: FakeCall[]): void {
    this.status = "awaiting_tool_results";
    this.pending = calls;
    this.append({
      type: "ActiveStateChangeEvent",
      data: { state: "awaiting_tool_results", pending_tool_calls: calls },
    });
  }

  /** Calls wait for an approval. */
  askFor(approvals: FakeApproval[]): void {
    this.approvals = approvals;
    this.status = this.pending.length > 0 ? "awaiting_tool_results" : "awaiting_approval";
    this.append({
      type: "ActiveStateChangeEvent",
      data: {
        state: this.status,
        pending_tool_calls: this.pending.length > 0 ? this.pending : null,
        pending_approvals: approvals,
      },
    });
  }

  /** Somebody decides. */
  decide(callId: string, decision: string): void {
    const approval = this.approvals.find(({ id }) => id === callId);
    if (!approval) return;
    const { deadline: _, reason: __, ...call } = approval;
    if (decision === "allow") this.pending = [...this.pending, call];
    const approvals = this.approvals.filter(({ id }) => id !== callId);
    this.append({
      type: "ToolApprovalEvent",
      data: { tool_req: call, decision, message: null, remember: false, edited: false, decided_by: "key" },
    });
    this.askFor(approvals);
  }

  answer(answer: unknown): void {
    this.status = "completed";
    this.answerValue = answer;
    this.append(
      { type: "AgentEvent", data: { kind: "answer_event", answer, outcome: "success" } },
      { type: "AgentCompletionEvent", data: { reason: "finished" } },
    );
  }

  cancel(): void {
    const cancelled = this.pending.map((tool_req) => ({
      type: "ToolCallCancelledEvent",
      data: { tool_req, reason: "cancelled" },
    }));
    this.status = "interrupted";
    this.pending = [];
    this.append(...cancelled, { type: "AgentCompletionEvent", data: { reason: "stopped" } });
  }

  fail(error: string): void {
    this.status = "failed";
    this.error = error;
    this.append({ type: "AgentErrorEvent", data: { error } });
  }

  message(): void {
    this.status = "running";
    this.answerValue = null;
    this.append({ type: "ActiveStateChangeEvent", data: { state: "running", pending_tool_calls: null } });
  }

  changes(fromIndex: number, { withEvents, pageSize }: { withEvents: boolean; pageSize: number }) {
    const news = withEvents ? this.events.slice(fromIndex, fromIndex + pageSize) : [];
    return {
      status: this.status,
      started_at: null,
      finished_at: null,
      error: this.error,
      error_code: this.error === null ? null : "internal",
      outcome: this.answerValue === null ? null : "success",
      reason: this.answerValue === null ? null : "answered",
      answer: this.answerValue,
      new_events: news,
      next_index: fromIndex + news.length,
      has_more: withEvents && this.events.length > fromIndex + news.length,
      metrics: {
        steps: 2,
        cost_per_model: [
          { name: "demo/keyword", input_tokens: 10, output_tokens: 5, reasoning_tokens: 1 },
          { name: "demo/other", input_tokens: 1, output_tokens: 1, reasoning_tokens: 0 },
        ],
      },
    };
  }

  settle(ids: string[]): { receipts: unknown[]; pending: string[]; resumed: boolean } {
    const known = new Set(this.pending.map(({ id }) => id));
    this.pending = this.pending.filter(({ id }) => !ids.includes(id));
    const receipts = ids.map((id) => ({ id, status: known.has(id) ? "accepted" : "duplicate" }));
    const resumed = this.pending.length === 0 && known.size > 0;
    if (resumed) this.status = "running";
    else if (known.size > 0) this.call(this.pending);
    return { receipts, pending: this.pending.map(({ id }) => id), resumed };
  }
}
