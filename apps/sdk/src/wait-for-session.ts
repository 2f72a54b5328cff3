// One wait: read what happens, run what is asked for, until the session's turn is over.
import { type AbortScope, openAbortScope, untilAborted } from "./abort-scope.ts";
import type { PostedResult } from "./call-tool.ts";
import { TimeoutError } from "./errors.ts";
import type { TandemApi } from "./generated/sdk.gen.ts";
import type { SessionEvent, ToolRequest } from "./generated/types.gen.ts";
import { pendingAfter } from "./pending-calls.ts";
import { readChanges } from "./read-changes.ts";
import { isSettled, type SessionResult, toResult } from "./session-result.ts";
import { type ToolSource, toTools } from "./tool-definitions.ts";
import { ToolRuns } from "./tool-runs.ts";

const defaultWaitForSeconds = 20;

/** How to wait. */
export interface WaitOptions {
  /** Tools to run here. An empty list runs none: the calls are left to another process. */
  tools?: readonly ToolSource[] | undefined;
  /** Called with each event, in order. A promise is awaited; what it throws ends the wait. */
  onEvent?: ((event: SessionEvent) => void | Promise<void>) | undefined;
  /** Ends the wait, and aborts the tools that run. The session goes on. */
  signal?: AbortSignal | undefined;
  /** How long to wait, in ms; then a {@link TimeoutError} is thrown, and the session goes on. Default: no bound. */
  timeoutMs?: number | undefined;
  /** How long one poll may take, in seconds, 0 to 25. Default: 20. */
  waitForSeconds?: number | undefined;
}

/** What a wait takes over from the one before it, and leaves to the next. Owned by the session's handle. */
export interface WaitState {
  /** The number of events before the turn that is waited for. */
  cursor: number;
  /** Results that the server does not have yet, by call. */
  results: Map<string, PostedResult>;
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
  source: { api: TandemApi; sessionId: string; state: WaitState },
  options: WaitOptions,
): Promise<SessionResult<Answer>> {
  const { sessionId, state } = source;
  const scope = openWait(sessionId, options);
  const runs = startRuns(source, { tools: options.tools ?? [], scope });
  const events: SessionEvent[] = [];
  let pending: readonly ToolRequest[] = [];
  const news = readChanges({
    ...source,
    fromIndex: state.cursor,
    waitForSeconds: options.waitForSeconds ?? defaultWaitForSeconds,
    signal: scope.signal,
  });
  try {
    for (;;) {
      const { value: changes } = await news.next();
      for (const event of changes.new_events) {
        events.push(event);
        pending = pendingAfter(pending, event);
        await untilAborted(options.onEvent?.(event), scope.signal);
      }
      // The status is later than these events: the calls they list may be settled, and an end is not told yet.
      if (changes.has_more) continue;
      runs?.follow(pending, { mayStart: changes.status === "awaiting_tool_results" });
      if (!isSettled(changes.status)) continue;
      state.cursor = changes.next_index ?? state.cursor + events.length;
      return toResult(sessionId, changes, events);
    }
  } finally {
    runs?.close();
    scope.release();
  }
}

function openWait(sessionId: string, { signal, timeoutMs }: WaitOptions): AbortScope {
  return openAbortScope({
    parent: signal,
    timeoutMs,
    timeoutError: () =>
      new TimeoutError(`Session ${sessionId} was not done within ${timeoutMs} ms; it goes on`, { sessionId }),
  });
}

/** Runs nothing without tools: a call may be meant for another process. */
function startRuns(
  { api, sessionId, state }: { api: TandemApi; sessionId: string; state: WaitState },
  { tools, scope }: { tools: readonly ToolSource[]; scope: AbortScope },
): ToolRuns | null {
  if (tools.length === 0) return null;
  return new ToolRuns({
    sessionId,
    tools: toTools(tools),
    results: state.results,
    post: (body, signal) => api.submitToolResults({ path: { id: sessionId }, body, signal }),
    signal: scope.signal,
    onFailure: scope.abort,
  });
}
