import {
  type AnswerOutcome,
  agentCompletion,
  answerEvent,
  metricsUpdate,
  type NewEvent,
  type StoredEvent,
  stateIdle,
} from "../domain/events.ts";
import { type JsonValue, parseJson, stringifyJson } from "../domain/json.ts";
import { addUsage, type ModelUsage, toMetrics } from "../domain/metrics.ts";
import type { EndReason, SessionErrorCode } from "../domain/session-end.ts";
import { mustMove } from "../domain/session-state.ts";
import type { ToolRequest } from "../domain/tools.ts";
import type { Engine } from "../engine.ts";
import type { KnownSession } from "../handover/known-sessions.ts";
import { toTranscript } from "../handover/step-news.ts";
import { lockClaimedSession } from "../postgres/lock-session.ts";
import type { ClaimedSessionRow, SessionRow } from "../postgres/session-row.ts";
import { inTransaction } from "../postgres/transaction.ts";
import {
  type SessionChange,
  type SessionUpdate,
  updateSession,
  updateUnchanged,
  type WrittenChange,
} from "../postgres/update-session.ts";
import { hasWaitingMessages } from "../postgres/waiting-messages.ts";
import { announceAndAdmit } from "./admit-sessions.ts";
import {
  GO_ON,
  NOT_STARTED,
  refuseCalls,
  toAsked,
  toNewCalls,
  withoutReplacedTools,
} from "./ask-for-calls.ts";
import type { ClaimedStep } from "./claim-step.ts";
import { toFailed, toTimedOut } from "./end-session.ts";
import { pauseAtBoundary } from "./pause-session.ts";
import { restartAfter } from "./restart.ts";

/** What follows from one reply of the model. */
export type StepOutcome =
  | { kind: "ask"; calls: ToolRequest[] }
  | { kind: "again"; corrections: number; nudges: number; uselessSteps: number }
  | { kind: "answer"; answer: JsonValue; outcome: AnswerOutcome | null; reason: EndReason }
  | { kind: "fail"; error: string; errorCode: SessionErrorCode; reason: EndReason };

/** A finished step, as the worker hands it in. */
export interface FinishedStep {
  sessionId: string;
  fence: number;
  /** The reply itself. */
  policy: NewEvent;
  usage: ModelUsage;
  outcome: StepOutcome;
  /** What the server answers to the model on its own: results of calls that nobody is asked to run, corrections. */
  replies: NewEvent[];
}

/**
 * Writes a step's effects, once: events, calls and state together, only while the fencing token is the current one. An
 * answer that did not see a waiting message is not final, and neither is a failure: the session goes on, or starts
 * again.
 *
 * @param claimed the step as it was claimed: unless something has changed since, one statement is enough
 * @returns false when the claim was lost; nothing was written
 */
export async function finishStep(
  engine: Engine,
  step: FinishedStep,
  claimed?: ClaimedStep,
): Promise<boolean> {
  const unchanged = claimed && (await finishUnchanged(engine, step, claimed));
  const change = unchanged ? unchanged.written.change : await finishLocked(engine, step, claimed?.session);
  if (!change) return false;
  await announceAndAdmit(engine, change);
  // Those who wait are on their way meanwhile.
  if (unchanged) remember(engine, claimed, unchanged);
  return true;
}

interface Unchanged {
  update: SessionUpdate;
  written: WrittenChange;
}

async function finishUnchanged(
  { pool }: Engine,
  step: FinishedStep,
  { session }: ClaimedStep,
): Promise<Unchanged | null> {
  const update = decide(session, step, { isStale: false });
  const written = await updateUnchanged(pool, session, { ...update, ifNoMessageWaits: true });
  return written && { update, written };
}

/** Results are what makes a step due that is given to a worker. */
function remember(
  { knownSessions }: Engine,
  { session, events }: ClaimedStep,
  { update, written }: Unchanged,
): void {
  if (!events || update.patch.status !== "awaiting_tool_results") return;
  knownSessions.remember(session.id, toKnownSession({ session, events }, update.events, written.version));
}

/** The session as it is after the step, with events as the database will give them. */
function toKnownSession(
  { session, events }: { session: ClaimedSessionRow; events: StoredEvent[] },
  appended: NewEvent[],
  version: string,
): KnownSession {
  const { agent, tools, maxSteps, repeatLimit, errorLimit, tokenBudget } = session;
  const transcript = parseJson(stringifyJson(toTranscript(session.nextIndex, appended)));
  return {
    terms: { agent, tools, maxSteps, repeatLimit, errorLimit, tokenBudget },
    version,
    events: [...events, ...(transcript as unknown as StoredEvent[])],
  };
}

async function finishLocked(
  engine: Engine,
  step: FinishedStep,
  claimed: ClaimedSessionRow | undefined,
): Promise<SessionChange | null> {
  return inTransaction(engine.pool, async (tx) => {
    const session = await lockClaimedSession(tx, step);
    if (!session) return null;
    const isStale = await hasWaitingMessages(tx, session.id);
    const current = claimed ? withoutReplacedTools(step, { claimed, session }) : step;
    return updateSession(tx, session, decide(session, current, { isStale }));
  });
}

/** @param options.isStale whether a message waits that the model has not seen */
function decide(
  session: ClaimedSessionRow,
  step: FinishedStep,
  options: { isStale: boolean },
): SessionUpdate {
  const { outcome, replies } = session.lastStep === null ? step : refuseCalls(step, NOT_STARTED, () => true);
  const isEnd = outcome.kind === "answer" || outcome.kind === "fail";
  const effect = isEnd && options.isStale ? toStaleEffect(session, outcome) : toEffect(session, outcome);
  const update = toUpdate(session, { ...step, replies }, effect);
  return pauseAtBoundary(session, { ...update, calls: toNewCalls(step.policy, update) });
}

/**
 * What a run comes to that did not see a waiting message. An answer is not final, so the session goes on. A failure
 * ends the run, and so does the answer of a last step: the message then starts the session again, with everything
 * counted anew.
 */
function toStaleEffect(session: ClaimedSessionRow, outcome: StepOutcome): SessionUpdate {
  if (outcome.kind === "fail") return restartAfter(toEffect(session, outcome));
  const isLast = session.lastStep !== null || (outcome.kind === "answer" && outcome.reason === "max_steps");
  if (outcome.kind !== "answer" || !isLast) return toEffect(session, GO_ON);
  return restartAfter(toAnsweredEnd(session, outcome));
}

/** What every step has: the reply, the count, the end of the claim. */
function toUpdate(
  session: SessionRow,
  step: Pick<FinishedStep, "policy" | "usage" | "replies">,
  effect: SessionUpdate,
): SessionUpdate {
  const steps = session.steps + 1;
  const usage = addUsage(session.usage, step.usage);
  const counted = {
    steps,
    usage,
    runSteps: session.runSteps + 1,
    runTokens: session.runTokens + step.usage.input_tokens + step.usage.output_tokens,
    modelFailures: 0,
  };
  const said = [step.policy, metricsUpdate(toMetrics(steps, usage))];
  // The state change comes before the server's own replies, the end after everything.
  const isEnd = effect.finished !== undefined;
  const tail = isEnd ? [...step.replies, ...effect.events] : [...effect.events, ...step.replies];
  return {
    ...effect,
    patch: { ...counted, ...effect.patch },
    events: [...said, ...tail],
    releaseLease: true,
  };
}

function toEffect(session: ClaimedSessionRow, outcome: StepOutcome): SessionUpdate {
  switch (outcome.kind) {
    case "ask":
      return toAsked(session, outcome.calls);
    case "again":
      return {
        patch: {
          status: mustMove(session, "step_goes_on"),
          corrections: outcome.corrections,
          nudges: outcome.nudges,
          uselessSteps: outcome.uselessSteps,
        },
        events: [],
        due: "now",
      };
    case "answer":
      return toAnswered(session, outcome);
    case "fail":
      return toFailed(session, outcome);
  }
}

/** An answer ends the session, or leaves it open for a message. */
function toAnswered(session: SessionRow, said: SaidAnswer): SessionUpdate {
  if (session.idleTimeoutMs === null || session.lastStep === "max_time") return toAnsweredEnd(session, said);
  return {
    patch: { ...toAnswerPatch(said), status: mustMove(session, "step_answered_open"), lastStep: null },
    events: [answerEvent(said.answer, said.outcome), stateIdle()],
    due: "not",
  };
}

/** An answer that ends the session. When its time is over, it has timed out with an answer. */
function toAnsweredEnd(session: SessionRow, said: SaidAnswer): SessionUpdate {
  const event = answerEvent(said.answer, said.outcome);
  if (session.lastStep === "max_time") {
    const end = toTimedOut(session, "The session's time is over; this is its last answer.");
    return { ...end, patch: { ...end.patch, ...toAnswerPatch(said) }, events: [event, ...end.events] };
  }
  const status = mustMove(session, "step_answered");
  return {
    patch: { ...toAnswerPatch(said), status, reason: said.reason },
    events: [event, agentCompletion("finished")],
    due: "not",
    finished: "now",
  };
}

type SaidAnswer = Extract<StepOutcome, { kind: "answer" }>;

function toAnswerPatch({ answer, outcome }: SaidAnswer): SessionUpdate["patch"] {
  return { answer, answerText: typeof answer === "string" ? answer : stringifyJson(answer), outcome };
}
