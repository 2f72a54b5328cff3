import {
  type AnswerOutcome,
  agentCompletion,
  agentError,
  answerEvent,
  metricsUpdate,
  type NewEvent,
  stateAwaitingToolResults,
} from "../domain/events.ts";
import { type JsonValue, stringifyJson } from "../domain/json.ts";
import { addUsage, type ModelUsage, toMetrics } from "../domain/metrics.ts";
import { type EndReason, mustMove, type SessionErrorCode } from "../domain/session-state.ts";
import type { ToolRequest } from "../domain/tools.ts";
import { announce, type Engine } from "../engine.ts";
import { lockClaimedSession } from "../postgres/lock-session.ts";
import type { SessionRow } from "../postgres/session-row.ts";
import { insertToolCalls } from "../postgres/tool-calls.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { type SessionUpdate, updateSession } from "../postgres/update-session.ts";
import { hasWaitingMessages } from "../postgres/waiting-messages.ts";
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
 * Writes a step's effects, once: events, calls and state in one transaction, only while the fencing token is the
 * current one. An answer that did not see a waiting message is not final, and neither is a failure: the session goes
 * on, or starts again.
 *
 * @returns false when the claim was lost; nothing was written
 */
export async function finishStep(engine: Engine, step: FinishedStep): Promise<boolean> {
  const due = await inTransaction(engine.pool, async (tx) => {
    const session = await lockClaimedSession(tx, step);
    if (!session) return null;
    const isEnd = step.outcome.kind === "answer" || step.outcome.kind === "fail";
    const isStale = isEnd && (await hasWaitingMessages(tx, session.id));
    const outcome = isStale && step.outcome.kind === "answer" ? GO_ON : step.outcome;
    if (outcome.kind === "ask") await insertToolCalls(tx, session.id, session.steps, outcome.calls);
    const planned = toUpdate(session, { ...step, outcome });
    const update = isStale && outcome.kind === "fail" ? restartAfter(planned) : planned;
    await updateSession(tx, session, update);
    return { fence: session.fence + 1, isDue: update.due === "now" };
  });
  if (!due) return false;
  await announce(engine, step.sessionId, due.isDue ? { fence: due.fence } : undefined);
  return true;
}

const GO_ON: StepOutcome = { kind: "again", corrections: 0, nudges: 0, uselessSteps: 0 };

function toUpdate(session: SessionRow, step: FinishedStep): SessionUpdate {
  const steps = session.steps + 1;
  const usage = addUsage(session.usage, step.usage);
  const counted = { steps, usage, runSteps: session.runSteps + 1, modelFailures: 0 };
  const events = [step.policy, metricsUpdate(toMetrics(steps, usage))];
  const { patch, stateEvents, due } = toEffect(session, step.outcome);
  const isEnd = patch.status === "completed" || patch.status === "failed";
  // The state change comes before the server's own replies, the end after everything.
  const tail = isEnd ? [...step.replies, ...stateEvents] : [...stateEvents, ...step.replies];
  return {
    patch: { ...counted, ...patch },
    events: [...events, ...tail],
    due,
    releaseLease: true,
    ...(isEnd ? { finished: "now" } : {}),
  };
}

type Effect = Pick<SessionUpdate, "patch" | "due"> & { stateEvents: NewEvent[] };

function toEffect(session: SessionRow, outcome: StepOutcome): Effect {
  switch (outcome.kind) {
    case "ask":
      return {
        patch: {
          status: mustMove(session.status, "step_asked_for_tools"),
          corrections: 0,
          nudges: 0,
          uselessSteps: 0,
        },
        stateEvents: [stateAwaitingToolResults(outcome.calls)],
        due: "not",
      };
    case "again":
      return {
        patch: {
          status: mustMove(session.status, "step_goes_on"),
          corrections: outcome.corrections,
          nudges: outcome.nudges,
          uselessSteps: outcome.uselessSteps,
        },
        stateEvents: [],
        due: "now",
      };
    case "answer":
      return {
        patch: {
          status: mustMove(session.status, "step_answered"),
          answer: outcome.answer,
          answerText: typeof outcome.answer === "string" ? outcome.answer : stringifyJson(outcome.answer),
          outcome: outcome.outcome,
          reason: outcome.reason,
        },
        stateEvents: [answerEvent(outcome.answer, outcome.outcome), agentCompletion("finished")],
        due: "not",
      };
    case "fail":
      return toFailure(session, outcome);
  }
}

/** The effect of a failure that ends the session. */
export function toFailure(
  session: SessionRow,
  failure: { error: string; errorCode: SessionErrorCode; reason: EndReason },
): Effect {
  const { error, errorCode, reason } = failure;
  return {
    patch: { status: mustMove(session.status, "step_failed"), error, errorCode, reason },
    stateEvents: [agentError(error, { error_code: errorCode, reason })],
    due: "not",
  };
}
