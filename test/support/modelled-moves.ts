// How a session of the model gets from one state to the next, whatever made it.
import {
  type End,
  isEnd,
  isOpen,
  type Live,
  type ModelSession,
  type ModelStatus,
  type SessionOptions,
} from "./modelled-session.ts";

const TIMED = ["running", "awaiting_tool_results", "awaiting_approval"];

/** All sessions of an organization, their clock, and their moves. */
export class SessionMoves {
  now = 0;
  sessions: ModelSession[] = [];
  readonly limit: number;
  #places = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Gives free slots to those that have waited longest. */
  admit(): void {
    for (;;) {
      const queued = this.sessions.filter((s) => s.status === "queued");
      const [next] = queued.sort((a, b) => (a.queuedAt ?? 0) - (b.queuedAt ?? 0));
      if (!next || this.isFull()) return;
      this.enter(next, "pending");
    }
  }

  isLeased(s: ModelSession): boolean {
    return s.holder !== null && s.leaseUntil > this.now;
  }

  protected copyInto(copy: SessionMoves): void {
    copy.now = this.now;
    copy.sessions = structuredClone(this.sessions);
    copy.#places = this.#places;
  }

  protected isFull(): boolean {
    const active = this.sessions.filter((s) => !isEnd(s.status) && (s.under ?? s.status) !== "queued");
    return this.limit > 0 && active.length >= this.limit;
  }

  protected refusesForSlot({ queue }: SessionOptions): boolean {
    return this.isFull() && !queue;
  }

  /** Whoever holds the step may write no more. */
  protected release(s: ModelSession): void {
    Object.assign(s, { holder: null, tries: 0 });
  }

  /** Clocks and the due step follow from the state. */
  protected enter(s: ModelSession, status: ModelStatus): void {
    const isTimed = TIMED.includes(status);
    if (isTimed && s.left !== null) s.limitAt ??= this.now + s.left;
    if (!isTimed && s.limitAt !== null) {
      s.left = Math.max(0, s.limitAt - this.now);
      s.limitAt = null;
    }
    s.idleUntil = status === "idle" && s.options.idle !== null ? this.now + s.options.idle : null;
    s.dueAt = status === "pending" || status === "running" ? this.now : null;
    if (status === "queued") s.queuedAt ??= this.#places++;
    else if (status !== "paused") s.queuedAt = null;
    s.status = status;
  }

  protected moveActive(s: ModelSession, next: Live): void {
    if (s.status === "paused") s.under = next;
    else this.enter(s, next);
  }

  protected pauseNow(s: ModelSession, under: Live): void {
    Object.assign(s, { under, pauseRequested: false, heldDueAt: null });
    this.release(s);
    this.enter(s, "paused");
  }

  protected atBoundary(s: ModelSession, next: Live): void {
    if (s.pauseRequested) this.pauseNow(s, next);
    else this.enter(s, next);
  }

  protected goOn(s: ModelSession): void {
    Object.assign(s, { nudges: 0, useless: 0 });
    this.atBoundary(s, "running");
  }

  protected again(s: ModelSession, count: "nudges" | "useless", most: number, reason: string): void {
    if (s[count] >= most) this.failRun(s, reason);
    else {
      s[count]++;
      this.atBoundary(s, "running");
    }
  }

  /** What the session waits for because of its calls; nothing when none is open. */
  protected toAwaited(s: ModelSession): "awaiting_tool_results" | "awaiting_approval" | null {
    if (s.calls.some(({ state }) => state === "pending")) return "awaiting_tool_results";
    return s.calls.some(isOpen) ? "awaiting_approval" : null;
  }

  /**
   * An answer that did not see a message is not final; that of a last step ends the run, and the message starts
   * another.
   */
  protected answer(s: ModelSession, reason: string): void {
    const isLast = s.lastStep !== null || reason === "max_steps";
    if (s.lastStep === "max_time" || (s.waiting > 0 && isLast)) this.failRun(s, "max_time");
    else if (s.waiting > 0) this.goOn(s);
    else if (s.options.idle === null) this.end(s, "completed", reason);
    else {
      s.lastStep = null;
      this.atBoundary(s, "idle");
    }
  }

  /** Nor is a failure. What is paused stays so, whatever becomes of it. */
  protected failRun(s: ModelSession, reason: string): void {
    const isTimeOver = s.lastStep === "max_time";
    if (s.waiting > 0) {
      s.pauseRequested ||= s.status === "paused";
      this.restart(s, "pending");
      this.atBoundary(s, "pending");
    } else if (isTimeOver) this.end(s, "timed_out", "max_time");
    else this.end(s, "failed", reason);
  }

  protected restart(s: ModelSession, status: "pending" | "queued"): void {
    Object.assign(s, {
      ...{ lastStep: null, runSteps: 0, nudges: 0, useless: 0, limitAt: null },
      left: s.options.maxTime,
    });
    this.enter(s, status);
  }

  protected end(s: ModelSession, status: End, reason: string): void {
    Object.assign(s, { under: null, pauseRequested: false, lastStep: null, reason });
    this.release(s);
    this.enter(s, status);
    this.admit();
  }

  protected withdraw(s: ModelSession): void {
    for (const call of s.calls.filter(isOpen)) Object.assign(call, { state: "withdrawn", deadline: null });
  }
}
