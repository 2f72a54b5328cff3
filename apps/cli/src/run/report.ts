// How a run ended: the answer, why it failed, and the exit code.
import type { SessionResult } from "@tandem/sdk";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { toHarmless } from "../terminal/harmless.ts";
import { note, print, printJson } from "../terminal/output.ts";
import type { Paint } from "../terminal/paint.ts";
import { isInterruption } from "./interruption.ts";
import type { Show } from "./show.ts";
import { toAnswerText, toDuration } from "./tell-event.ts";

/** Prints the end of a run. The reason to stop is an interruption, or an error, which is thrown. */
export function report(
  { isJson, paint }: { isJson: boolean; paint: Paint },
  result: SessionResult,
  { show, stop, tookMs }: { show: Show; stop: AbortSignal; tookMs: number },
): ExitCode {
  const { status, answer, sessionId } = result;
  if (isJson) printJson(toResultLine(result));
  else {
    if (answer !== null && answer !== show.shownText()) print(toAnswerText(answer));
    note(paint("dim", toSummary(result, tookMs)));
  }
  if (status === "completed" || status === "idle") return exitCodes.ok;
  if (stop.aborted && status === "interrupted") {
    if (!isInterruption(stop.reason)) throw stop.reason;
    note(`The session ${sessionId} was cancelled: ${stop.reason.reason}.`);
    return stop.reason.exitCode;
  }
  note(`${paint("red", "✗")} ${toFailure(result)}`);
  return status === "timed_out" ? exitCodes.timeout : exitCodes.failed;
}

function toFailure({ status, reason, errorCode, error }: SessionResult): string {
  const why = [...new Set([reason, errorCode])].filter((part) => part !== null).join(", ");
  return `The session ${status}${why ? ` (${why})` : ""}${error ? `: ${toHarmless(error)}` : ""}`;
}

/** The last line of `--json`, in the words of the wire. */
function toResultLine(result: SessionResult): Record<string, unknown> {
  const { sessionId, status, answer, outcome, error, errorCode, reason, usage, toolCalls } = result;
  return {
    type: "result",
    session_id: sessionId,
    status,
    answer,
    outcome,
    error,
    error_code: errorCode,
    reason,
    tool_calls: toolCalls.map((call) => ({
      id: call.id,
      name: call.name,
      args: call.args,
      status: call.status,
      duration_ms: call.durationMs,
      error: call.error,
    })),
    usage: {
      steps: usage.steps,
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      reasoning_tokens: usage.reasoningTokens,
    },
  };
}

function toSummary({ usage, toolCalls }: SessionResult, tookMs: number): string {
  const parts = [
    count(usage.steps, "step"),
    ...(toolCalls.length > 0 ? [count(toolCalls.length, "tool call")] : []),
    `${usage.inputTokens} tokens in`,
    `${usage.outputTokens} out`,
    toDuration(tookMs),
  ];
  return parts.join(", ");
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
