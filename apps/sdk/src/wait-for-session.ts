// One wait: read what happens, run what is asked for, until the session's turn is over.
import { type AbortScope, openAbortScope, untilAborted } from "./abort-scope.ts";
import { withParsedAnswer } from "./answer-schema.ts";
import { Approvals } from "./approvals.ts";
import { cancelQuietly } from "./cancel-session.ts";
import { SessionFailedError, TimeoutError } from "./errors.ts";
import type { PendingApproval, SessionEvent, ToolRequest } from "./generated/types.gen.ts";
import { GuardrailError } from "./guardrails.ts";
import { approvalsAfter, pendingAfter } from "./pending-calls.ts";
import { type News, readChanges } from "./read-changes.ts";
import { readStream } from "./read-stream.ts";
import { RunEnvironment } from "./run-environment.ts";
import { isGood, isSettled, type SessionResult, toResult } from "./session-result.ts";
import type { SessionSource } from "./session-source.ts";
import { StepTexts, type StreamDelta } from "./stream-deltas.ts";
import { toTools } from "./tool-definitions.ts";
import type { WaitOptions } from "./wait-options.ts";

const defaultWaitForSeconds = 20;

/** What a wait takes over from the one before it, and leaves to the next. Owned by the session's handle. */
export interface WaitState {
  /** The number of events before the turn that is waited for. */
  cursor: number;
}

/** How to read, beside how to wait. */
export interface ReadingOptions extends WaitOptions {
  /** Reads the stream in place of polls where there is one, and is called with the model's text as it comes. */
  onDelta?: (delta: StreamDelta) => void | Promise<void>;
}

interface Wait {
  source: SessionSource;
  sessionId: string;
  state: WaitState;
}

/**
 * Waits until the session's turn is over, and runs the calls meant for this side. It reads the turn from its first
 * event, so that it can join midway. The status in a reply that has all events is of the same moment as they are:
 * together they decide.
 *
 * @throws {TimeoutError} after `timeoutMs`
 * @throws {TandemError} when the server refuses or stays out of reach; an aborted `signal` throws its reason
 */
export async function waitForSession<Answer>(
  wait: Wait,
  options: ReadingOptions,
): Promise<SessionResult<Answer>> {
  const scope = openWait(wait.sessionId, options);
  let result: SessionResult<Answer>;
  try {
    scope.signal.throwIfAborted();
    result = await followTurn<Answer>(wait, { ...options, scope });
  } catch (error) {
    const isGivenUp = options.cancelOnAbort && options.signal?.aborted;
    if (isGivenUp || error instanceof GuardrailError) await cancelQuietly(wait.source.api, wait.sessionId);
    throw error;
  } finally {
    scope.release();
  }
  if (options.throwOnFailure && !isGood(result)) throw new SessionFailedError(result);
  return isGood(result) ? withParsedAnswer(result, options.answerSchema) : result;
}

function openWait(sessionId: string, { signal, timeoutMs }: WaitOptions): AbortScope {
  return openAbortScope({
    parent: signal,
    timeoutMs,
    timeoutError: () =>
      new TimeoutError(`Session ${sessionId} was not done within ${timeoutMs} ms; it goes on`, { sessionId }),
  });
}

async function followTurn<Answer>(
  wait: Wait,
  options: ReadingOptions & { scope: AbortScope },
): Promise<SessionResult<Answer>> {
  const { sessionId, state } = wait;
  const { signal } = options.scope;
  const { runs, environment, approvals, close } = openTurn(wait, options);
  const events: SessionEvent[] = [];
  let pending: readonly ToolRequest[] = [];
  let undecided: readonly PendingApproval[] = [];
  let isOver = false;
  const texts = new StepTexts();
  const reader = read(wait, { ...options, texts });
  const tell = async (delta: StreamDelta | null) => delta && untilAborted(options.onDelta?.(delta), signal);
  try {
    while (true) {
      const { value: news } = await reader.next();
      if ("type" in news) {
        await tell(news);
        continue;
      }
      for (const [i, event] of news.events.entries()) {
        await tell(texts.complete(event, news.events[i + 1]));
        events.push(event);
        pending = pendingAfter(pending, event);
        undecided = approvalsAfter(undecided, event);
        await untilAborted(options.onEvent?.(event), signal);
      }
      // The status is later than these events: the calls they list may be settled, and an end is not told yet.
      if (!news.state) continue;
      const { status } = news.state;
      const { nextIndex } = news;
      approvals.follow(undecided, { isAll: status === "awaiting_approval" });
      runs?.follow(environment, { pending, nextIndex, mayStart: status === "awaiting_tool_results" });
      if (!isSettled(status)) continue;
      isOver = true;
      state.cursor = nextIndex;
      return toResult(news.state, { sessionId, events, ...environment });
    }
  } finally {
    close({ isOver });
    await reader.return(undefined as never);
  }
}

function read(wait: Wait, options: ReadingOptions & { scope: AbortScope; texts: StepTexts }) {
  const { source, sessionId, state } = wait;
  const { onDelta, texts, waitForSeconds = defaultWaitForSeconds } = options;
  const from = { api: source.api, sessionId, fromIndex: state.cursor, waitForSeconds };
  const { signal } = options.scope;
  const reader: AsyncGenerator<News | StreamDelta, never> = onDelta
    ? readStream({ ...from, signal, texts, openReply: source.openReply })
    : readChanges({ ...from, signal });
  return reader;
}

/** What the turn is run with. Nothing is run without tools: a call may be meant for another process. */
function openTurn({ source, sessionId }: Wait, options: WaitOptions & { scope: AbortScope }) {
  const { onPermissionRequest: handler, context, maxConcurrency, scope } = options;
  const tools = toTools(options.tools ?? []);
  const onFailure = (error: unknown) => scope.abort(error);
  const environment = new RunEnvironment({
    tools,
    context,
    maxConcurrency,
    onFailure,
    askPermission: typeof handler === "function" ? handler : null,
  });
  const approvals = new Approvals({ sessionId, api: source.api, tools, handler, onFailure });
  const runs = tools.length > 0 ? source.runs.use(sessionId) : null;
  runs?.join(environment);
  const close = ({ isOver }: { isOver: boolean }) => {
    approvals.close();
    runs?.leave(environment);
    source.runs.release(sessionId, { isOver });
  };
  return { runs, environment, approvals, close };
}
