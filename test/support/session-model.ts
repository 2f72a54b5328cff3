// How sessions behave, in the words of the design's table and without any of the engine's code: what a test compares
// the engine with. Times are in seconds on a clock of its own.

type Live = "queued" | "pending" | "running" | "awaiting_tool_results" | "idle";
type End = "completed" | "failed" | "timed_out" | "interrupted";
export type ModelStatus = Live | "paused" | End;

export interface ModelCall {
  tool: string;
  args: string;
  state: "pending" | "answered" | "withdrawn";
  /** What was posted for it, the first time. */
  value: string | null;
}

export interface ModelSession {
  status: ModelStatus;
  under: Live | null;
  pauseRequested: boolean;
  lastStep: "force_answer" | "max_time" | null;
  /** Which of its claims, by number, may still write. */
  holder: number | null;
  claims: number;
  leaseUntil: number;
  /** Why the claimed step is the last one, as its worker knows it. */
  toldLast: string | null;
  dueAt: number | null;
  /** When the step is due that a pause holds up. */
  heldDueAt: number | null;
  queuedAt: number | null;
  idleUntil: number | null;
  limitAt: number | null;
  left: number | null;
  reason: string | null;
  calls: ModelCall[];
  waiting: number;
  runSteps: number;
  nudges: number;
  useless: number;
  options: SessionOptions;
}

export interface SessionOptions {
  idle: number | null;
  maxTime: number | null;
  maxSteps: number | null;
  queue: boolean;
}

/** Calls come with a word beside them. */
export type ModelReply = { calls: { tool: string; args: string }[] } | "answer" | "silence" | "nonsense";

/** A posted result: which call by its place, or by name and arguments alone. */
export interface Posted {
  call: number | null;
  by: "id" | "arguments";
  isMisnamed: boolean;
  value: string;
}

/** What a command must come to. `isSilent`: nothing is written. */
export interface Expected {
  error?: string;
  isSilent?: boolean;
  result?: unknown;
}

const SILENT: Expected = { isSilent: true };
const FINISHED: Expected = { isSilent: true, error: "session_finished" };
const LAST_STEP_S = 30;
const isEnd = (status: ModelStatus) => ["completed", "failed", "timed_out", "interrupted"].includes(status);

export class SessionModel {
  now = 0;
  sessions: ModelSession[] = [];
  #places = 0;
  readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** The same once more, to see what would come of something else. */
  clone(): SessionModel {
    const copy = new SessionModel(this.limit);
    copy.now = this.now;
    copy.sessions = structuredClone(this.sessions);
    copy.#places = this.#places;
    return copy;
  }

  create(options: SessionOptions): Expected {
    const isFull = this.#isFull();
    if (isFull && !options.queue) return { isSilent: true, error: "session_limit" };
    const session: ModelSession = {
      ...{ status: "pending", under: null, pauseRequested: false, lastStep: null, holder: null, claims: 0 },
      ...{
        leaseUntil: 0,
        toldLast: null,
        dueAt: null,
        heldDueAt: null,
        queuedAt: null,
        idleUntil: null,
        limitAt: null,
      },
      ...{
        left: options.maxTime,
        reason: null,
        calls: [],
        waiting: 1,
        runSteps: 0,
        nudges: 0,
        useless: 0,
        options,
      },
    };
    this.sessions.push(session);
    this.#enter(session, isFull ? "queued" : "pending");
    return {};
  }

  claim(s: ModelSession, leaseS: number): Expected {
    const isDue = s.dueAt !== null && s.dueAt <= this.now && !this.isLeased(s);
    if (!isDue) return { ...SILENT, result: false };
    s.holder = null;
    if (s.pauseRequested) {
      this.#pauseNow(s, s.status as Live);
      return { result: false };
    }
    if (s.limitAt !== null && s.limitAt <= this.now) {
      this.expire(s);
      return { result: false };
    }
    s.holder = s.claims++;
    s.leaseUntil = this.now + leaseS;
    s.waiting = 0;
    const isSpent = s.options.maxSteps !== null && s.runSteps >= s.options.maxSteps;
    s.toldLast = s.lastStep ?? (isSpent ? "max_steps" : null);
    const dueAt = s.dueAt;
    if (s.status === "pending") this.#enter(s, "running");
    s.dueAt = dueAt;
    return { result: true };
  }

  finish(s: ModelSession, holder: number, reply: ModelReply): Expected {
    if (s.holder !== holder) return { ...SILENT, result: false };
    s.holder = null;
    s.runSteps++;
    const told = s.toldLast;
    const stepsOver = told === "max_steps" ? "max_steps" : null;
    // What is said beside calls counts as the answer where no calls can be made.
    const isAnswer = reply === "answer" || (told !== null && typeof reply === "object");
    if (isAnswer) this.#answer(s, stepsOver ?? "answered");
    else if (told !== null) this.#fail(s, stepsOver ?? "no_answer");
    else if (reply === "silence") this.#again(s, "nudges", 2, "no_answer");
    else if (reply === "nonsense") this.#again(s, "useless", 10, "error_limit");
    else if (s.lastStep !== null) this.#goOn(s);
    else if (typeof reply === "object") {
      Object.assign(s, { nudges: 0, useless: 0 });
      s.calls.push(...reply.calls.map((call) => ({ ...call, state: "pending" as const, value: null })));
      this.#atBoundary(s, "awaiting_tool_results");
    }
    return { result: true };
  }

  fail(s: ModelSession, holder: number, retryInS: number | null): Expected {
    if (s.holder !== holder) return { ...SILENT, result: false };
    s.holder = null;
    if (retryInS === null) this.#fail(s, "provider_refused");
    else {
      this.#atBoundary(s, "running");
      if (s.under === null) s.dueAt = this.now + retryInS;
      else s.heldDueAt = this.now + retryInS;
    }
    return { result: true };
  }

  giveBack(s: ModelSession, holder: number): Expected {
    if (s.holder !== holder) return SILENT;
    s.holder = null;
    return {};
  }

  renew(s: ModelSession, holder: number, leaseS: number): Expected {
    if (s.holder !== holder) return { ...SILENT, result: false };
    s.leaseUntil = this.now + leaseS;
    return { result: true };
  }

  post(s: ModelSession, entries: readonly Posted[]): Expected {
    if (isEnd(s.status)) return FINISHED;
    const calls = structuredClone(s.calls);
    let isSilent = true;
    const receipts: string[] = [];
    for (const entry of entries) {
      const call = findCall(calls, entry);
      if (call === "fault") return { isSilent: true, error: "invalid_request" };
      receipts.push(judge(call, entry.value));
      if (call && call.value === null) isSilent = false;
      if (call?.state === "pending") call.state = "answered";
      if (call) call.value ??= entry.value;
    }
    const isNews = receipts.includes("accepted");
    s.calls = calls;
    const isLast = isNews && !calls.some((call) => call.state === "pending");
    if (isLast) this.#moveActive(s, "running");
    const resumed = isLast && s.status !== "paused";
    if (isNews || receipts.includes("duplicate")) return { isSilent, result: { receipts, resumed } };
    return { isSilent, error: receipts.every((r) => r === "unknown") ? "calls_unknown" : "result_conflict" };
  }

  message(s: ModelSession): Expected {
    if (isEnd(s.status)) {
      const isFull = this.#isFull();
      if (isFull && !s.options.queue) return { isSilent: true, error: "session_limit" };
      s.reason = null;
      this.#restart(s, isFull ? "queued" : "pending");
    } else {
      this.resume(s);
      if (s.status === "idle") {
        Object.assign(s, { nudges: 0, useless: 0 });
        this.#enter(s, "running");
      }
    }
    s.waiting++;
    return {};
  }

  pause(s: ModelSession): Expected {
    if (isEnd(s.status)) return FINISHED;
    if (s.under !== null || (s.pauseRequested && this.isLeased(s))) return SILENT;
    if (this.isLeased(s)) s.pauseRequested = true;
    else {
      const { dueAt } = s;
      this.#pauseNow(s, s.status as Live);
      s.heldDueAt = dueAt;
    }
    return {};
  }

  resume(s: ModelSession): Expected {
    if (isEnd(s.status)) return FINISHED;
    if (s.under === null && !s.pauseRequested) return SILENT;
    s.pauseRequested = false;
    const { under, heldDueAt } = s;
    Object.assign(s, { under: null, heldDueAt: null });
    if (under !== null) this.#enter(s, under);
    if (s.dueAt !== null) s.dueAt = Math.max(s.dueAt, heldDueAt ?? 0);
    this.admit();
    return {};
  }

  forceAnswer(s: ModelSession): Expected {
    if (isEnd(s.status)) return FINISHED;
    const active = s.under ?? s.status;
    if (active === "idle" || s.lastStep !== null) return SILENT;
    s.lastStep = "force_answer";
    this.#withdraw(s);
    if (active === "awaiting_tool_results") this.#moveActive(s, "running");
    return {};
  }

  cancel(s: ModelSession): Expected {
    if (isEnd(s.status)) return SILENT;
    this.#withdraw(s);
    s.waiting = 0;
    this.#end(s, "interrupted", "cancelled");
    return {};
  }

  expire(s: ModelSession): Expected {
    const isIdleOver = s.idleUntil !== null && s.idleUntil <= this.now;
    const isTimeOver = s.limitAt !== null && s.limitAt <= this.now;
    if (!isIdleOver && !isTimeOver) return SILENT;
    s.holder = null;
    if (isIdleOver) this.#end(s, "completed", "idle_timeout");
    else if (s.lastStep !== "max_time") {
      this.#withdraw(s);
      s.lastStep = "max_time";
      this.#atBoundary(s, "running");
      if (s.under === null) s.limitAt = this.now + LAST_STEP_S;
      else s.left = LAST_STEP_S;
    } else if (s.waiting > 0) {
      this.#restart(s, "pending");
      this.#atBoundary(s, "pending");
    } else this.#end(s, "timed_out", "max_time");
    return {};
  }

  /** Gives free slots to those that have waited longest. */
  admit(): void {
    for (;;) {
      const queued = this.sessions.filter((s) => s.status === "queued");
      const [next] = queued.sort((a, b) => (a.queuedAt ?? 0) - (b.queuedAt ?? 0));
      if (!next || this.#isFull()) return;
      this.#enter(next, "pending");
    }
  }

  isLeased(s: ModelSession): boolean {
    return s.holder !== null && s.leaseUntil > this.now;
  }

  waitsOn(s: ModelSession): string | null {
    if (isEnd(s.status)) return null;
    if (s.status === "pending" || s.status === "running") {
      if (this.isLeased(s)) return "model";
      return (s.dueAt ?? 0) > this.now ? "model_retry" : "worker";
    }
    return { queued: "slot", paused: "resume", idle: "message", awaiting_tool_results: "tool_results" }[
      s.status as "queued" | "paused" | "idle" | "awaiting_tool_results"
    ];
  }

  #isFull(): boolean {
    const active = this.sessions.filter((s) => !isEnd(s.status) && (s.under ?? s.status) !== "queued");
    return this.limit > 0 && active.length >= this.limit;
  }

  /** Clocks and the due step follow from the state. */
  #enter(s: ModelSession, status: ModelStatus): void {
    const isTimed = status === "running" || status === "awaiting_tool_results";
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

  #moveActive(s: ModelSession, next: Live): void {
    if (s.status === "paused") s.under = next;
    else this.#enter(s, next);
  }

  #pauseNow(s: ModelSession, under: Live): void {
    Object.assign(s, { under, pauseRequested: false, holder: null, heldDueAt: null });
    this.#enter(s, "paused");
  }

  #atBoundary(s: ModelSession, next: Live): void {
    if (s.pauseRequested) this.#pauseNow(s, next);
    else this.#enter(s, next);
  }

  #goOn(s: ModelSession): void {
    Object.assign(s, { nudges: 0, useless: 0 });
    this.#atBoundary(s, "running");
  }

  #again(s: ModelSession, count: "nudges" | "useless", most: number, reason: string): void {
    if (s[count] >= most) this.#fail(s, reason);
    else {
      s[count]++;
      this.#atBoundary(s, "running");
    }
  }

  /**
   * An answer that did not see a message is not final; that of a last step ends the run, and the message starts
   * another.
   */
  #answer(s: ModelSession, reason: string): void {
    const isLast = s.lastStep !== null || reason === "max_steps";
    if (s.lastStep === "max_time" || (s.waiting > 0 && isLast)) this.#fail(s, "max_time");
    else if (s.waiting > 0) this.#goOn(s);
    else if (s.options.idle === null) this.#end(s, "completed", reason);
    else {
      s.lastStep = null;
      this.#atBoundary(s, "idle");
    }
  }

  /** Nor is a failure. */
  #fail(s: ModelSession, reason: string): void {
    const isTimeOver = s.lastStep === "max_time";
    if (s.waiting > 0) {
      this.#restart(s, "pending");
      this.#atBoundary(s, "pending");
    } else if (isTimeOver) this.#end(s, "timed_out", "max_time");
    else this.#end(s, "failed", reason);
  }

  #restart(s: ModelSession, status: "pending" | "queued"): void {
    Object.assign(s, {
      lastStep: null,
      runSteps: 0,
      nudges: 0,
      useless: 0,
      limitAt: null,
      left: s.options.maxTime,
    });
    this.#enter(s, status);
  }

  #end(s: ModelSession, status: End, reason: string): void {
    Object.assign(s, { under: null, pauseRequested: false, lastStep: null, holder: null, reason });
    this.#enter(s, status);
    this.admit();
  }

  #withdraw(s: ModelSession): void {
    for (const call of s.calls) if (call.state === "pending") call.state = "withdrawn";
  }
}

function judge(call: ModelCall | null, value: string): string {
  if (!call) return "unknown";
  if (call.state === "pending") return "accepted";
  if (call.state === "withdrawn") return "late";
  return call.value === value ? "duplicate" : "conflict";
}

function findCall(
  calls: ModelCall[],
  { call: place, by, isMisnamed, value }: Posted,
): ModelCall | null | "fault" {
  const named = place === null ? undefined : calls[place % Math.max(calls.length, 1)];
  if (!named) return null;
  if (by === "id") return isMisnamed ? "fault" : named;
  if (isMisnamed) return null;
  const fitting = calls.filter((call) => call.tool === named.tool && call.args === named.args);
  const pending = fitting.filter((call) => call.state === "pending");
  if (pending.length > 1) return "fault";
  return pending[0] ?? fitting.find((call) => call.value === value) ?? fitting.at(-1) ?? null;
}
