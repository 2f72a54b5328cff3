// One run, shown as it goes. The one place, with approvals.ts, that knows how the SDK runs a session.
import type {
  SessionEvent,
  SessionHandle,
  SessionResult,
  StartSessionOptions,
  TandemClient,
} from "@tandem/sdk";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { type Conversation, canAsk } from "../terminal/ask.ts";
import { toHarmless } from "../terminal/harmless.ts";
import { note, print, printJson, watchForClosedPipe } from "../terminal/output.ts";
import type { Paint } from "../terminal/paint.ts";
import { createStatusLine, type StatusLine } from "../terminal/status-line.ts";
import { type ApprovalMode, createApprover } from "./approvals.ts";
import { type Interruption, watchSignals } from "./interruption.ts";
import { createTeller, toAnswerText, toDuration } from "./tell-event.ts";

/** What {@link runTask} needs. */
export interface Run {
  client: TandemClient;
  session: StartSessionOptions;
  /** How long the run may take, in ms; null for ever. */
  timeoutMs: number | null;
  approve: ApprovalMode;
  conversation: Conversation | null;
  isJson: boolean;
  paint: Paint;
}

/** How long a cancelled session may take to end, in ms. */
const CANCEL_MS = 5_000;

/** Runs the session to its end. An interruption, a timeout and an approval without anybody to ask cancel it. */
export async function runTask(run: Run): Promise<ExitCode> {
  const stop = new AbortController();
  const end = (interruption: Interruption) => stop.abort(interruption);
  const signals = watchSignals(end);
  watchForClosedPipe(() => end({ exitCode: exitCodes.interrupted, reason: "closed pipe" }));
  const { timeoutMs } = run;
  const timer =
    timeoutMs === null
      ? undefined
      : setTimeout(
          () => end({ exitCode: exitCodes.timeout, reason: `timeout after ${toDuration(timeoutMs)}` }),
          timeoutMs,
        );
  const status = openStatusLine(run);
  try {
    const startedAt = performance.now();
    const session = await run.client.startSession(run.session);
    status.write([run.paint("dim", `session ${session.id}`)]);
    const result = await waitForEnd(run, { session, status, stop });
    status.close();
    return report(run, result, { stop: stop.signal, tookMs: performance.now() - startedAt });
  } finally {
    clearTimeout(timer);
    signals.stop();
    status.close();
  }
}

/** On standard error, which tools write to as well: the line makes room for them. */
function openStatusLine({ paint, isJson }: Run): StatusLine {
  const { stderr } = process;
  const write = stderr.write.bind(stderr);
  const output = { isTTY: stderr.isTTY && !isJson, columns: stderr.columns, write };
  const status = createStatusLine(output, paint);
  const writeBeside = (...args: Parameters<typeof write>) => {
    status.makeRoom();
    return write(...args);
  };
  stderr.write = writeBeside as typeof stderr.write;
  return status;
}

/** Waits until the turn is over. Once `stop` is aborted the session is cancelled, and its end still waited for. */
async function waitForEnd(
  run: Run,
  { session, status, stop }: { session: SessionHandle; status: StatusLine; stop: AbortController },
): Promise<SessionResult> {
  const wait = new AbortController();
  const cancel = () => {
    status.set("cancelling the session");
    session.cancel().catch((error: unknown) => wait.abort(error));
    setTimeout(() => wait.abort(stop.signal.reason), CANCEL_MS).unref();
  };
  stop.signal.addEventListener("abort", cancel, { once: true });
  if (stop.signal.aborted) cancel();
  const { conversation } = run;
  const approver = createApprover({
    ...run,
    session,
    mode: run.approve,
    conversation: conversation && canAsk(conversation) ? conversation : null,
    status,
    onFailure: (error) => stop.abort(error),
  });
  const show = createShow(run, status);
  try {
    return await session.waitForCompletion({
      signal: wait.signal,
      onEvent: (event) => {
        show(event);
        approver.follow(event);
      },
    });
  } finally {
    approver.close();
  }
}

function createShow({ isJson, paint }: Run, status: StatusLine): (event: SessionEvent) => void {
  if (isJson) return (event) => printJson(event);
  const teller = createTeller(paint, { showsAnswer: false });
  status.set("waiting for a worker");
  return (event) => {
    status.write(teller.tell(event));
    if (event.type === "ActiveStateChangeEvent") status.set(toStatus(event.data.state));
    if (event.type === "AgentCompletionEvent" || event.type === "AgentErrorEvent") status.set(null);
  };
}

function toStatus(
  state: Extract<SessionEvent, { type: "ActiveStateChangeEvent" }>["data"]["state"],
): string | null {
  if (state === "awaiting_tool_results") return "tools run";
  if (state === "awaiting_approval") return "waiting for an approval";
  return state === "running" ? "the model thinks" : null;
}

function report(
  run: Run,
  result: SessionResult,
  { stop, tookMs }: { stop: AbortSignal; tookMs: number },
): ExitCode {
  const { status, answer, usage } = result;
  if (run.isJson) printJson(toResultLine(result));
  else if (answer !== null) print(toAnswerText(answer));
  if (!run.isJson) note(run.paint("dim", toSummary(usage, tookMs)));
  if (status === "completed" || status === "idle") return exitCodes.ok;
  if (stop.aborted && status === "interrupted") return tellStop(result, stop.reason);
  const why = [result.reason, result.errorCode].filter((part) => part !== null).join(", ");
  note(
    `${run.paint("red", "✗")} The session ${status}${why ? ` (${why})` : ""}${result.error ? `: ${toHarmless(result.error)}` : ""}`,
  );
  return status === "timed_out" ? exitCodes.timeout : exitCodes.failed;
}

/** The reason to stop is an interruption, or an error that is told as any other. */
function tellStop({ sessionId }: SessionResult, reason: unknown): ExitCode {
  if (!isInterruption(reason)) throw reason;
  note(`The session ${sessionId} was cancelled: ${reason.reason}.`);
  return reason.exitCode;
}

function isInterruption(reason: unknown): reason is Interruption {
  return typeof reason === "object" && reason !== null && !(reason instanceof Error) && "exitCode" in reason;
}

/** The last line of `--json`, in the words of the wire. */
function toResultLine(result: SessionResult): Record<string, unknown> {
  const { sessionId, status, answer, outcome, error, errorCode, reason, usage } = result;
  return {
    type: "result",
    session_id: sessionId,
    status,
    answer,
    outcome,
    error,
    error_code: errorCode,
    reason,
    usage: {
      steps: usage.steps,
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      reasoning_tokens: usage.reasoningTokens,
    },
  };
}

function toSummary({ steps, inputTokens, outputTokens }: SessionResult["usage"], tookMs: number): string {
  return `${steps} ${steps === 1 ? "step" : "steps"}, ${inputTokens} tokens in, ${outputTokens} out, ${toDuration(tookMs)}`;
}
