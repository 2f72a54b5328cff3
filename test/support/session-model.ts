// How sessions behave, in the words of the design's table and without any of the engine's code: what a test compares
// the engine with. Times are in seconds on a clock of its own.
import { CallMoves } from "./modelled-call-moves.ts";
import { findFit, findSame, toAskedCall } from "./modelled-calls.ts";
import {
  type Expected,
  FINISHED,
  isEnd,
  type Live,
  type ModelReply,
  type ModelSession,
  newSession,
  type Posted,
  type SessionOptions,
  SILENT,
} from "./modelled-session.ts";

const LAST_STEP_S = 30;
/** How often a step is claimed that nobody finishes. */
const MOST_TRIES = 20;

export class SessionModel extends CallMoves {
  /** The same once more, to see what would come of something else. */
  clone(): SessionModel {
    const copy = new SessionModel(this.limit);
    this.copyInto(copy);
    return copy;
  }

  create(options: SessionOptions): Expected {
    if (this.refusesForSlot(options)) return { isSilent: true, error: "session_limit" };
    const isFull = this.isFull();
    const session = newSession(options);
    this.sessions.push(session);
    this.enter(session, isFull ? "queued" : "pending");
    return {};
  }

  claim(s: ModelSession, leaseS: number): Expected {
    const isDue = s.dueAt !== null && s.dueAt <= this.now && !this.isLeased(s);
    if (!isDue) return { ...SILENT, result: false };
    s.holder = null;
    if (++s.tries > MOST_TRIES) {
      this.release(s);
      this.failRun(s, "internal");
      return { result: false };
    }
    if (s.pauseRequested) {
      this.pauseNow(s, s.status as Live);
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
    s.toldTools = s.tools;
    const dueAt = s.dueAt;
    if (s.status === "pending") this.enter(s, "running");
    s.dueAt = dueAt;
    return { result: true };
  }

  /** The same as a post, and a claim at once where nothing else is to be done at that boundary. */
  postAndGive(s: ModelSession, entries: readonly Posted[], leaseS: number): Expected {
    const posted = this.post(s, entries);
    const isOver = s.limitAt !== null && s.limitAt <= this.now;
    const isGiven = isResumed(posted) && s.waiting === 0 && !isOver;
    if (isGiven) this.claim(s, leaseS);
    return posted.error ? posted : { ...posted, result: { ...(posted.result as object), isGiven } };
  }

  finish(s: ModelSession, holder: number, reply: ModelReply): Expected {
    if (s.holder !== holder) return { ...SILENT, result: false };
    this.release(s);
    s.runSteps++;
    const told = s.toldLast;
    const stepsOver = told === "max_steps" ? "max_steps" : null;
    const fit = typeof reply === "object" ? findFit(reply.calls, s) : [];
    // What is said beside calls counts as the answer where no calls can be made.
    const isAnswer = reply === "answer" || (told !== null && typeof reply === "object");
    if (isAnswer) this.answer(s, stepsOver ?? "answered");
    else if (told !== null) this.failRun(s, stepsOver ?? "no_answer");
    else if (reply === "silence") this.again(s, "nudges", 2, "no_answer");
    else if (fit.length === 0) this.again(s, "useless", 10, "error_limit");
    else if (s.lastStep !== null) this.goOn(s);
    else {
      s.calls.push(...findSame(fit, s).map((call) => toAskedCall(call, s, this.now)));
      const awaited = this.toAwaited(s);
      if (awaited === null) this.goOn(s);
      else {
        Object.assign(s, { nudges: 0, useless: 0 });
        this.atBoundary(s, awaited);
      }
    }
    return { result: true };
  }

  fail(s: ModelSession, holder: number, retryInS: number | null): Expected {
    if (s.holder !== holder) return { ...SILENT, result: false };
    this.release(s);
    if (retryInS === null) this.failRun(s, "provider_refused");
    else {
      this.atBoundary(s, "running");
      if (s.under === null) s.dueAt = this.now + retryInS;
      else s.heldDueAt = this.now + retryInS;
    }
    return { result: true };
  }

  giveBack(s: ModelSession, holder: number): Expected {
    if (s.holder !== holder) return SILENT;
    s.holder = null;
    s.tries--;
    return {};
  }

  renew(s: ModelSession, holder: number, leaseS: number): Expected {
    if (s.holder !== holder) return { ...SILENT, result: false };
    s.leaseUntil = this.now + leaseS;
    return { result: true };
  }

  message(s: ModelSession): Expected {
    if (isEnd(s.status)) {
      if (this.refusesForSlot(s.options)) return { isSilent: true, error: "session_limit" };
      const isFull = this.isFull();
      s.reason = null;
      this.restart(s, isFull ? "queued" : "pending");
    } else {
      this.resume(s);
      if (s.status === "idle") {
        Object.assign(s, { nudges: 0, useless: 0 });
        this.enter(s, "running");
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
      this.pauseNow(s, s.status as Live);
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
    if (under !== null) this.enter(s, under);
    if (s.dueAt !== null) s.dueAt = Math.max(s.dueAt, heldDueAt ?? 0);
    this.admit();
    return {};
  }

  forceAnswer(s: ModelSession): Expected {
    if (isEnd(s.status)) return FINISHED;
    const active = s.under ?? s.status;
    if (active === "idle" || s.lastStep !== null) return SILENT;
    s.lastStep = "force_answer";
    const wasAwaited = this.toAwaited(s) !== null;
    this.withdraw(s);
    if (wasAwaited) this.moveActive(s, "running");
    return {};
  }

  cancel(s: ModelSession): Expected {
    if (isEnd(s.status)) return SILENT;
    this.withdraw(s);
    s.waiting = 0;
    this.end(s, "interrupted", "cancelled");
    return {};
  }

  expire(s: ModelSession): Expected {
    const isIdleOver = s.idleUntil !== null && s.idleUntil <= this.now;
    const isTimeOver = s.limitAt !== null && s.limitAt <= this.now;
    if (!isIdleOver && !isTimeOver) return this.expireCalls(s);
    this.release(s);
    if (isIdleOver) this.end(s, "completed", "idle_timeout");
    else if (s.lastStep !== "max_time") {
      this.withdraw(s);
      s.lastStep = "max_time";
      this.atBoundary(s, "running");
      if (s.under === null) s.limitAt = this.now + LAST_STEP_S;
      else s.left = LAST_STEP_S;
    } else if (s.waiting > 0) {
      this.restart(s, "pending");
      this.atBoundary(s, "pending");
    } else this.end(s, "timed_out", "max_time");
    return {};
  }

  waitsOn(s: ModelSession): string | null {
    if (isEnd(s.status)) return null;
    if (s.status === "pending" || s.status === "running") {
      if (this.isLeased(s)) return "model";
      return (s.dueAt ?? 0) > this.now ? "model_retry" : "worker";
    }
    return WAITS[s.status as keyof typeof WAITS];
  }
}

function isResumed({ result }: Expected): boolean {
  return typeof result === "object" && result !== null && "resumed" in result && result.resumed === true;
}

const WAITS = {
  ...{ queued: "slot", paused: "resume", idle: "message" },
  ...{ awaiting_tool_results: "tool_results", awaiting_approval: "approval" },
};
