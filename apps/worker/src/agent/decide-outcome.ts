// What follows from a model's reply. Pure: the same reply in the same situation always has the same outcome.
import type { FinishedStep, StepOutcome } from "@tandem/engine/commands/finish-step";
import { errorEvent, type NewEvent, policyEvent } from "@tandem/engine/domain/events";
import {
  isJsonObject,
  JSON_BOUNDS,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "@tandem/engine/domain/json";
import { createValueChecker, findValueFaults } from "@tandem/engine/domain/json-schema";
import type { Settled } from "@tandem/engine/domain/tool-history";
import { SUBMIT_ANSWER } from "@tandem/engine/domain/tools";
import { CHECK_BUDGET_MS, MAX_CORRECTIONS, MAX_NUDGES, MAX_USELESS_STEPS } from "./limits.ts";
import type { Reply, ReplyCall } from "./read-reply.ts";
import type { Situation } from "./situation.ts";
import { type Refusal, type SortedCalls, sortCalls } from "./sort-calls.ts";

/** The parts of a finished step that follow from the reply. */
export type Decision = Pick<FinishedStep, "policy" | "outcome" | "replies">;

/** Sorts the calls, checks an answer, and decides how the session goes on. */
export function decideOutcome(reply: Reply, situation: Situation): Decision {
  const calls = reply.calls.filter((call) => !isSubmission(call, situation));
  const check = createValueChecker(CHECK_BUDGET_MS);
  const sorted = sortCalls(calls, situation, check);
  const verdict = judge(reply, situation, sorted);
  const errors = [...sorted.refused, ...verdict.refusals];
  const dropped = tellDropped(reply);
  return {
    outcome: verdict.outcome,
    replies: [
      ...sorted.answered,
      ...errors.map(toErrorEvent),
      ...verdict.spoken,
      ...dropped.map((error) => errorEvent(error, "agent")),
    ],
    policy: policyEvent(
      {
        content: reply.text,
        reasoning_content: reply.reasoning,
        tool_reqs: reply.calls.map((call) => call.request),
        validation_errors: [...errors.map((entry) => entry.error), ...verdict.faults, ...dropped],
      },
      reply.internal,
    ),
  };
}

function tellDropped({ calls, droppedCalls }: Reply): string[] {
  if (droppedCalls === 0) return [];
  return [
    `Only the first ${calls.length} of ${calls.length + droppedCalls} calls were taken; ask for fewer at once.`,
  ];
}

function toErrorEvent({ call, error, isNotOffered }: Refusal): NewEvent {
  const event = errorEvent(error, "server", call);
  return isNotOffered ? { ...event, internal: { settled: "not_offered" satisfies Settled } } : event;
}

interface Verdict {
  outcome: StepOutcome;
  /** Results of submitted answers that were not taken. */
  refusals: Refusal[];
  /** What is said to the model where no call is there to answer. */
  spoken: NewEvent[];
  /** What was wrong with an answer, for the record. */
  faults: string[];
}

const NOTHING = { refusals: [], spoken: [], faults: [] };

function isSubmission(call: ReplyCall, { answerFormat, builtins }: Situation): boolean {
  return answerFormat !== null && builtins !== false && call.request.tool_name === SUBMIT_ANSWER;
}

function judge(reply: Reply, situation: Situation, { asked, refused, answered }: SortedCalls): Verdict {
  const submissions = reply.calls.filter((call) => isSubmission(call, situation));
  if (asked.length > 0 || answered.length > 0) {
    const error =
      "Not taken: other calls were made with it. When their results are there, submit the answer again.";
    return {
      ...NOTHING,
      outcome: asked.length > 0 ? { kind: "ask", calls: asked } : toAgain(situation),
      refusals: submissions.map((call) => ({ call: call.request, error })),
    };
  }
  if (submissions.length > 0) return judgeSubmissions(submissions, situation);
  const isAnswer =
    reply.text !== null && reply.text.trim() !== "" && (refused.length === 0 || situation.lastStep !== null);
  if (isAnswer && reply.text !== null) return judgeText(reply.text, situation);
  return refused.length > 0 ? judgeUselessness(situation) : judgeSilence(situation);
}

/** Takes the first submitted answer that fits; every other one is told why it was not taken. */
function judgeSubmissions(submissions: readonly ReplyCall[], situation: Situation): Verdict {
  const check = createValueChecker(CHECK_BUDGET_MS);
  const judged = submissions.map(({ request, fault }) => ({
    request,
    faults: fault === null ? check(situation.answerFormat ?? {}, request.args) : [fault],
  }));
  const taken = judged.find(({ faults }) => faults.length === 0);
  const refusals = judged
    .filter((entry) => entry !== taken)
    .map(({ request, faults }) => ({ call: request, error: toRefusal(faults) }));
  const [first] = judged;
  const outcome = taken ? answered(taken.request.args, situation) : correct(first?.faults ?? [], situation);
  return { ...NOTHING, outcome, refusals };
}

function toRefusal(faults: string[]): string {
  if (faults.length === 0) return "Not taken: another answer of the same turn was.";
  return `The answer does not fit its format: ${faults.join("; ")}. Call ${SUBMIT_ANSWER} again with an answer that fits.`;
}

function judgeText(text: string, situation: Situation): Verdict {
  if (situation.answerFormat === null) return { ...NOTHING, outcome: answered(text, situation) };
  const read = readObject(text);
  const faults = "fault" in read ? [read.fault] : findValueFaults(situation.answerFormat, read.value);
  if ("value" in read && faults.length === 0) return { ...NOTHING, outcome: answered(read.value, situation) };
  const how =
    situation.builtins === false
      ? "Answer with one JSON object that fits the schema, and nothing else."
      : `Call ${SUBMIT_ANSWER} with an answer that fits its schema.`;
  const error = `That is not an answer yet: ${faults.join("; ")}. ${how}`;
  return { ...NOTHING, outcome: correct(faults, situation), spoken: [errorEvent(error, "answer")], faults };
}

/** The model said nothing. It is asked again. Only a useful step sets the count back: taking turns must not last. */
function judgeSilence(situation: Situation): Verdict {
  const spoken = [errorEvent("Your reply was empty. Use a tool, or give the final answer.", "agent")];
  const again = goOn({ ...situation, nudges: situation.nudges + 1 });
  if (again && situation.nudges < MAX_NUDGES) return { ...NOTHING, outcome: again, spoken };
  return { ...NOTHING, outcome: noAnswer(situation) };
}

/** The model only made calls that nobody can run. It has been told why. */
function judgeUselessness(situation: Situation): Verdict {
  const again = goOn({ ...situation, uselessSteps: situation.uselessSteps + 1 });
  if (again && situation.uselessSteps < MAX_USELESS_STEPS) return { ...NOTHING, outcome: again };
  if (situation.lastStep !== null) return { ...NOTHING, outcome: noAnswer(situation) };
  const error = `The model made only calls that cannot be run, ${MAX_USELESS_STEPS + 1} steps in a row.`;
  return { ...NOTHING, outcome: { kind: "fail", error, errorCode: "no_answer", reason: "error_limit" } };
}

/** The last step has no again. */
function goOn(situation: Situation): StepOutcome | null {
  return situation.lastStep !== null ? null : toAgain(situation);
}

/** The counts stay: a search alone is neither useless nor a way to set them back. */
function toAgain({ corrections, nudges, uselessSteps }: Situation): StepOutcome {
  return { kind: "again", corrections, nudges, uselessSteps };
}

function noAnswer({ lastStep }: Situation): StepOutcome {
  const error = lastStep === null ? "The model gave no answer." : "The last step gave no answer.";
  const reason = lastStep === "max_steps" ? "max_steps" : "no_answer";
  return { kind: "fail", error, errorCode: "no_answer", reason };
}

function answered(answer: JsonValue, { lastStep }: Situation): StepOutcome {
  const reason = lastStep === "max_steps" ? "max_steps" : "answered";
  return { kind: "answer", answer, outcome: "success", reason };
}

function correct(faults: string[], situation: Situation): StepOutcome {
  if (situation.lastStep === null && situation.corrections < MAX_CORRECTIONS) {
    return {
      kind: "again",
      corrections: situation.corrections + 1,
      nudges: situation.nudges,
      uselessSteps: situation.uselessSteps,
    };
  }
  const error = `The answer does not fit its format: ${faults.join("; ")}.`;
  return { kind: "fail", error, errorCode: "answer_validation", reason: "answer_invalid" };
}

/** JSON in a text, with or without a code fence around it, or why there is no object in it. */
function readObject(text: string): { value: JsonObject } | { fault: string } {
  const body = /^\s*```(?:json)?\s*([\s\S]*?)\s*```\s*$/.exec(text)?.[1] ?? text;
  if (!body.trimStart().startsWith("{")) return { fault: "it is text" };
  try {
    const value = parseJson(body, JSON_BOUNDS);
    return isJsonObject(value) ? { value } : { fault: "it is text" };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}
