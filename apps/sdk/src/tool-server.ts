// The loop of those who serve tools: a slot is free, the feed is asked, calls are taken at random, and so on until closed.
import { openAbortScope, pause, untilAborted } from "./abort-scope.ts";
import type { OfferedToolCall } from "./generated/types.gen.ts";
import { retryDelayMs } from "./retry.ts";
import { isRefusal, type ServedEnd, type Serving, serveCall } from "./served-call.ts";
import type { Tool } from "./tool.ts";

/** An empty list that came sooner than this, in ms, is of a server that does not wait: it is going down, or is old. */
const shortestPollMs = 500;
/** How long results and claims may take to reach the server once handlers have had their time, in ms. */
const lastRequestsMs = 5_000;
/** Most calls that are looked at together. The same for all processes, so that their questions are one for the server. */
const offeredCalls = 100;

/** What a {@link ToolServer} serves, and how. */
export interface ToolServerOptions
  extends Omit<Serving, "closing" | "handlers" | "requests" | "onStart" | "onError"> {
  agents: readonly string[];
  maxConcurrency: number;
  waitForSeconds: number;
  drainMs: number;
  onStart: (offered: OfferedToolCall) => void;
  onEnd: (offered: OfferedToolCall, end: ServedEnd, durationMs: number) => void;
  onError: (error: unknown, offered: OfferedToolCall | null) => void;
}

/** Serves from its creation until `close`. */
export class ToolServer {
  /** Resolves when all is over; rejects when the server refuses to tell of calls. */
  readonly done: Promise<void>;
  readonly #options: ToolServerOptions;
  readonly #serving: Serving;
  readonly #closing = openAbortScope({});
  readonly #handlers = openAbortScope({});
  readonly #requests = openAbortScope({});
  readonly #running = new Map<string, { tool: string; work: Promise<void> }>();
  /** Calls in a row that failed by another fault than their own. */
  #failures = 0;
  #lastFailure: unknown = null;
  /** Called when a call has ended. */
  #onFreed: () => void = () => {};

  constructor(options: ToolServerOptions) {
    this.#options = options;
    this.#serving = {
      ...options,
      closing: this.#closing.signal,
      handlers: this.#handlers.signal,
      requests: this.#requests.signal,
    };
    this.done = this.#run();
    // Whoever looks at it hears of it; for all others `onError` does.
    this.done.catch(() => {});
  }

  /** Takes no more calls, and waits for those that run, `drainMs` at most. Resolves when all is over. */
  async close({ drainMs = this.#options.drainMs } = {}): Promise<void> {
    this.#closing.abort();
    if (drainMs <= 0) this.#handlers.abort();
    else await this.#settleWithin(drainMs).catch(() => {});
    this.#handlers.abort();
    await this.#settleWithin(lastRequestsMs).catch(() => {});
    this.#requests.abort();
    await this.done.catch(() => {});
  }

  async #run(): Promise<void> {
    try {
      await this.#serveUntilClosed();
    } catch (error) {
      if (!this.#closing.signal.aborted) {
        this.#options.onError(error, null);
        throw error;
      }
    } finally {
      await Promise.all([...this.#running.values()].map(({ work }) => work));
    }
  }

  async #serveUntilClosed(): Promise<void> {
    const { signal } = this.#closing;
    for (let failures = 0; !signal.aborted; ) {
      if (this.#failures > 0) await pause(retryDelayMs(this.#failures, this.#lastFailure), signal);
      const tools = this.#freeTools();
      if (tools.length === 0) {
        await untilAborted(this.#nextFreed(), signal);
        continue;
      }
      const startedAt = performance.now();
      const { offered, error } = await this.#ask(tools);
      for (const call of shuffle(offered)) this.#start(call);
      const isHasty = offered.length === 0 && performance.now() - startedAt < shortestPollMs;
      failures = error !== null || (isHasty && !this.#isInterrupted(tools)) ? failures + 1 : 0;
      if (failures > 0) await pause(retryDelayMs(failures, error), signal);
    }
  }

  /** Tools for one more call of which there is room. */
  #freeTools(): string[] {
    const { tools, maxConcurrency } = this.#options;
    if (this.#running.size >= maxConcurrency) return [];
    return tools.filter((tool) => this.#hasRoom(tool)).map(({ name }) => name);
  }

  #hasRoom({ name, maxConcurrency = Number.POSITIVE_INFINITY }: Tool): boolean {
    return [...this.#running.values()].filter(({ tool }) => tool === name).length < maxConcurrency;
  }

  /** True when there is room for other tools than were asked for. */
  #isInterrupted(tools: string[]): boolean {
    return this.#freeTools().length !== tools.length;
  }

  /** Asks the feed. The question is dropped when there is room for a tool that it does not name. */
  async #ask(tools: string[]): Promise<{ offered: OfferedToolCall[]; error: unknown }> {
    const { api, agents, waitForSeconds } = this.#options;
    const scope = openAbortScope({ parent: this.#closing.signal });
    this.#onFreed = () => {
      if (this.#isInterrupted(tools)) scope.abort();
    };
    const query = { tools, wait_for_seconds: waitForSeconds, limit: offeredCalls };
    try {
      const { items } = await api.listPendingToolCalls({
        query: agents.length > 0 ? { ...query, agents: [...agents] } : query,
        signal: scope.signal,
      });
      return { offered: items, error: null };
    } catch (error) {
      if (this.#closing.signal.aborted || isRefusal(error)) throw error;
      if (scope.signal.aborted) return { offered: [], error: null };
      this.#options.onError(error, null);
      return { offered: [], error };
    } finally {
      this.#onFreed = () => {};
      scope.release();
    }
  }

  #start(offered: OfferedToolCall): void {
    const { session_id: sessionId, call } = offered;
    const key = `${sessionId}/${call.id}`;
    if (this.#running.has(key) || !this.#freeTools().includes(call.tool_name)) return;
    const work = this.#serve(offered).finally(() => {
      this.#running.delete(key);
      this.#onFreed();
    });
    this.#running.set(key, { tool: call.tool_name, work });
  }

  async #serve(offered: OfferedToolCall): Promise<void> {
    const startedAt = performance.now();
    try {
      const end = await serveCall(this.#serving, offered);
      this.#failures = 0;
      this.#options.onEnd(offered, end, performance.now() - startedAt);
    } catch (error) {
      // The call is offered again soon, and must not be tried again at once.
      this.#failures += 1;
      this.#lastFailure = error;
      this.#options.onError(error, offered);
    }
  }

  #nextFreed(): Promise<void> {
    return new Promise((resolve) => {
      this.#onFreed = resolve;
    });
  }

  /** Waits until all is over; throws when that takes longer. */
  async #settleWithin(timeoutMs: number): Promise<void> {
    const scope = openAbortScope({ timeoutMs });
    try {
      await untilAborted(
        this.done.catch(() => {}),
        scope.signal,
      );
    } finally {
      scope.release();
    }
  }
}

/** In random order: processes that see the same calls seldom reach for the same one. */
function shuffle<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
