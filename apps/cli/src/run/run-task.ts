// One run, shown as it goes. The one place that knows how the SDK runs a session.
import type { SessionHandle, SessionResult, StartSessionOptions, TandemClient } from "@tandem/sdk";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { watchForStrayErrors } from "../stray-ends.ts";
import { type Conversation, canAsk } from "../terminal/ask.ts";
import { note, printJson, watchForClosedPipe } from "../terminal/output.ts";
import type { Paint } from "../terminal/paint.ts";
import { createStatusLine, type StatusLine } from "../terminal/status-line.ts";
import { type ApprovalMode, createDecider } from "./approvals.ts";
import { type Interruption, isInterruption, watchSignals } from "./interruption.ts";
import { report } from "./report.ts";
import { createShow, type Show } from "./show.ts";
import { toDuration } from "./tell-event.ts";

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

/** Runs the session to its end. An interruption, a timeout, an approval without anybody to
 * ask, and an error that a tool lets fall cancel it. */
export async function runTask(run: Run): Promise<ExitCode> {
  const stop = new AbortController();
  const end = (interruption: Interruption) => stop.abort(interruption);
  const signals = watchSignals(end);
  watchForClosedPipe(() => end({ exitCode: exitCodes.interrupted, reason: "closed pipe" }));
  const strays = watchForStrayErrors((error) => stop.abort(error));
  const timer = startTimer(run.timeoutMs, end);
  const status = openStatusLine(run);
  const startedAt = performance.now();
  let session: SessionHandle | null = null;
  let isReported = false;
  try {
    session = await run.client.startSession({ ...run.session, ...(showsText(run) ? { stream: true } : {}) });
    status.write([run.paint("dim", `session ${session.id}`)]);
    const show = createShow(run, status);
    const result = await waitForEnd(run, { session, status, stop, show });
    status.close();
    isReported = true;
    return report(run, result, { show, stop: stop.signal, tookMs: performance.now() - startedAt });
  } catch (error) {
    status.close();
    if (run.isJson && session && !isReported)
      printJson({ type: "error", session_id: session.id, error: toText(error) });
    if (isReported || !isInterruption(error)) throw error;
    note(`The session was told to end, and has not: ${error.reason}.`);
    return error.exitCode;
  } finally {
    clearTimeout(timer);
    signals.stop();
    strays.stop();
    status.close();
  }
}

/** Whether the model's text is shown as it is written: to machines, and to a person at a terminal. */
function showsText({ isJson }: Run): boolean {
  return isJson || Boolean(process.stdout.isTTY);
}

function startTimer(
  timeoutMs: number | null,
  end: (interruption: Interruption) => void,
): NodeJS.Timeout | undefined {
  if (timeoutMs === null) return undefined;
  const reason = `it took longer than ${toDuration(timeoutMs)}`;
  return setTimeout(() => end({ exitCode: exitCodes.timeout, reason }), timeoutMs);
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

/**
 * Waits until the turn is over. Once `stop` is aborted the session is cancelled, and its end still waited for. A wait that
 * fails leaves nobody who runs the session's tools, so that is cancelled too.
 */
async function waitForEnd(
  run: Run,
  {
    session,
    status,
    stop,
    show,
  }: { session: SessionHandle; status: StatusLine; stop: AbortController; show: Show },
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
  const stream = session.stream({
    deltas: showsText(run),
    signal: wait.signal,
    onPermissionRequest: createDecider({
      mode: run.approve,
      conversation: conversation && canAsk(conversation) ? conversation : null,
      status,
      paint: run.paint,
      onNobody: (error) => stop.abort(error),
    }),
  });
  try {
    for await (const item of stream) show.item(item);
    return await stream.result;
  } catch (error) {
    await session.cancel({ signal: AbortSignal.timeout(CANCEL_MS) }).catch(() => undefined);
    throw error;
  }
}

function toText(error: unknown): string {
  if (isInterruption(error)) return error.reason;
  return error instanceof Error ? error.message : String(error);
}
